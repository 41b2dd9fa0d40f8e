package client

import "mqctl/internal/protocol"

// EventKind says what an Event is about.
type EventKind uint8

// The kinds of events.
const (
	// QueueTaken: a queue is read from Offset on. Each time, also after a seek, a reset, a corrected offset or a lost
	// lock, begins a new epoch of the queue.
	QueueTaken EventKind = iota
	// QueueDropped: an epoch has ended. What is cached is forgotten, and results that come later count for nothing; handlers
	// that run already may go on. Everything below Offset was finished.
	QueueDropped
)

// Event is a change of what a consumer reads, told to ConsumerConfig.OnEvent.
type Event struct {
	Kind   EventKind
	Group  string
	Queue  protocol.MessageQueue
	Epoch  int64 // rises with each QueueTaken of a consumer
	Offset int64
}

func (q *assignedQueue) tell(kind EventKind, e *queueEpoch, offset int64) {
	if q.cfg.OnEvent != nil {
		q.cfg.OnEvent(Event{Kind: kind, Group: q.group, Queue: q.mq, Epoch: e.number, Offset: offset})
	}
}

// end drops what the epoch has cached; the first time it is told.
func (e *queueEpoch) end() {
	e.pq.Drop()
	if e.ended.CompareAndSwap(false, true) {
		e.queue.tell(QueueDropped, e, e.progress.done.Load())
	}
}
