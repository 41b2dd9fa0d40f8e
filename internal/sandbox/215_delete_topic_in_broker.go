package sandbox

import "mqctl/internal/protocol"

// DELETE_TOPIC_IN_BROKER (215): forget a topic and its messages; an absent one is a success.
func handleDeleteTopicInBroker(r *request) *protocol.Command {
	topic := r.ext("topic")
	if topic == "" {
		return r.fail(r.sandbox.invalid(), "The specified topic is blank.")
	}
	if protocol.IsSystemTopic(topic) {
		return r.failf(r.sandbox.invalid(), "The topic[%s] is conflict with system topic.", topic)
	}
	r.broker.deleteTopic(topic)
	return r.ok(nil, nil)
}
