package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"mqctl/internal/protocol"
)

// worker takes batches and runs the handler until the ready list closes: one thread of Java's
// ConsumeMessageConcurrentlyService.
func (p *PushConsumer) worker(ctx context.Context) {
	scratch := make([]*protocol.MessageExt, 0, p.cfg.BatchSize)
	for {
		w, ok := p.ready.pop(ctx)
		if !ok {
			return
		}
		if p.cfg.Orderly {
			p.consumeOrderly(w.epoch, scratch)
			continue
		}
		now := time.Now()
		batch := w.epoch.pq.Held(w.retry)
		if w.retry == nil {
			var more bool
			batch, more = w.epoch.pq.Take(scratch[:0], p.cfg.BatchSize, now.UnixMilli())
			if more {
				p.ready.push(w.epoch) // another worker goes on with this queue meanwhile
			}
		}
		if len(batch) > 0 && !w.epoch.pq.Dropped() {
			p.consume(w.epoch, batch, now)
		}
	}
}

// again is called by the retry loop when a pause is over.
func (p *PushConsumer) again(r localRetry) {
	if p.cfg.Orderly {
		p.resume(r.epoch, r.from)
		return
	}
	p.ready.pushRetry(r.epoch, r.batch)
}

// consume runs the handler on one batch, handed out at began, and acts on its result.
func (p *PushConsumer) consume(e *queueEpoch, msgs []*protocol.MessageExt, began time.Time) {
	q := e.queue
	q.lastTaken.Store(began.UnixMilli())
	p.restoreTopics(q, msgs)
	b := &Batch{Queue: q.mq, Messages: msgs, Epoch: e.number, Acked: len(msgs)}
	result, _ := p.handle(b)
	q.consumeTime.Add(int64(time.Since(began)))
	if result == Leave || e.pq.Dropped() {
		return // a dropped queue's messages are delivered again by its next owner: handing them back too would double them
	}
	acked := 0
	if result == Success {
		acked = min(max(b.Acked, 0), len(msgs))
	}
	p.finish(e, msgs[:acked])
	if failed := msgs[acked:]; len(failed) > 0 {
		q.failed.Add(int64(len(failed)))
		p.giveBack(e, failed, b.DelayLevel)
	}
}

// restoreTopics shows retried messages under the topic they were first sent to, as Java does.
func (p *PushConsumer) restoreTopics(q *assignedQueue, msgs []*protocol.MessageExt) {
	if !protocol.IsRetryTopic(q.mq.Topic) {
		return
	}
	for _, m := range msgs {
		if origin, ok := m.PropertyBytes(protocol.PropertyRetryTopic); ok && m.Topic == q.mq.Topic {
			m.Topic = string(origin)
		}
	}
}

// handle runs the handler; a panic is a failed consumption, told by panicked.
func (p *PushConsumer) handle(b *Batch) (result Result, panicked string) {
	defer func() {
		if r := recover(); r != nil {
			p.client.log.Error("the handler panicked", "queue", b.Queue, "offset", b.Messages[0].QueueOffset,
				"panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			result, panicked, b.Acked, b.DelayLevel = Later, fmt.Sprint(r), 0, 0
		}
	}()
	return p.cfg.Handler(p.handlerCtx, b), ""
}

// finish takes messages out of the cache and moves what may be committed.
func (p *PushConsumer) finish(e *queueEpoch, msgs []*protocol.MessageExt) {
	if len(msgs) == 0 {
		return
	}
	if low, ok := e.pq.Remove(msgs); ok {
		e.progress.advance(low)
		e.queue.consumed.Add(int64(len(msgs)))
	}
}

// giveBack hands failed messages to the broker. Only what the broker has stored leaves the cache: the rest is handled
// again here after a pause, and the commit stays below it.
func (p *PushConsumer) giveBack(e *queueEpoch, msgs []*protocol.MessageExt, level int32) {
	if p.cfg.Model == protocol.Broadcasting || p.cfg.NeverCommit {
		p.finish(e, msgs) // nobody else will get them: Java logs and drops, and so does a member that hands nothing back
		return
	}
	var back, again []*protocol.MessageExt
	for _, m := range msgs {
		if err := p.sendBack(e, m, level); err != nil {
			p.client.log.Warn("send-back failed: the message is handled again here", "queue", e.queue.mq,
				"offset", m.QueueOffset, "pause", p.cfg.LocalRetryPause, "err", err)
			m.ReconsumeTimes++
			again = append(again, m)
			continue
		}
		back = append(back, m)
	}
	if low, ok := e.pq.Remove(back); ok {
		e.progress.advance(low)
	}
	if len(again) > 0 {
		p.retries.add(e, again, time.Now().Add(p.cfg.LocalRetryPause))
	}
}
