package sandbox

import "mqctl/internal/protocol"

// DELETE_TOPIC_IN_NAMESRV (216): forgets a topic's route. While a broker still has the topic, the route comes back with
// its next registration, within 30 s.
func handleDeleteTopicInNamesrv(r *request) *protocol.Command {
	var h protocol.DeleteTopicInNamesrvRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if s := r.sandbox; s.route(h.Topic) != nil {
		s.names.deleted[h.Topic] = s.now()
	}
	return r.ok(nil, nil)
}
