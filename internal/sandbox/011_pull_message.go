package sandbox

import (
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// maxSuspend bounds how long a pull may ask to be parked.
const maxSuspend = 10 * time.Minute

// maxHeld bounds the parked pulls of one connection; further ones are answered at once.
const maxHeld = 1 << 16

// pull is a PULL_MESSAGE that has passed all checks.
type pull struct {
	protocol.PullMessageRequest
	b      *broker
	group  *protocol.SubscriptionGroupConfig
	q      *queue
	filter filter
}

// PULL_MESSAGE (11): read one queue from an offset on; without anything to read the request may be parked.
func handlePullMessage(r *request) *protocol.Command {
	p, resp := r.checkPull()
	if resp != nil {
		return resp
	}
	b := r.broker
	if p.SysFlag&protocol.PullCommitOffset != 0 {
		b.commit(p.ConsumerGroup, p.q.mq, p.CommitOffset)
	}
	result := p.read()
	suspend := p.SysFlag&protocol.PullSuspend != 0 && p.SuspendTimeoutMillis > 0
	if suspend && len(r.peer.held) < maxHeld && result.status.code(p.QueueOffset) == protocol.CodePullNotFound {
		wait := min(time.Duration(min(p.SuspendTimeoutMillis, maxSuspend.Milliseconds()))*time.Millisecond, maxSuspend)
		b.sandbox.park(r, p.q, p.filter, wait, func() *protocol.Command { return r.pullAgain() })
		return nil
	}
	return r.pulled(p, result)
}

// pullAgain is a parked pull's second look. The checks are made anew: the group or the topic may have changed meanwhile.
func (r *request) pullAgain() *protocol.Command {
	p, resp := r.checkPull()
	if resp != nil {
		return resp
	}
	return r.pulled(p, p.read())
}

// read looks into the queue. A reset that nobody has been told of yet goes first, and is over with that; a parked pull is
// not woken for it.
func (p *pull) read() readResult {
	resets, key := p.b.offsets.resets, offsetKey{p.Topic, p.ConsumerGroup}
	if target, ok := resets.get(key, p.QueueID); ok {
		delete(resets[key], p.QueueID)
		return readResult{status: readReset, next: target}
	}
	return p.q.read(p.b, p.QueueOffset, p.MaxMsgNums, &p.filter)
}

// pulled is the answer with what was read.
func (r *request) pulled(p *pull, result readResult) *protocol.Command {
	var zero int32
	h := &protocol.PullMessageResponse{
		SuggestWhichBrokerID: p.group.BrokerID, NextBeginOffset: result.next, MinOffset: p.q.minOffset(), MaxOffset: p.q.maxOffset(),
		TopicSysFlag: &zero, GroupSysFlag: &zero,
	}
	code := result.status.code(p.QueueOffset)
	if code == protocol.CodePullOffsetMoved && p.b.master != nil {
		code, h.NextBeginOffset = protocol.CodePullRetryImmediately, p.QueueOffset // a replica corrects nobody: it may be behind
	}
	r.broker.served += int64(result.count)
	r.broker.notePull(p.ConsumerGroup, p.q.mq, result.next)
	return protocol.NewResponse(r.Command, code, result.status.String(), h, result.body)
}

// checkPull makes a real broker's checks in its order; a refused pull commits nothing.
func (r *request) checkPull() (*pull, *protocol.Command) {
	var p pull
	if resp := r.decode(&p.PullMessageRequest); resp != nil {
		return nil, resp
	}
	if resp := r.checkPullGroup(&p); resp != nil {
		return nil, resp
	}
	b := r.broker
	t := b.topics[p.Topic]
	switch {
	case t == nil:
		return nil, r.failf(protocol.CodeTopicNotExist, "topic[%s] not exist, apply first please! %s", p.Topic, faq)
	case t.Perm&protocol.PermRead == 0:
		return nil, r.forbidden(protocol.ForbiddenTopic, fmt.Sprintf("the topic[%s] pulling message is forbidden", p.Topic))
	case p.QueueID < 0 || p.QueueID >= t.ReadQueueNums:
		return nil, r.failf(b.sandbox.invalid(), "queueId[%d] is illegal, topic:[%s] topicConfig.readQueueNums:[%d] consumer:[%s]",
			p.QueueID, p.Topic, t.ReadQueueNums, r.peer.addr)
	}
	if resp := r.chooseFilter(&p); resp != nil {
		return nil, resp
	}
	p.b, p.q = b, b.queue(t, p.QueueID)
	return &p, nil
}

func (r *request) checkPullGroup(p *pull) *protocol.Command {
	cfg := r.broker.groupConfig(p.ConsumerGroup)
	switch {
	case cfg == nil:
		resp := r.failf(protocol.CodeSubscriptionGroupNotExist, "subscription group [%s] does not exist, %s", p.ConsumerGroup, faq)
		resp.Header = &protocol.PullRefusal{}
		return resp
	case !cfg.ConsumeEnable:
		return r.forbidden(protocol.ForbiddenGroup, "subscription group no permission, "+p.ConsumerGroup)
	}
	p.group = cfg
	return nil
}

func (r *request) forbidden(why protocol.ForbiddenType, remark string) *protocol.Command {
	resp := r.fail(protocol.CodeNoPermission, remark)
	resp.Header = &protocol.PullRefusal{ForbiddenType: why}
	return resp
}

// chooseFilter takes the subscription from the request, or, without its bit, from the group's heartbeats.
func (r *request) chooseFilter(p *pull) *protocol.Command {
	if p.SysFlag&protocol.PullSubscription != 0 {
		return r.ownFilter(p)
	}
	g := r.broker.consumers[p.ConsumerGroup]
	if g == nil {
		return r.fail(protocol.CodeSubscriptionNotExist, "the consumer's group info not exist"+faq)
	}
	if cfg := r.broker.groupConfig(p.ConsumerGroup); !cfg.ConsumeBroadcastEnable && g.model == protocol.Broadcasting {
		return r.forbidden(protocol.ForbiddenBroadcasting, fmt.Sprintf("the consumer group[%s] can not consume by broadcast way", p.ConsumerGroup))
	}
	sub := g.subs[p.Topic]
	switch {
	case sub == nil:
		return r.fail(protocol.CodeSubscriptionNotExist, "the consumer's subscription not exist"+faq)
	case sub.SubVersion < p.SubVersion:
		return r.fail(protocol.CodeSubscriptionNotLatest, "the consumer's subscription not latest")
	case !sub.IsTag():
		return r.heartbeatSQL(p, sub)
	}
	p.filter = filterOf(sub)
	return nil
}

// heartbeatSQL takes the condition that a heartbeat has brought. One that could not be read is as good as none.
func (r *request) heartbeatSQL(p *pull, sub *protocol.SubscriptionData) *protocol.Command {
	var err error
	if p.filter.sql, err = r.sandbox.parseSQL(sub.ExpressionType, sub.SubString); err != nil {
		return r.fail(protocol.CodeFilterDataNotExist, "The broker's consumer filter data is not exist!Your expression may be wrong!")
	}
	return r.checkSQLAllowed(sub.ExpressionType)
}

// ownFilter takes the expression that the pull brings. A condition that cannot be read is not refused: everything is
// delivered, as a real broker does. CHECK_CLIENT_CONFIG is there to ask before.
func (r *request) ownFilter(p *pull) *protocol.Command {
	var err error
	if p.ExpressionType == "" || p.ExpressionType == protocol.ExpressionTag {
		if p.filter, err = parseTags(p.Subscription); err != nil {
			return r.failf(protocol.CodeSubscriptionParseFailed, "parse the consumer's subscription failed: %s", err)
		}
		return nil
	}
	if p.Subscription == "" {
		return r.fail(protocol.CodeSubscriptionParseFailed, "parse the consumer's subscription failed")
	}
	if p.filter.sql, err = r.sandbox.parseSQL(p.ExpressionType, p.Subscription); err != nil {
		p.filter = filter{all: true}
	}
	return r.checkSQLAllowed(p.ExpressionType)
}

// checkSQLAllowed is the answer of a broker with enablePropertyFilter=false to anything but tags.
func (r *request) checkSQLAllowed(kind string) *protocol.Command {
	if !r.sandbox.opt.NoPropertyFilter {
		return nil
	}
	return r.fail(protocol.CodeSystemError, "The broker does not support consumer to filter message by "+kind)
}
