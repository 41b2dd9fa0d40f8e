package client

import (
	"time"

	"mqctl/internal/protocol"
)

// How the consume timeout looks for messages that are handled for too long.
const (
	timeoutChecks     = 15 // per ConsumeTimeout: Java looks only once, so that a message may take twice as long
	expiredPerCheck   = 16 // of each queue, Java's loop in ProcessQueue.cleanExpiredMsg
	expiredDelayLevel = 3  // 10 s
)

// timeoutLoop gives the oldest message of a queue up when its handler does not return within ConsumeTimeout: the broker
// gets it back, and the commit can move again. Java's cleanExpiredMsg; orderly mode has no timeout.
func (p *PushConsumer) timeoutLoop() {
	for pause(p.handlerCtx, max(p.cfg.ConsumeTimeout/timeoutChecks, time.Second), nil) {
		for _, q := range p.table.all() {
			if e := q.epoch.Load(); e != nil && !q.leaving.Load() {
				p.giveUpExpired(e)
			}
		}
	}
}

func (p *PushConsumer) giveUpExpired(e *queueEpoch) {
	for range expiredPerCheck {
		m := e.pq.Expired(time.Now().Add(-p.cfg.ConsumeTimeout).UnixMilli())
		if m == nil || p.handlerCtx.Err() != nil {
			return
		}
		p.client.log.Warn("a message was handled for longer than the consume timeout: it goes back to the broker",
			"queue", e.queue.mq, "offset", m.QueueOffset, "id", m.MessageID(), "timeout", p.cfg.ConsumeTimeout)
		if p.cfg.Model == protocol.Clustering && !p.cfg.NeverCommit {
			if err := p.sendBack(e, m, expiredDelayLevel); err != nil {
				p.client.log.Warn("send-back failed: it stays", "queue", e.queue.mq, "offset", m.QueueOffset, "err", err)
				return
			}
		}
		if low, ok := e.pq.Remove([]*protocol.MessageExt{m}); ok {
			e.progress.advance(low)
			e.queue.failed.Add(1)
		}
	}
}
