package admin

import (
	"context"
	"errors"
	"fmt"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// commit is a group's stored offset in one queue; at is nil where there is none.
type commit struct {
	at  *int64
	err error
}

// commits asks b for a group's offsets in queues, which are all its own; one result for each.
//
// Brokers before 5.0 answer 0 for a young queue without an offset and cannot be told not to; a 0 from them is looked up
// in the table of all offsets (43).
func (a *Admin) commits(ctx context.Context, b *broker, group string, queues []protocol.MessageQueue) []commit {
	out := make([]commit, len(queues))
	doubtful := make([]bool, len(queues))
	spread(perBroker, queues, func(i int, mq protocol.MessageQueue) {
		out[i], doubtful[i] = a.queryOffset(ctx, b, group, mq)
	})
	var table *protocol.AllConsumerOffset
	var err error
	for i, mq := range queues {
		if !doubtful[i] {
			continue
		}
		if table == nil && err == nil {
			table, err = a.allOffsets(ctx, b)
		}
		out[i] = commit{err: err}
		if err == nil {
			out[i].at = storedIn(table, group, mq)
		}
	}
	return out
}

// queryOffset asks QUERY_CONSUMER_OFFSET (14). doubtful says that the answer may stand for no offset.
func (a *Admin) queryOffset(ctx context.Context, b *broker, group string, mq protocol.MessageQueue) (c commit, doubtful bool) {
	no := false
	req := &protocol.QueryConsumerOffsetRequest{
		ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, SetZeroIfNotFound: &no, BrokerName: mq.BrokerName,
	}
	var stored protocol.QueryConsumerOffsetResponse
	resp, err := a.ask(ctx, b, req, nil, &stored)
	switch {
	case errors.Is(err, client.ErrNoOffset):
		return commit{}, false
	case err != nil:
		return commit{err: fmt.Errorf("offset of %s in %s: %w", group, mq, err)}, false
	}
	return commit{at: &stored.Offset}, stored.Offset == 0 && protocol.MQVersion(resp.Version) < protocol.Version500
}

// allOffsets asks GET_ALL_CONSUMER_OFFSET (43).
func (a *Admin) allOffsets(ctx context.Context, b *broker) (*protocol.AllConsumerOffset, error) {
	resp, err := a.askPlain(ctx, b, protocol.GetAllConsumerOffset)
	if err != nil {
		return nil, err
	}
	table, err := protocol.DecodeAllConsumerOffset(resp.Body)
	if err != nil {
		return nil, b.malformed(protocol.GetAllConsumerOffset, err)
	}
	return table, nil
}

// storedIn is a group's offset in the table of all offsets, nil when there is none.
func storedIn(table *protocol.AllConsumerOffset, group string, mq protocol.MessageQueue) *int64 {
	if offset, ok := table.OffsetTable[mq.Topic+"@"+group].Get(mq.QueueID); ok {
		return &offset
	}
	return nil
}
