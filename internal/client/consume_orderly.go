package client

import (
	"context"
	"time"

	"mqctl/internal/protocol"
)

// orderlyPull is the pull loop of an orderly queue: nothing is read before the lock is held, and the offset is asked for
// only then, since the owner before us commits until it unlocks. A lost lock starts over.
func (p *PushConsumer) orderlyPull(ctx context.Context, q *assignedQueue) {
	for p.acquireLock(ctx, q) && q.loadStart(ctx, p.cfg.From) {
		q.run(ctx)
	}
}

// consumeOrderly handles the next batch of a queue, one worker at a time: Java's ConsumeMessageOrderlyService. Whoever
// sets busy handles the queue until release.
func (p *PushConsumer) consumeOrderly(e *queueEpoch, scratch []*protocol.MessageExt) {
	q := e.queue
	if !q.busy.CompareAndSwap(false, true) {
		return // its worker looks for more before it lets go
	}
	now := time.Now()
	switch {
	case q.leaving.Load() || e.pq.Dropped():
		p.release(q)
		return
	case !q.lockHeld(now):
		p.retries.addSuspended(e, e.pq.Next(), now.Add(p.cfg.SuspendPause)) // nothing was handed out
		return
	}
	batch, _ := e.pq.Take(scratch[:0], p.cfg.BatchSize, now.UnixMilli())
	if len(batch) == 0 {
		p.release(q)
		return
	}
	q.lastTaken.Store(now.UnixMilli())
	p.restoreTopics(q, batch)
	b := &Batch{Queue: q.mq, Messages: batch, Epoch: e.number, Acked: len(batch)}
	result, _ := p.handle(b)
	q.consumeTime.Add(int64(time.Since(now)))
	p.settle(e, b, result)
}

// settle acts on the result of an orderly batch. While the batch has to be handled again the queue stays busy: nothing may
// overtake it.
func (p *PushConsumer) settle(e *queueEpoch, b *Batch, result Result) {
	q, first := e.queue, b.Messages[0].QueueOffset
	switch {
	case result == Success && b.ManualCommit:
		p.release(q)
	case result == Success:
		p.finish(e, b.Messages)
		p.release(q)
	case result == Commit:
		p.finish(e, e.pq.HandedOut())
		p.release(q)
	case result == Rollback:
		p.retries.addSuspended(e, e.pq.Low(), time.Now().Add(p.cfg.SuspendPause))
	case result == Later:
		q.failed.Add(int64(len(b.Messages)))
		if p.exhausted(e, b.Messages) {
			p.release(q)
			return
		}
		p.retries.addSuspended(e, first, time.Now().Add(p.cfg.SuspendPause))
	case result == Leave: // busy for good: nothing after this batch may run here
	}
}

// release lets other workers handle the queue, and lists it if something has come meanwhile.
func (p *PushConsumer) release(q *assignedQueue) {
	q.busy.Store(false)
	wake(q.idle)
	if e := q.epoch.Load(); !q.leaving.Load() && e.pq.HasMore() {
		p.ready.push(e)
	}
}

// exhausted counts an attempt of each message. Those that have had their attempts go to the dead-letter topic by way of
// the retry topic, and are finished once they are stored there: messages of one batch may have had different numbers of
// attempts, and the others come again without them. true means that none is left and the queue may go on.
func (p *PushConsumer) exhausted(e *queueEpoch, batch []*protocol.MessageExt) bool {
	dead := make([]*protocol.MessageExt, 0, len(batch))
	for _, m := range batch {
		if p.cfg.MaxReconsume < 0 || m.ReconsumeTimes < p.cfg.MaxReconsume {
			m.ReconsumeTimes++
			continue
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(p.handlerCtx), p.client.cfg.CallTimeout)
		err := p.sendToRetryTopic(ctx, m, 0)
		cancel()
		if err != nil {
			p.client.log.Warn("a message that has had its attempts is not stored in the dead-letter topic yet",
				"queue", e.queue.mq, "offset", m.QueueOffset, "err", err)
			continue
		}
		dead = append(dead, m)
	}
	p.finish(e, dead)
	return len(dead) == len(batch)
}

// resume ends the pause of a suspended queue: what lies at or behind offset from is handed out again, first of all.
func (p *PushConsumer) resume(e *queueEpoch, from int64) {
	e.pq.TakeBack(from)
	p.release(e.queue)
}

// leaveOrderly gives a queue up once its running handler has returned, so that the next owner begins behind it; it waits
// at most unlockWait. It runs beside the rebalance, which must not wait for handlers.
func (p *PushConsumer) leaveOrderly(ctx context.Context, q *assignedQueue) {
	q.halt()
	limit, cancel := context.WithTimeout(ctx, unlockWait)
	for q.busy.Load() && pause(limit, lockPause, q.idle) {
	}
	cancel()
	p.giveUp(ctx, q)
	p.unlock(ctx, []*assignedQueue{q})
	p.table.remove(q)
	wake(p.client.wakeRebalance) // it may have become ours again meanwhile
}
