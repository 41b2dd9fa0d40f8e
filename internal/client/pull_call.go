package client

import (
	"context"
	"errors"
	"fmt"

	"mqctl/internal/protocol"
)

// pullResult is one answer to a pull, Java's PullResult after PullAPIWrapper.processPullResult.
type pullResult struct {
	status    protocol.ResponseCode // success, or one of the three codes that are answers rather than errors
	next      int64
	minOffset int64
	maxOffset int64
	messages  []protocol.MessageExt
}

// pull asks for the next messages of an epoch. The request is held by the broker while there is nothing to read.
func (q *assignedQueue) pull(ctx context.Context, e *queueEpoch) (*pullResult, error) {
	replica := q.replica.Load()
	addr, master, err := q.client.replicaAddr(q.mq.BrokerName, replica)
	if err != nil {
		return nil, err
	}
	sub := q.subscription(q.mq.Topic)
	if sub == nil {
		return nil, fmt.Errorf("pull %s: %w", q.mq, ErrNotSubscribed)
	}
	req := q.pullRequest(e, master, sub)
	asked := req.QueueOffset
	resp, err := q.client.call(ctx, addr, protocol.NewRequest(req, nil), q.cfg.PullTimeout)
	if err != nil && resp == nil {
		return nil, fmt.Errorf("pull %s at %d: %w", q.mq, asked, err)
	}
	res := &pullResult{status: resp.ResponseCode()}
	switch res.status {
	case protocol.CodeSuccess, protocol.CodePullNotFound, protocol.CodePullRetryImmediately, protocol.CodePullOffsetMoved:
	default:
		return nil, fmt.Errorf("pull %s at %d: %w", q.mq, asked, err)
	}
	var h protocol.PullMessageResponse
	if err := resp.DecodeHeader(&h); err != nil {
		return nil, fmt.Errorf("pull %s at %d: answer of %s: %w", q.mq, asked, addr, err)
	}
	if req.SysFlag&protocol.PullCommitOffset != 0 && res.status != protocol.CodePullOffsetMoved {
		e.progress.saved.Store(req.CommitOffset)
	}
	q.replica.Store(h.SuggestWhichBrokerID)
	res.next, res.minOffset, res.maxOffset = h.NextBeginOffset, h.MinOffset, h.MaxOffset
	if res.status == protocol.CodeSuccess {
		return res, q.decode(res, resp.Body, asked, sub)
	}
	return res, nil
}

func (q *assignedQueue) pullRequest(e *queueEpoch, master bool, sub *protocol.SubscriptionData) *protocol.PullMessageRequest {
	flag := protocol.PullSuspend
	req := &protocol.PullMessageRequest{
		ConsumerGroup: q.group, Topic: q.mq.Topic, QueueID: q.mq.QueueID, QueueOffset: e.pq.Next(),
		MaxMsgNums: int32(q.cfg.PullBatchSize), SuspendTimeoutMillis: q.cfg.LongPoll.Milliseconds(),
		SubVersion: sub.SubVersion, ExpressionType: sub.ExpressionType, BrokerName: q.mq.BrokerName,
	}
	if q.inline {
		flag |= protocol.PullSubscription
		req.Subscription = sub.SubString
	}
	if done := e.progress.done.Load(); q.cfg.CommitInPull && master && q.store != nil && q.store.remote() && !q.cfg.NeverCommit && done > 0 {
		flag |= protocol.PullCommitOffset // a slave does not keep offsets
		req.CommitOffset = done
	}
	req.SysFlag = flag
	return req
}

// decode unpacks the records of an answer and drops what the broker's hash filter let through by accident. What is
// dropped counts as consumed: the next offset lies behind it.
func (q *assignedQueue) decode(res *pullResult, body []byte, asked int64, sub *protocol.SubscriptionData) error {
	msgs, err := protocol.DecodeMessages(body, protocol.DecodeOptions{MaxBody: q.cfg.MaxBody, MinOffset: asked})
	if err != nil && len(msgs) == 0 {
		return fmt.Errorf("pull %s at %d: %w", q.mq, asked, err)
	}
	if err != nil { // keep what is whole and ask again behind it
		res.next = msgs[len(msgs)-1].QueueOffset + 1
	}
	kept := msgs[:0]
	for i := range msgs {
		m := &msgs[i]
		if m.BodyErr != nil {
			q.onBadBody(m)
		}
		if len(sub.TagsSet) > 0 && !errors.Is(m.BodyErr, protocol.ErrDamagedMessage) {
			if tag, _ := m.PropertyBytes(protocol.PropertyTags); !sub.Match(tag) {
				continue
			}
		}
		m.BrokerName = q.mq.BrokerName
		if m.Topic != q.mq.Topic && errors.Is(m.BodyErr, protocol.ErrDamagedMessage) {
			m.Topic, m.QueueID = q.mq.Topic, q.mq.QueueID
		}
		if len(kept) == i {
			kept = msgs[:i+1]
			continue
		}
		kept = append(kept, *m)
	}
	res.messages = kept
	return nil
}

func (q *assignedQueue) onBadBody(m *protocol.MessageExt) {
	q.bodyErrors.Add(1)
	q.client.log.Warn("a message's body cannot be unpacked: its stored bytes are delivered",
		"queue", q.mq, "offset", m.QueueOffset, "id", m.MessageID(), "err", m.BodyErr)
}
