package sandbox

import "mqctl/internal/protocol"

// GET_ROUTEINFO_BY_TOPIC (105): where a topic's queues are. Requests of versions before 4.9.4 get broker ids as bare
// integers, unless they ask for standard JSON.
func handleGetRouteInfoByTopic(r *request) *protocol.Command {
	var h protocol.GetRouteInfoByTopicRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	route := r.sandbox.route(h.Topic)
	if route == nil {
		return r.fail(protocol.CodeTopicNotExist, "No topic route info in name server for the topic: "+h.Topic+faq)
	}
	if h.AcceptStandardJSONOnly || protocol.MQVersion(r.Version) >= protocol.Version494 {
		return r.ok(nil, route.Encode())
	}
	return r.ok(nil, route.EncodeBareKeys())
}
