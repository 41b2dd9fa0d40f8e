package sandbox

import (
	"fmt"
	"slices"

	"mqctl/internal/protocol"
)

// INVOKE_BROKER_TO_RESET_OFFSET (222): move a group's offsets. Since 5.2.0 a broker stores them, whether the group is online
// or not, and tells them to whoever pulls next; nobody is woken. Without that it pushes them to the members.
func handleInvokeBrokerToResetOffset(r *request) *protocol.Command {
	if r.ext("timestamp") == "" {
		cmd := *r.Command
		cmd.Ext = append(slices.Clone(cmd.Ext), protocol.ExtField{Key: "timestamp", Value: "0"})
		r.Command = &cmd
	}
	var h protocol.InvokeBrokerToResetOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if r.sandbox.resetsByItself() {
		return r.resetOffsets(&h)
	}
	return r.pushOffsets(&h)
}

// resetsByItself reports whether brokers keep a reset of offsets until they are pulled.
func (s *Sandbox) resetsByItself() bool { return !s.opt.NoServerSideReset && s.since(version520) }

// resetOffsets is the reset that the broker does by itself. Whether it is forced is of no interest to it.
func (r *request) resetOffsets(h *protocol.InvokeBrokerToResetOffsetRequest) *protocol.Command {
	b := r.broker
	t := b.topics[h.Topic]
	switch {
	case t == nil:
		return r.failf(protocol.CodeTopicNotExist, "Topic %s does not exist", h.Topic)
	case b.groups[h.Group] == nil:
		return r.failf(protocol.CodeSubscriptionGroupNotExist, "Group %s does not exist", h.Group)
	}
	targets := map[int32]int64{}
	if h.QueueID != nil && *h.QueueID >= 0 {
		target, remark := b.resetTarget(h)
		if remark != "" {
			return r.fail(protocol.CodeSystemError, remark)
		}
		targets[*h.QueueID] = target
	} else {
		for id := range t.ReadQueueNums { // an offset is not looked at here
			targets[id] = b.offsetAt(h.Topic, id, h.Timestamp)
		}
	}
	if len(targets) == 0 {
		return r.fail(protocol.CodeSystemError, "No queues to reset.")
	}
	body := protocol.ResetOffsetBody{OffsetTable: map[protocol.MessageQueue]int64{}}
	for id, target := range targets {
		mq := protocol.MessageQueue{Topic: h.Topic, BrokerName: b.name, QueueID: id}
		body.OffsetTable[mq] = target
		b.reset(h.Group, mq, target)
	}
	return r.ok(nil, body.Encode())
}

// resetTarget is where one queue is to go on, or what is wrong with that.
func (b *broker) resetTarget(h *protocol.InvokeBrokerToResetOffsetRequest) (target int64, remark string) {
	id := *h.QueueID
	if h.Offset == nil || *h.Offset == -1 {
		return b.offsetAt(h.Topic, id, h.Timestamp), ""
	}
	lo, hi := b.bounds(h.Topic, id)
	if *h.Offset < lo || *h.Offset > hi+1 {
		return 0, fmt.Sprintf("Target offset %d not in consume queue range [%d-%d]", *h.Offset, lo, hi)
	}
	return *h.Offset, ""
}

// reset stores a group's offset and keeps it for the next pull.
func (b *broker) reset(group string, mq protocol.MessageQueue, target int64) {
	if target < 0 {
		return
	}
	b.offsets.resets.set(offsetKey{mq.Topic, group}, mq.QueueID, target)
	b.commit(group, mq, target)
}

// bounds is a queue's minimum and maximum offset; both are 0 for one that does not exist.
func (b *broker) bounds(topic string, id int32) (lo, hi int64) {
	q := b.queueOf(topic, id)
	if q == nil {
		return 0, 0
	}
	return q.minOffset(), q.maxOffset()
}

// offsetAt is the offset at a time in ms, the maximum for a negative one.
func (b *broker) offsetAt(topic string, id int32, ms int64) int64 {
	q := b.queueOf(topic, id)
	switch {
	case q == nil:
		return 0
	case ms < 0:
		return q.maxOffset()
	}
	return q.searchTime(ms, false)
}

// pushOffsets is the reset that members have to do. All queues of the topic are moved, those that would move forward only
// when it is forced.
func (r *request) pushOffsets(h *protocol.InvokeBrokerToResetOffsetRequest) *protocol.Command {
	b := r.broker
	t := b.topics[h.Topic]
	if t == nil {
		code := protocol.CodeSystemError
		if b.sandbox.since(protocol.Version550) {
			code = protocol.CodeTopicNotExist
		}
		return r.fail(code, "[reset-offset] reset offset failed, no topic in this broker. topic="+h.Topic)
	}
	table := map[protocol.MessageQueue]int64{}
	for id := range t.WriteQueueNums {
		now, ok := b.committed(h.Group, h.Topic, id)
		if !ok || now == -1 {
			return r.failf(protocol.CodeSystemError, "THe consumer group <%s> not exist", h.Group)
		}
		target := b.offsetAt(h.Topic, id, h.Timestamp)
		if !h.IsForce {
			target = min(target, now)
		}
		table[protocol.MessageQueue{Topic: h.Topic, BrokerName: b.name, QueueID: id}] = target
	}
	g := b.consumers[h.Group]
	if g == nil {
		return r.failf(protocol.CodeConsumerNotOnline, "Consumer not online, so can not reset offset, Group: %s Topic: %s Timestamp: %d",
			h.Group, h.Topic, h.Timestamp)
	}
	push := &protocol.ResetConsumerClientOffsetRequest{Topic: h.Topic, Group: h.Group, Timestamp: h.Timestamp}
	if b.sandbox.since(version520) {
		all := int32(-1)
		push.QueueID = &all
	}
	b.pushReset(g, push, table, r.Language == protocol.LanguageCPP)
	body := protocol.ResetOffsetBody{OffsetTable: table}
	return r.ok(nil, body.Encode())
}
