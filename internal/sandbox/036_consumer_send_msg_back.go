package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// retryLevelBase is the delay level of a message's first retry, unless its consumer names one.
const retryLevelBase = 3

// CONSUMER_SEND_MSG_BACK (36): a copy of a message that was not consumed goes to the group's retry topic by way of the
// schedule topic, or to its dead letters when it has been tried often enough or the delay level is negative.
func handleConsumerSendMsgBack(r *request) *protocol.Command {
	var h protocol.ConsumerSendMsgBackRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	cfg := b.groupConfig(h.Group)
	if cfg == nil {
		return r.failf(protocol.CodeSubscriptionGroupNotExist, "subscription group not exist, %s %s", h.Group, faq)
	}
	if cfg.RetryQueueNums <= 0 {
		return r.ok(nil, nil) // the message is dropped
	}
	m := b.message(h.Offset)
	if m == nil {
		return r.failf(protocol.CodeSystemError, "look message by offset failed, %d", h.Offset)
	}
	most := cfg.RetryMaxTimes
	if h.MaxReconsumeTimes != nil {
		most = *h.MaxReconsumeTimes
	}
	if m.ReconsumeTimes >= most || h.DelayLevel < 0 {
		if h.OriginTopic == "" && b.sandbox.since(protocol.Version550) {
			// Only here does a broker need to know the topic, and fails on null without it.
			return r.fail(protocol.CodeSystemError, "the request does not name the message's topic, which dead letters need")
		}
		return r.sendBack(m, protocol.DLQTopic(h.Group), 1, 0)
	}
	level := int(h.DelayLevel)
	if level == 0 {
		level = retryLevelBase + int(m.ReconsumeTimes)
	}
	return r.sendBack(m, protocol.RetryTopic(h.Group), cfg.RetryQueueNums, level)
}

// sendBack stores m anew in a topic of its group. Born data and body stay; the copy remembers where the first one stood.
func (r *request) sendBack(m *protocol.MessageExt, topic string, queues int32, level int) *protocol.Command {
	b := r.broker
	t := b.ensureTopic(topic, queues)
	switch {
	case t == nil:
		return r.failf(protocol.CodeSystemError, "topic[%s] not exist", topic)
	case t.Perm&protocol.PermWrite == 0:
		return r.failf(protocol.CodeNoPermission, "the topic[%s] sending message is forbidden", topic)
	}
	origin, offset := protocol.MessageQueue{Topic: m.Topic, BrokerName: b.name, QueueID: m.QueueID}, m.QueueOffset
	p := m.Properties()
	if _, ok := p.Get(protocol.PropertyRetryTopic); !ok {
		p.Set(protocol.PropertyRetryTopic, m.Topic)
	}
	if _, ok := p.Get(protocol.PropertyOriginMessageID); !ok {
		p.Set(protocol.PropertyOriginMessageID, m.OffsetID())
	}
	p.Set(protocol.PropertyWait, "false")
	p.Set(protocol.PropertyDelayLevel, strconv.Itoa(level))
	m.RawProperties = p.AppendTo(nil)
	m.Topic, m.QueueID = topic, randomQueue(t.WriteQueueNums)
	m.ReconsumeTimes++
	if no := b.checkStored(m); no != nil {
		return r.fail(no.code, no.remark)
	}
	f := readFacts(string(m.RawProperties))
	if b.put(m, &f) == nil {
		return r.failf(protocol.CodeSystemError, "topic[%s] has vanished", topic)
	}
	b.tell(Change{Kind: SentBack, Queue: origin, Offset: offset, Group: r.ext("group"), Message: m})
	return r.ok(nil, nil)
}
