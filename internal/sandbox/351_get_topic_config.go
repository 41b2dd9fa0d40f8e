package sandbox

import "mqctl/internal/protocol"

// GET_TOPIC_CONFIG (351): one topic of this broker.
func handleGetTopicConfig(r *request) *protocol.Command {
	var h protocol.GetTopicConfigRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	t := r.broker.topics[h.Topic]
	if t == nil {
		return r.failf(protocol.CodeTopicNotExist, "No topic in this broker. topic: %s", h.Topic)
	}
	return r.ok(nil, t.Encode())
}
