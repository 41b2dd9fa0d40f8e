package client

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// handleRequest answers what brokers ask of a client, Java's ClientRemotingProcessor. It runs on the transport's
// callback worker, never on a connection's reader. nil is no answer.
func (c *Client) handleRequest(ctx context.Context, conn *remoting.Conn, req *protocol.Command) *protocol.Command {
	if req.RequestCode() == protocol.ConsumeMessageDirectly {
		return c.startConsumeDirectly(conn, req)
	}
	answer, ok := map[protocol.RequestCode]func(context.Context, *remoting.Conn, *protocol.Command) (body []byte, err error){
		protocol.NotifyConsumerIDsChanged:    c.onIDsChanged,
		protocol.ResetConsumerClientOffset:   c.onResetOffset,
		protocol.GetConsumerStatusFromClient: c.onConsumerStatus,
		protocol.GetConsumerRunningInfo:      c.onRunningInfo,
	}[req.RequestCode()]
	if !ok {
		return protocol.NewResponse(req, protocol.CodeRequestCodeNotSupported, "this client does not answer "+req.RequestCode().String(), nil, nil)
	}
	body, err := answer(ctx, conn, req)
	if err != nil {
		return c.cannotAnswer(req, err)
	}
	return protocol.NewResponse(req, protocol.CodeSuccess, "", nil, body)
}

func (c *Client) cannotAnswer(req *protocol.Command, err error) *protocol.Command {
	c.log.Warn("a broker's request cannot be answered", "request", req.RequestCode(), "err", err)
	return protocol.NewResponse(req, protocol.CodeSystemError, err.Error(), nil, nil)
}

// pushConsumer is this client's push consumer of a group.
func (c *Client) pushConsumer(group string) (*PushConsumer, error) {
	c.mu.Lock()
	m := c.consumers[group]
	c.mu.Unlock()
	if p, ok := m.(*PushConsumer); ok {
		return p, nil
	}
	return nil, fmt.Errorf("the consumer group %s is not on this client", group)
}

// onIDsChanged: members have come or gone (40).
func (c *Client) onIDsChanged(context.Context, *remoting.Conn, *protocol.Command) ([]byte, error) {
	wake(c.wakeRebalance)
	return nil, nil
}

// onResetOffset: an admin moves the group (220); older brokers push it to each member. The new offsets count at once, and
// answers to pulls that are still under way count for nothing.
func (c *Client) onResetOffset(ctx context.Context, _ *remoting.Conn, req *protocol.Command) ([]byte, error) {
	var h protocol.ResetConsumerClientOffsetRequest
	if err := req.DecodeHeader(&h); err != nil {
		return nil, err
	}
	body, err := protocol.DecodeResetOffsetBody(req.Body)
	if err != nil {
		return nil, err
	}
	p, err := c.pushConsumer(h.Group)
	if err != nil {
		return nil, err
	}
	for mq, offset := range body.OffsetTable {
		if mq.Topic != h.Topic || offset < 0 {
			continue
		}
		if err := p.moveQueue(ctx, mq, offset); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// onConsumerStatus tells how far this member has come in a topic (221).
func (c *Client) onConsumerStatus(_ context.Context, _ *remoting.Conn, req *protocol.Command) ([]byte, error) {
	var h protocol.GetConsumerStatusFromClientRequest
	if err := req.DecodeHeader(&h); err != nil {
		return nil, err
	}
	p, err := c.pushConsumer(h.Group)
	if err != nil {
		return nil, err
	}
	body := &protocol.ConsumerStatus{MessageQueueTable: map[protocol.MessageQueue]int64{}}
	for _, q := range p.table.all() {
		if e := q.epoch.Load(); e != nil && (h.Topic == "" || q.mq.Topic == h.Topic) {
			body.MessageQueueTable[q.mq] = e.progress.done.Load()
		}
	}
	return body.Encode(), nil
}

// onRunningInfo describes a consumer to an admin tool (307). The thread dump it may ask for is one of goroutines.
func (c *Client) onRunningInfo(_ context.Context, _ *remoting.Conn, req *protocol.Command) ([]byte, error) {
	var h protocol.GetConsumerRunningInfoRequest
	if err := req.DecodeHeader(&h); err != nil {
		return nil, err
	}
	p, err := c.pushConsumer(h.ConsumerGroup)
	if err != nil {
		return nil, err
	}
	info := p.runningInfo()
	if h.JstackEnable {
		var dump strings.Builder
		if err := pprof.Lookup("goroutine").WriteTo(&dump, 2); err != nil {
			return nil, err
		}
		info.Jstack = dump.String()
	}
	return info.Encode(), nil
}

// moveQueue makes an owned queue go on at offset: a seek. It returns once the new offset counts; saving it is tried at
// once and repeated by the persist loop. A queue that is not owned is left to its owner.
func (p *PushConsumer) moveQueue(ctx context.Context, mq protocol.MessageQueue, offset int64) error {
	select {
	case p.rebalancing <- struct{}{}: // the queue must not be revoked or assigned meanwhile
	case <-ctx.Done():
		return fmt.Errorf("move %s to %d: %w", mq, offset, ctx.Err())
	}
	defer func() { <-p.rebalancing }()
	q := p.table.get(mq)
	if p.closing.Load() || q == nil || q.leaving.Load() {
		return nil
	}
	q.halt()
	e := q.begin(offset, q.limits(), false, false)
	if err := q.saveWithin(ctx, e); err != nil {
		p.client.log.Warn("the new offset is not saved yet", "queue", mq, "offset", offset, "err", err)
	}
	p.client.log.Info("offset reset", "queue", mq, "offset", offset)
	p.startPulling(q, true)
	return nil
}
