package main

import (
	"context"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// noQueuePatience is how long -e waits for queues of each topic: with more members than queues there are none for some.
const noQueuePatience = 5 * time.Second

// settledPolls is how often in a row the ends must look reached: queues are taken over one topic after the other.
const settledPolls = 3

// queueEnds knows the end that each queue had when it was taken over.
type queueEnds struct {
	run     *groupRun
	end     map[protocol.MessageQueue]int64
	began   time.Time
	owned   int // at the last look
	settled int // looks in a row that found the same queues at their ends
}

// reached reports whether every queue owned now has been consumed up to its end, and for a while already.
func (e *queueEnds) reached(ctx context.Context) bool {
	queues := e.run.queues()
	if !e.allReached(ctx, queues) || len(queues) != e.owned {
		e.owned, e.settled = len(queues), 0
		return false
	}
	e.settled++
	return e.settled >= settledPolls
}

func (e *queueEnds) allReached(ctx context.Context, queues []stats.Queue) bool {
	topics := map[string]bool{}
	for _, q := range queues {
		topics[q.Topic] = true
		end, ok := e.endOf(ctx, protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.QueueID})
		if !ok || q.NextOffset == nil || *q.NextOffset < end || q.OldestOffset != nil && *q.OldestOffset < end {
			return false
		}
	}
	for _, topic := range e.run.o.topics {
		if !topics[topic] && time.Since(e.began) < noQueuePatience {
			return false
		}
	}
	return true
}

// endOf is the end that a queue had when it was first seen here.
func (e *queueEnds) endOf(ctx context.Context, mq protocol.MessageQueue) (int64, bool) {
	if end, ok := e.end[mq]; ok {
		return end, true
	}
	ctx, cancel := e.run.withDeadline(ctx)
	defer cancel()
	end, err := e.run.conn.MaxOffset(ctx, mq)
	if err != nil {
		return 0, false
	}
	e.end[mq] = end
	return end, true
}
