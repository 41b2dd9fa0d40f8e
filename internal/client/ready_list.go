package client

import (
	"context"
	"sync"

	"mqctl/internal/protocol"
)

// work is one unit for a consume worker: an epoch with cached messages to take from, or a batch that was handled before
// and has to be handled again.
type work struct {
	epoch *queueEpoch
	retry []*protocol.MessageExt
}

// readyList is the queues that have something to consume, first come first served. Messages stay in their ProcessQueue;
// only the fact that there are some travels, so a pulled batch costs one entry however many workers share it.
type readyList struct {
	wake chan struct{} // capacity 1: passed on by each taker while entries are left

	mu     sync.Mutex
	items  []work
	first  int
	closed bool
}

func newReadyList() *readyList { return &readyList{wake: make(chan struct{}, 1)} }

// push enters an epoch unless it is listed already.
func (r *readyList) push(e *queueEpoch) {
	r.mu.Lock()
	if e.listed || r.closed {
		r.mu.Unlock()
		return
	}
	e.listed = true
	r.items = append(r.items, work{epoch: e})
	r.mu.Unlock()
	wake(r.wake)
}

// pushRetry enters a batch to be handled again.
func (r *readyList) pushRetry(e *queueEpoch, batch []*protocol.MessageExt) {
	r.mu.Lock()
	if !r.closed {
		r.items = append(r.items, work{epoch: e, retry: batch})
	}
	r.mu.Unlock()
	wake(r.wake)
}

// tryPop takes the first entry if there is one.
func (r *readyList) tryPop() (w work, ok bool) {
	r.mu.Lock()
	if r.closed || r.first == len(r.items) {
		r.mu.Unlock()
		return work{}, false
	}
	w = r.items[r.first]
	r.items[r.first] = work{}
	r.first++
	if w.retry == nil {
		w.epoch.listed = false
	}
	if r.first == len(r.items) {
		r.items, r.first = r.items[:0], 0
	} else if r.first >= 1024 && r.first*2 >= len(r.items) {
		r.items, r.first = append(r.items[:0], r.items[r.first:]...), 0
	}
	left := len(r.items) - r.first
	r.mu.Unlock()
	if left > 0 {
		wake(r.wake)
	}
	return w, true
}

// pop waits for an entry; ok is false when ctx ends or the list was closed.
func (r *readyList) pop(ctx context.Context) (w work, ok bool) {
	for ctx.Err() == nil && !r.isClosed() {
		if w, ok := r.tryPop(); ok {
			return w, true
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
		}
	}
	wake(r.wake) // a nudge that was taken here may have been meant for another waiter
	return work{}, false
}

func (r *readyList) isClosed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closed
}

// close lets nobody take anything any more.
func (r *readyList) close() {
	r.mu.Lock()
	r.closed, r.items, r.first = true, nil, 0
	r.mu.Unlock()
	wake(r.wake)
}
