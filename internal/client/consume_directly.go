package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// directAtOnce is how many direct consumptions of one consumer may run side by side: a handler that does not come back must
// not use everything up.
const directAtOnce = 4

var errDirectBusy = errors.New("as many messages as may be are consumed directly already, or the consumer is closing")

// startConsumeDirectly has the handler consume one message out of turn (309): nothing is committed or handed back. It runs
// beside the callback worker, which other requests of brokers wait for; nil says that the answer follows.
func (c *Client) startConsumeDirectly(conn *remoting.Conn, req *protocol.Command) *protocol.Command {
	var h protocol.ConsumeMessageDirectlyRequest
	if err := req.DecodeHeader(&h); err != nil {
		return c.cannotAnswer(req, err)
	}
	p, err := c.pushConsumer(h.ConsumerGroup)
	if err != nil {
		return c.cannotAnswer(req, err)
	}
	msgs, err := protocol.DecodeMessages(req.Body, protocol.DecodeOptions{MaxBody: p.cfg.MaxBody})
	if err != nil || len(msgs) == 0 {
		return c.cannotAnswer(req, fmt.Errorf("message to consume directly: %d records, %w", len(msgs), err))
	}
	select {
	case p.direct <- struct{}{}:
	default:
		return c.cannotAnswer(req, errDirectBusy)
	}
	p.workers.Go(func() {
		defer func() { <-p.direct }()
		body := p.consumeDirectly(&msgs[0], h.BrokerName).Encode()
		if err := conn.Send(protocol.NewResponse(req, protocol.CodeSuccess, "", nil, body)); err != nil {
			c.log.Warn("the result of a direct consumption cannot be told", "group", h.ConsumerGroup, "id", h.MsgID, "err", err)
		}
	})
	return nil
}

// endDirect lets no direct consumption begin any more and waits for those that run, as long as ctx allows.
func (p *PushConsumer) endDirect(ctx context.Context) {
	for range cap(p.direct) {
		select {
		case p.direct <- struct{}{}:
		case <-ctx.Done():
			return
		}
	}
}

func (p *PushConsumer) consumeDirectly(m *protocol.MessageExt, broker string) *protocol.ConsumeMessageDirectlyResult {
	m.BrokerName = broker
	b := &Batch{Queue: m.MessageQueue(), Messages: []*protocol.MessageExt{m}, Acked: 1}
	if origin, ok := m.PropertyBytes(protocol.PropertyRetryTopic); ok && protocol.IsRetryTopic(m.Topic) {
		m.Topic = string(origin)
	}
	began := time.Now()
	result, panicked := p.handle(b)
	r := &protocol.ConsumeMessageDirectlyResult{
		Order: p.cfg.Orderly, AutoCommit: !p.cfg.Orderly || !b.ManualCommit, ConsumeResult: protocol.ConsumeResultLater,
		SpentTimeMills: time.Since(began).Milliseconds(),
	}
	switch {
	case panicked != "":
		r.ConsumeResult, r.Remark = protocol.ConsumeResultThrowException, panicked
	case result == Success && b.Acked > 0:
		r.ConsumeResult = protocol.ConsumeResultSuccess
	case p.cfg.Orderly && result == Commit:
		r.ConsumeResult = protocol.ConsumeResultCommit
	case p.cfg.Orderly && result == Rollback:
		r.ConsumeResult = protocol.ConsumeResultRollback
	}
	return r
}
