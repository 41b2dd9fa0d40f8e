package sandbox

import "mqctl/internal/protocol"

// GET_TOPICS_BY_CLUSTER (224): the topics with queues in a cluster; none for an unknown one.
func handleGetTopicsByCluster(r *request) *protocol.Command {
	var h protocol.GetTopicsByClusterRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	var list protocol.TopicList
	if h.Cluster == r.sandbox.cluster {
		list.TopicList = r.sandbox.routedTopics()
	}
	return r.ok(nil, list.Encode())
}
