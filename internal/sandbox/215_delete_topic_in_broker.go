package sandbox

import "mqctl/internal/protocol"

// DELETE_TOPIC_IN_BROKER (215): forget a topic and its messages; an absent one is a success.
func handleDeleteTopicInBroker(r *request) *protocol.Command {
	var h protocol.DeleteTopicInBrokerRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if h.Topic == "" {
		return r.fail(r.sandbox.invalid(), "The specified topic is blank.")
	}
	if protocol.IsSystemTopic(h.Topic) {
		return r.failf(r.sandbox.invalid(), "The topic[%s] is conflict with system topic.", h.Topic)
	}
	r.broker.deleteTopic(h.Topic)
	return r.ok(nil, nil)
}
