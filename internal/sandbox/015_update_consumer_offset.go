package sandbox

import "mqctl/internal/protocol"

// UPDATE_CONSUMER_OFFSET (15): store a group's offset, whatever the number. Since 5.0.0 the topic has to exist.
func handleUpdateConsumerOffset(r *request) *protocol.Command {
	for _, name := range []string{"queueId", "commitOffset"} {
		if r.ext(name) == "" {
			return r.failf(r.sandbox.invalid(), "%s is null, topic is %s", name, r.ext("topic"))
		}
	}
	var h protocol.UpdateConsumerOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	if b.topics[h.Topic] == nil && b.sandbox.since(protocol.Version500) {
		return r.failf(protocol.CodeTopicNotExist, "Topic %s not exist!", h.Topic)
	}
	b.commit(h.ConsumerGroup, protocol.MessageQueue{Topic: h.Topic, BrokerName: b.name, QueueID: h.QueueID}, h.CommitOffset)
	return r.ok(nil, nil)
}
