package client

import (
	"context"
	"fmt"

	"mqctl/internal/protocol"
)

// remoteOffsets keeps a group's offsets at the brokers, Java's RemoteBrokerOffsetStore. Unlike Java's one-way saves,
// each save waits for its answer: a commit that nobody acknowledged may have vanished.
type remoteOffsets struct {
	client *Client
	group  string
	strict bool // refuse the broker's habit of answering 0 for a young queue without an offset
}

func (s *remoteOffsets) load(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
	addr, err := s.client.BrokerAddr(mq.BrokerName)
	if err != nil {
		return 0, err
	}
	req := &protocol.QueryConsumerOffsetRequest{ConsumerGroup: s.group, Topic: mq.Topic, QueueID: mq.QueueID, BrokerName: mq.BrokerName}
	if s.strict {
		no := false
		req.SetZeroIfNotFound = &no
	}
	var resp protocol.QueryConsumerOffsetResponse
	if _, err := s.client.CallHeader(ctx, addr, req, nil, &resp); err != nil {
		return 0, fmt.Errorf("offset of %s in %s: %w", s.group, mq, err)
	}
	if resp.Offset < 0 { // some clients commit -1 for a queue that they have not read
		return 0, fmt.Errorf("offset of %s in %s is %d: %w", s.group, mq, resp.Offset, ErrNoOffset)
	}
	return resp.Offset, nil
}

func (s *remoteOffsets) save(ctx context.Context, mq protocol.MessageQueue, offset int64) error {
	addr, err := s.client.BrokerAddr(mq.BrokerName)
	if err != nil {
		return fmt.Errorf("commit %s at %d: %w", mq, offset, err)
	}
	req := &protocol.UpdateConsumerOffsetRequest{
		ConsumerGroup: s.group, Topic: mq.Topic, QueueID: mq.QueueID, CommitOffset: offset, BrokerName: mq.BrokerName,
	}
	resp, err := s.client.CallHeader(ctx, addr, req, nil, nil)
	if err != nil {
		return fmt.Errorf("commit %s at %d: %w", mq, offset, err)
	}
	if resp.Remark == pendingResetRemark {
		return fmt.Errorf("commit %s at %d: %w", mq, offset, ErrResetPending)
	}
	return nil
}

func (s *remoteOffsets) flush() error { return nil }

func (s *remoteOffsets) remote() bool { return true }

// pendingResetRemark comes with a code that says success, but means that nothing was stored: a reset of the offset waits
// to be pulled.
const pendingResetRemark = "Offset has been previously reset"
