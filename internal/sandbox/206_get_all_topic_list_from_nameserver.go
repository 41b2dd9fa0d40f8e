package sandbox

import "mqctl/internal/protocol"

// GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206): every topic with a route, system topics included.
func handleGetAllTopicListFromNameServer(r *request) *protocol.Command {
	list := protocol.TopicList{TopicList: r.sandbox.routedTopics()}
	return r.ok(nil, list.Encode())
}
