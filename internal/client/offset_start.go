package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// From says where a group begins on a queue without a committed offset, Java's ConsumeFromWhere.
type From struct {
	Where FromWhere
	// Time is where FromTimestamp begins: the first message stored at or after it. Default: 30 minutes before start.
	Time time.Time
	// At is asked by FromCustom.
	At func(ctx context.Context, mq protocol.MessageQueue) (int64, error)
}

// FromWhere is the kind of a From.
type FromWhere uint8

// The kinds of start.
const (
	// FromLastJava is Java's default: the end of the queue, except that brokers answer 0 for a queue so young that its
	// first message is still in memory.
	FromLastJava FromWhere = iota
	// FromLast is the end of the queue without that exception.
	FromLast
	// FromFirst is the oldest message.
	FromFirst
	// FromTimestamp is the first message stored at or after a time.
	FromTimestamp
	// FromCustom asks From.At.
	FromCustom
)

// wireName is what heartbeats call it; brokers only show it to people.
func (w FromWhere) wireName() protocol.ConsumeFromWhere {
	switch w {
	case FromFirst:
		return protocol.ConsumeFromFirstOffset
	case FromTimestamp:
		return protocol.ConsumeFromTimestamp
	}
	return protocol.ConsumeFromLastOffset
}

// startOffset is where to read a newly assigned queue, Java's computePullFromWhere: the stored offset if there is one;
// only the explicit answer that there is none selects the rule for new groups. Every other failure is an error, since
// a guess would be committed. stored says that the offset came from the store.
func (c *Client) startOffset(ctx context.Context, store offsetStore, from From, mq protocol.MessageQueue) (offset int64, stored bool, err error) {
	offset, err = store.load(ctx, mq)
	if err == nil {
		return offset, true, nil
	}
	if !errors.Is(err, ErrNoOffset) {
		return 0, false, err
	}
	retry := protocol.IsRetryTopic(mq.Topic)
	switch from.Where {
	case FromFirst:
		offset, err = c.MinOffset(ctx, mq)
	case FromTimestamp:
		if retry {
			offset, err = c.MaxOffset(ctx, mq)
		} else {
			offset, err = c.OffsetAt(ctx, mq, from.Time)
		}
	case FromCustom:
		offset, err = from.At(ctx, mq)
	default:
		if retry {
			offset, err = c.MinOffset(ctx, mq) // what waits there was consumed once already: leaving it would lose it
		} else {
			offset, err = c.MaxOffset(ctx, mq)
		}
	}
	if err != nil {
		return 0, false, fmt.Errorf("start of %s: %w", mq, err)
	}
	return offset, false, nil
}

// MaxOffset is the offset that the queue's next message will get.
func (c *Client) MaxOffset(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
	var resp protocol.GetMaxOffsetResponse
	err := c.askQueue(ctx, mq, &protocol.GetMaxOffsetRequest{Topic: mq.Topic, QueueID: mq.QueueID}, &resp)
	return resp.Offset, err
}

// MinOffset is the offset of the oldest message that the broker still has.
func (c *Client) MinOffset(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
	var resp protocol.GetMinOffsetResponse
	err := c.askQueue(ctx, mq, &protocol.GetMinOffsetRequest{Topic: mq.Topic, QueueID: mq.QueueID}, &resp)
	return resp.Offset, err
}

// OffsetAt is the offset of the first message stored at or after t; the end of the queue when there is none.
func (c *Client) OffsetAt(ctx context.Context, mq protocol.MessageQueue, t time.Time) (int64, error) {
	var resp protocol.SearchOffsetByTimestampResponse
	err := c.askQueue(ctx, mq, &protocol.SearchOffsetByTimestampRequest{Topic: mq.Topic, QueueID: mq.QueueID, Timestamp: t.UnixMilli()}, &resp)
	return resp.Offset, err
}

// askQueue sends a request about one queue to its broker's master.
func (c *Client) askQueue(ctx context.Context, mq protocol.MessageQueue, req protocol.RequestHeader, out any) error {
	addr, err := c.BrokerAddr(mq.BrokerName)
	if err != nil {
		return err
	}
	if _, err := c.CallHeader(ctx, addr, req, nil, out); err != nil {
		return fmt.Errorf("%s: %w", mq, err)
	}
	return nil
}
