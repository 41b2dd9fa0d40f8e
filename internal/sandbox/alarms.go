package sandbox

import (
	"container/heap"
	"time"
)

// alarm is something the run goroutine has to do later.
type alarm struct {
	at    time.Time
	seq   uint64 // alarms of one instant go off in the order they were set
	index int    // in the heap, -1 when it is not there
	fn    func()
}

// alarms is every pending alarm, soonest first. One time.Timer serves them all: a sandbox with a thousand parked pulls
// needs no thousand timers, and everything they do happens on the run goroutine.
type alarms struct {
	heap  alarmHeap
	seq   uint64
	timer *time.Timer
	armed time.Time // what timer is set to, zero when it is not
}

// set calls fn on the run goroutine at the given time.
func (a *alarms) set(at time.Time, fn func()) *alarm {
	a.seq++
	x := &alarm{at: at, seq: a.seq, fn: fn}
	heap.Push(&a.heap, x)
	return x
}

// cancel is harmless for an alarm that has gone off, was cancelled, or is nil.
func (a *alarms) cancel(x *alarm) {
	if x != nil && x.index >= 0 {
		heap.Remove(&a.heap, x.index)
	}
}

// fire calls everything that is due at now.
func (a *alarms) fire(now time.Time) {
	for len(a.heap) > 0 && !a.heap[0].at.After(now) {
		heap.Pop(&a.heap).(*alarm).fn()
	}
}

// arm sets the timer to the soonest alarm; run waits on it next.
func (a *alarms) arm() {
	if len(a.heap) == 0 || a.heap[0].at.Equal(a.armed) {
		return
	}
	a.armed = a.heap[0].at
	a.timer.Reset(time.Until(a.armed))
}

type alarmHeap []*alarm

func (h alarmHeap) Len() int { return len(h) }

func (h alarmHeap) Less(i, j int) bool {
	if h[i].at.Equal(h[j].at) {
		return h[i].seq < h[j].seq
	}
	return h[i].at.Before(h[j].at)
}

func (h alarmHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}

func (h *alarmHeap) Push(x any) {
	a := x.(*alarm)
	a.index = len(*h)
	*h = append(*h, a)
}

func (h *alarmHeap) Pop() any {
	old := *h
	a := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	a.index = -1
	return a
}
