package client

import (
	"maps"
	"slices"
	"sync"

	"mqctl/internal/protocol"
)

// queueTable is the queues that a consumer owns, Java's processQueueTable.
type queueTable struct {
	mu     sync.Mutex
	queues map[protocol.MessageQueue]*assignedQueue
}

func newQueueTable() *queueTable {
	return &queueTable{queues: map[protocol.MessageQueue]*assignedQueue{}}
}

// all is every owned queue in Java's order.
func (t *queueTable) all() []*assignedQueue {
	t.mu.Lock()
	list := slices.Collect(maps.Values(t.queues))
	t.mu.Unlock()
	slices.SortFunc(list, func(a, b *assignedQueue) int { return protocol.CompareMessageQueues(a.mq, b.mq) })
	return list
}

func (t *queueTable) get(mq protocol.MessageQueue) *assignedQueue {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.queues[mq]
}

func (t *queueTable) add(q *assignedQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.queues[q.mq] = q
}

func (t *queueTable) remove(q *assignedQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.queues[q.mq] == q {
		delete(t.queues, q.mq)
	}
}

// diff compares the queues owned of one topic with those that are due.
func (t *queueTable) diff(topic string, due []protocol.MessageQueue) (added []protocol.MessageQueue, revoked []*assignedQueue) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, mq := range due {
		if t.queues[mq] == nil {
			added = append(added, mq)
		}
	}
	for mq, q := range t.queues {
		if mq.Topic == topic && !slices.Contains(due, mq) && !q.leaving.Load() {
			revoked = append(revoked, q)
		}
	}
	return added, revoked
}
