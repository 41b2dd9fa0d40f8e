package sandbox

import "mqctl/internal/protocol"

// GET_TOPIC_STATS_INFO (202): the offsets of a topic's queues.
func handleGetTopicStatsInfo(r *request) *protocol.Command {
	var h protocol.GetTopicStatsInfoRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	t := b.topics[h.Topic]
	if t == nil {
		return r.failf(protocol.CodeTopicNotExist, "topic[%s] not exist", h.Topic)
	}
	n := t.queueCount()
	table := protocol.TopicStatsTable{OffsetTable: make(map[protocol.MessageQueue]protocol.TopicOffset, n)}
	for id := range n {
		mq := protocol.MessageQueue{Topic: h.Topic, BrokerName: b.name, QueueID: id}
		var of protocol.TopicOffset
		if q := b.queueOf(h.Topic, id); q != nil {
			of = protocol.TopicOffset{MinOffset: q.minOffset(), MaxOffset: q.maxOffset(), LastUpdateTimestamp: q.lastStoreTime()}
		}
		table.OffsetTable[mq] = of
	}
	return r.ok(nil, table.Encode())
}
