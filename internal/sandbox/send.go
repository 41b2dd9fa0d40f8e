package sandbox

import (
	"fmt"
	"strings"

	"mqctl/internal/protocol"
)

// Every answer to a send carries these two, errors included: Java's client reads them without looking whether they exist.
var sendExt = protocol.ExtFields{{Key: protocol.PropertyTraceOn, Value: "true"}, {Key: protocol.PropertyRegion, Value: region}}

// refusal is an answer other than success.
type refusal struct {
	code   protocol.ResponseCode
	remark string
	bare   bool // a real broker runs into an exception here, and its answer has no ext fields
}

// broken refuses what makes a real broker fail with an exception.
func (b *broker) broken(format string, args ...any) *refusal {
	return &refusal{code: protocol.CodeSystemError, remark: fmt.Sprintf(format, args...), bare: true}
}

func (b *broker) refuse(code protocol.ResponseCode, format string, args ...any) *refusal {
	return &refusal{code: code, remark: fmt.Sprintf(format, args...)}
}

// send answers all kinds of send.
func (r *request) send() *protocol.Command {
	h, err := readSendHeader(r.Ext)
	if err != nil {
		return r.sendFailed(r.broker.broken("%s", err))
	}
	t, no := r.broker.checkSend(r.Command, &h)
	if no != nil {
		return r.sendFailed(no)
	}
	if h.queueID < 0 {
		h.queueID = randomQueue(t.WriteQueueNums)
	}
	var resp *protocol.SendMessageResponse
	if h.batch || r.RequestCode() == protocol.SendBatchMessage {
		resp, no = r.storeBatch(&h)
	} else {
		resp, no = r.storeOne(&h)
	}
	if no != nil {
		return r.sendFailed(no)
	}
	answer := r.ok(resp, nil)
	answer.Ext = sendExt
	return answer
}

func (r *request) sendFailed(no *refusal) *protocol.Command {
	answer := r.fail(no.code, no.remark)
	if !no.bare {
		answer.Ext = sendExt
	}
	return answer
}

// checkSend is Java's msgCheck: it finds or creates the topic and judges the queue number. The topic's own permission is
// not looked at: that is left to producers.
func (b *broker) checkSend(cmd *protocol.Command, h *sendHeader) (*topic, *refusal) {
	t := b.topics[h.topic]
	if t == nil {
		if remark := badTopicName(h.topic); remark != "" {
			return nil, b.refuse(b.sandbox.invalid(), "%s", remark)
		}
	}
	if forbiddenToSend(h.topic) {
		return nil, b.refuse(protocol.CodeNoPermission, "Sending message to topic[%s] is forbidden.", h.topic)
	}
	if t == nil {
		if t = b.autoCreateTopic(h.topic, h.template, h.queues); t == nil {
			t = b.retryTopicFor(h.topic)
		}
	}
	if t == nil {
		return nil, b.refuse(protocol.CodeTopicNotExist, "topic[%s] not exist, apply first please!%s", h.topic, faq)
	}
	if h.queueID >= t.queueCount() {
		return nil, b.refuse(b.sandbox.invalid(), "request queueId[%d] is illegal, the topic %s has %d queues", h.queueID, h.topic, t.queueCount())
	}
	if len(cmd.Body) == 0 {
		return nil, b.broken("the message has no body")
	}
	return t, nil
}

// retryTopicFor creates a retry topic that somebody sends to.
func (b *broker) retryTopicFor(name string) *topic {
	if !protocol.IsRetryTopic(name) {
		return nil
	}
	return b.ensureTopic(name, 1)
}

// storeOne stores a single message.
func (r *request) storeOne(h *sendHeader) (*protocol.SendMessageResponse, *refusal) {
	b := r.broker
	asked := h.queueID
	f := readFacts(h.properties)
	if f.badDelay {
		return nil, b.broken("the delay level is no number")
	}
	if protocol.IsRetryTopic(h.topic) {
		if no := b.divertRetry(h, &f); no != nil {
			return nil, no
		}
	}
	m := r.incoming(h)
	m.Body = r.Body
	m.RawProperties = b.stamp(h.properties, &f)
	if no := b.checkStored(&m); no != nil {
		return nil, no
	}
	var q *queue
	if f.half && h.sysFlag&protocol.FlagTransRollback == protocol.FlagTransPrepared {
		q = b.putHalf(&m, &f)
	} else {
		q = b.put(&m, &f)
	}
	if q == nil {
		return nil, b.refuse(protocol.CodeSystemError, "topic[%s] has vanished", h.topic)
	}
	return &protocol.SendMessageResponse{
		MsgID: m.OffsetID(), QueueID: asked, QueueOffset: m.QueueOffset, TransactionID: f.unique,
	}, nil
}

// incoming is the message that a header describes, without body and properties.
func (r *request) incoming(h *sendHeader) protocol.MessageExt {
	return protocol.MessageExt{
		Topic: h.topic, QueueID: h.queueID, Flag: h.flag, SysFlag: h.sysFlag, BornTimestamp: h.born,
		BornHost: r.peer.addr, ReconsumeTimes: h.reconsume,
	}
}

// checkStored refuses what the store format or the limits cannot take.
func (b *broker) checkStored(m *protocol.MessageExt) *refusal {
	switch limit := b.sandbox.opt.MaxMessageSize; {
	case len(m.Body) > limit:
		return b.refuse(protocol.CodeMessageIllegal, "the message is illegal, its body has %d bytes and the limit is %d", len(m.Body), limit)
	case len(m.RawProperties) > protocol.MaxPropertiesSize:
		return b.refuse(protocol.CodeMessageIllegal, "the message is illegal, its properties have %d bytes and the limit is %d",
			len(m.RawProperties), protocol.MaxPropertiesSize)
	}
	return nil
}

// divertRetry handles a send to a retry topic, which clients do when CONSUMER_SEND_MSG_BACK failed: with its tries used
// up, or from a group that holds queue locks (an orderly one has tried enough by itself), the message becomes a dead letter
// without delay.
func (b *broker) divertRetry(h *sendHeader, f *facts) *refusal {
	group := strings.TrimPrefix(h.topic, protocol.RetryTopicPrefix)
	cfg := b.groupConfig(group)
	if cfg == nil {
		return b.refuse(protocol.CodeSubscriptionGroupNotExist, "subscription group not exist, %s %s", group, faq)
	}
	most := cfg.RetryMaxTimes
	if h.hasMax {
		most = h.maxReconsume
	}
	usedUp := h.reconsume > most
	if !b.sandbox.since(protocol.Version500) {
		usedUp = h.reconsume >= most
	} else if b.holdsLocks(group) {
		usedUp = true
	}
	if !usedUp {
		return nil
	}
	dead := b.ensureTopic(protocol.DLQTopic(group), 1)
	if dead == nil {
		return b.refuse(protocol.CodeSystemError, "topic[%s] not exist", protocol.DLQTopic(group))
	}
	p := protocol.ParseProperties([]byte(h.properties))
	p.Set(protocol.PropertyDelayLevel, "-1")
	h.properties = p.String()
	h.topic, h.queueID, f.delay = dead.TopicName, 0, 0
	return nil
}

// storeBatch stores the parts of a batch as messages of their own. They get none of what stamp adds, and no unique id.
func (r *request) storeBatch(h *sendHeader) (*protocol.SendMessageResponse, *refusal) {
	b := r.broker
	if no := r.checkBatch(h); no != nil {
		return nil, no
	}
	parts, err := protocol.DecodeBatch(r.Body)
	if err != nil {
		return nil, b.broken("%s", err)
	}
	f := readFacts(h.properties)
	resp := &protocol.SendMessageResponse{QueueID: h.queueID, TransactionID: f.unique}
	ids := make([]string, len(parts))
	for i, p := range parts {
		m := r.incoming(h)
		m.Flag, m.Body, m.RawProperties = p.Flag, p.Body, p.RawProperties
		pf := readFacts(string(p.RawProperties))
		pf.delay = 0
		if b.put(&m, &pf) == nil {
			return nil, b.refuse(protocol.CodeSystemError, "topic[%s] has vanished", h.topic)
		}
		ids[i] = m.OffsetID()
		if i == 0 {
			resp.QueueOffset = m.QueueOffset
		}
	}
	resp.MsgID = strings.Join(ids, ",")
	return resp, nil
}

// checkBatch refuses what may not be sent in a batch.
func (r *request) checkBatch(h *sendHeader) *refusal {
	f := readFacts(h.properties)
	switch limit := r.broker.sandbox.opt.MaxMessageSize; {
	case protocol.IsRetryTopic(h.topic):
		return r.broker.refuse(protocol.CodeMessageIllegal, "batch request does not support retry group %s", h.topic)
	case f.delay > 0 || h.sysFlag&protocol.FlagTransRollback != 0:
		return r.broker.refuse(protocol.CodeMessageIllegal, "the message is illegal, a batch can be neither delayed nor transactional")
	case len(r.Body) > limit:
		return r.broker.refuse(protocol.CodeMessageIllegal, "the message is illegal, the batch has %d bytes and the limit is %d", len(r.Body), limit)
	}
	return nil
}
