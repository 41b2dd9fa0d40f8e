package sandbox

import "mqctl/internal/protocol"

// GET_ALL_TOPIC_CONFIG (21): every topic of this broker. It does not divide the answer into pages, which no client
// demands.
func handleGetAllTopicConfig(r *request) *protocol.Command {
	b := r.broker
	body := protocol.AllTopicConfig{DataVersion: b.topicVer.body(), TopicConfigTable: make(map[string]protocol.TopicConfig, len(b.topics))}
	for name, t := range b.topics {
		body.TopicConfigTable[name] = t.TopicConfig
	}
	n := int32(len(b.topics))
	return r.ok(&protocol.GetAllTopicConfigResponse{TotalTopicNum: &n}, body.Encode())
}
