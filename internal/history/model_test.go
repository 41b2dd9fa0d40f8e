package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// model plays a small cluster whose members do everything right, and records it.
type model struct {
	rng     *rand.Rand
	orderly bool
	now     int64
	events  []Event
	queues  []*modelQueue
	retry   *modelQueue
	members []*modelMember
	born    int
	epochs  int64
	batches int64
	next    [2]int64
	delayed []Event // copies to store later
}

// modelQueue is a queue as the broker has it.
type modelQueue struct {
	name      string
	msgs      []Event // send_ack events, by offset
	committed int64
	owner     *modelMember
	reading   *modelEpoch
	lockedAt  int64
}

type modelMember struct {
	name string
}

// modelEpoch is what the owner of a queue knows.
type modelEpoch struct {
	number  int64
	next    int64 // to deliver
	done    map[int64]bool
	running []Event // deliveries
	saved   int64
}

const modelGroup = "g"

func newModel(seed uint64, orderly bool) *model {
	m := &model{rng: rand.New(rand.NewPCG(seed, 11)), orderly: orderly, now: 946684800_000000000}
	mode := ModeConcurrent
	if orderly {
		mode = ModeOrderly
	}
	m.add(Event{Type: TypeMeta, Meta: &Meta{
		Group: modelGroup, Mode: mode, Topics: []string{"t"}, FromFirst: true, Attempts: 3, Observed: true, MinRate: 0.01, Faults: []string{"cut"},
	}})
	for i := range 3 {
		m.queues = append(m.queues, &modelQueue{name: fmt.Sprintf("t/a/%d", i), committed: -1})
	}
	m.retry = &modelQueue{name: "%RETRY%g/a/0", committed: -1}
	m.queues = append(m.queues, m.retry)
	m.join()
	return m
}

func (m *model) add(e Event) {
	m.now += 1 + m.rng.Int64N(50_000_000)
	e.At = m.now
	m.events = append(m.events, e)
}

// history plays steps and then brings everything to its end.
func (m *model) history(steps int) []Event {
	m.add(Event{Type: TypeFault, Kind: "cut", From: m.now, To: m.now + 1, Hits: 1})
	for range steps {
		m.step()
	}
	for m.unfinished() {
		m.storeDelayed()
		for _, q := range m.queues {
			m.work(q)
			m.finish(q)
			m.commit(q)
		}
	}
	for len(m.members) > 0 {
		m.stop(m.members[0])
	}
	return m.events
}

func (m *model) step() {
	q := m.queues[m.rng.IntN(len(m.queues))]
	switch n := m.rng.IntN(100); {
	case n < 30:
		m.send()
	case n < 55:
		m.work(q)
	case n < 80:
		m.finish(q)
	case n < 90:
		m.commit(q)
	case n < 93:
		m.storeDelayed()
	case n < 95 && len(m.members) < 4:
		m.join()
	case n < 97 && len(m.members) > 1:
		m.stop(m.members[m.rng.IntN(len(m.members))])
	case n < 98 && len(m.members) > 1:
		m.crash(m.members[m.rng.IntN(len(m.members))])
	case n < 99:
		m.moveQueue(q)
	}
}

func (m *model) send() {
	p := m.rng.IntN(2)
	name, seq := fmt.Sprintf("p%d", p), m.next[p]
	m.next[p]++
	q := m.queues[(int(seq)+p)%3]
	e := Event{Type: TypeSend, Producer: name, Seq: seq, Hash: HashOf([]byte(name + fmt.Sprint(seq))), Key: fmt.Sprintf("k%d", int(seq)%3)}
	told := Event{Type: TypeSendAck, Producer: name, Seq: seq, By: ByClient}
	for m.rng.IntN(10) == 0 { // attempts that end without an answer, stored or not
		m.add(e)
		if m.rng.IntN(2) == 0 {
			m.store(q, e)
		}
		told.Result = ResultUnknown
		m.add(told)
	}
	m.add(e)
	m.store(q, e)
	told.Result = ResultOK
	m.add(told)
}

func (m *model) store(q *modelQueue, send Event) {
	e := Event{Type: TypeSendAck, By: ByBroker, Producer: send.Producer, Seq: send.Seq, Queue: q.name, Offset: int64(len(q.msgs)), Hash: send.Hash, Attempt: send.Attempt}
	q.msgs = append(q.msgs, e)
	e.Hash, e.Attempt = 0, 0
	m.add(e)
}

func (m *model) storeDelayed() {
	for _, e := range m.delayed {
		m.store(m.retry, e)
	}
	m.delayed = nil
}

func (m *model) join() {
	m.born++
	m.members = append(m.members, &modelMember{name: fmt.Sprintf("m%d", m.born)})
}

func (m *model) event(kind Type, q *modelQueue, member string) Event {
	return Event{Type: kind, Group: modelGroup, Queue: q.name, Member: member}
}

// take lets a member without rivals own the queue.
func (m *model) take(q *modelQueue) {
	q.owner = m.members[m.rng.IntN(len(m.members))]
	m.lock(q)
	m.epochs++
	at := max(q.committed, 0)
	q.reading = &modelEpoch{number: m.epochs, next: at, done: map[int64]bool{}, saved: at}
	e := m.event(TypeOwn, q, q.owner.name)
	e.Epoch, e.Offset = m.epochs, at
	m.add(e)
}

// lock takes the queue's lock or renews it.
func (m *model) lock(q *modelQueue) {
	if m.orderly {
		m.add(m.event(TypeLock, q, q.owner.name))
		q.lockedAt = m.now
	}
}

// work begins to handle a message.
func (m *model) work(q *modelQueue) {
	if q.owner == nil {
		m.take(q)
	}
	r := q.reading
	if r.next >= int64(len(q.msgs)) || len(r.running) > 4 || m.orderly && len(r.running) > 0 {
		return
	}
	if m.rng.IntN(3) == 0 || m.now-q.lockedAt > int64(lockLease/2) {
		m.lock(q)
	}
	msg := q.msgs[r.next]
	m.batches++
	e := m.event(TypeDeliver, q, q.owner.name)
	e.Epoch, e.Offset, e.Batch = r.number, r.next, m.batches
	e.Producer, e.Seq, e.Hash, e.Attempt = msg.Producer, msg.Seq, msg.Hash, msg.Attempt
	r.next++
	r.running = append(r.running, e)
	m.add(e)
}

// finish ends some handler.
func (m *model) finish(q *modelQueue) {
	r := q.reading
	if r == nil || len(r.running) == 0 {
		return
	}
	i := m.rng.IntN(len(r.running))
	d := r.running[i]
	r.running = slices.Delete(r.running, i, i+1)
	e := m.event(TypeDone, q, q.owner.name)
	e.Epoch, e.Offset, e.Batch, e.Result = r.number, d.Offset, d.Batch, ResultSuccess
	if m.rng.IntN(8) != 0 {
		m.add(e)
		r.done[d.Offset] = true
		return
	}
	e.Result = ResultLater
	m.add(e)
	if m.orderly && d.Attempt < 2 { // the same message again
		q.msgs[d.Offset].Attempt++
		r.next = d.Offset
		return
	}
	back := m.event(TypeSentBack, q, "")
	back.Offset, back.Producer, back.Seq, back.Hash, back.Attempt = d.Offset, d.Producer, d.Seq, d.Hash, d.Attempt+1
	if back.Attempt >= 3 {
		back.Type = TypeDead
	} else {
		m.delayed = append(m.delayed, back)
	}
	m.add(back)
	r.done[d.Offset] = true
}

func (r *modelEpoch) low() int64 {
	low := r.saved
	for r.done[low] {
		low++
	}
	return low
}

func (m *model) commit(q *modelQueue) {
	if q.reading == nil {
		return
	}
	low := q.reading.low()
	if low == q.reading.saved {
		return
	}
	e := m.event(TypeCommit, q, q.owner.name)
	e.Offset, e.By = low, ByAcked
	m.add(e)
	q.committed, q.reading.saved = low, low
}

// release ends the ownership in order: handlers end, the offset is saved, the lock goes back.
func (m *model) release(q *modelQueue) {
	for len(q.reading.running) > 0 {
		m.finish(q)
	}
	e := m.event(TypeDrop, q, q.owner.name)
	e.Epoch = q.reading.number
	m.add(e)
	m.commit(q)
	if m.orderly {
		m.add(m.event(TypeUnlock, q, q.owner.name))
	}
	q.owner, q.reading = nil, nil
	m.forgetAttempts(q)
}

// forgetAttempts: an orderly member counts attempts by itself, the next one begins anew.
func (m *model) forgetAttempts(q *modelQueue) {
	if m.orderly && q != m.retry {
		for i := range q.msgs {
			q.msgs[i].Attempt = 0
		}
	}
}

func (m *model) moveQueue(q *modelQueue) {
	if q.owner != nil {
		m.release(q)
	}
}

func (m *model) stop(x *modelMember) {
	m.add(Event{Type: TypeStopping, Member: x.name})
	for _, q := range m.queues {
		if q.owner == x {
			m.release(q)
		}
	}
	m.add(Event{Type: TypeStop, Member: x.name, Clean: true})
	m.members = slices.DeleteFunc(m.members, func(y *modelMember) bool { return x == y })
}

func (m *model) crash(x *modelMember) {
	m.add(Event{Type: TypeCrash, Member: x.name})
	for _, q := range m.queues {
		if q.owner == x {
			q.owner, q.reading = nil, nil
			m.forgetAttempts(q)
			if m.orderly {
				m.now += int64(brokerLease) // its lock expires
			}
		}
	}
	m.members = slices.DeleteFunc(m.members, func(y *modelMember) bool { return x == y })
}

func (m *model) unfinished() bool {
	return len(m.delayed) > 0 || slices.ContainsFunc(m.queues, func(q *modelQueue) bool { return q.committed < int64(len(q.msgs)) && len(q.msgs) > 0 })
}
