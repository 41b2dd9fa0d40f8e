package sandbox

import "mqctl/internal/protocol"

// UPDATE_CONSUMER_OFFSET (15): store a group's offset, whatever the number. Since 5.0.0 the topic has to exist, since 5.5.0
// the group as well. While a reset waits to be pulled the offset is dropped, under a code that says success.
func handleUpdateConsumerOffset(r *request) *protocol.Command {
	b := r.broker
	topic, group := r.ext("topic"), r.ext("consumerGroup")
	switch {
	case group == "" || topic == "":
		return r.fail(protocol.CodeSystemError, "the custom field <consumerGroup> or <topic> is null")
	case b.groups[group] == nil && b.sandbox.since(protocol.Version550):
		return r.failf(protocol.CodeSubscriptionGroupNotExist, "Group %s not exist!", group)
	case b.topics[topic] == nil && b.sandbox.since(protocol.Version500):
		return r.failf(protocol.CodeTopicNotExist, "Topic %s not exist!", topic)
	}
	for _, name := range []string{"queueId", "commitOffset"} {
		if r.ext(name) == "" {
			return r.failf(b.sandbox.invalid(), "%s is null, topic is %s", name, topic)
		}
	}
	var h protocol.UpdateConsumerOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if _, pending := b.offsets.resets.get(offsetKey{h.Topic, h.ConsumerGroup}, h.QueueID); pending {
		return protocol.NewResponse(r.Command, protocol.CodeSuccess, "Offset has been previously reset", nil, nil)
	}
	b.commit(h.ConsumerGroup, protocol.MessageQueue{Topic: h.Topic, BrokerName: b.name, QueueID: h.QueueID}, h.CommitOffset)
	return r.ok(nil, nil)
}
