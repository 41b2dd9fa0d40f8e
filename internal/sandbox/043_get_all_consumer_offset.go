package sandbox

import "mqctl/internal/protocol"

// GET_ALL_CONSUMER_OFFSET (43): every stored offset of the broker.
func handleGetAllConsumerOffset(r *request) *protocol.Command {
	b := r.broker
	all := protocol.AllConsumerOffset{
		DataVersion:     b.offsets.ver.body(),
		GroupTopicMap:   b.topicsByGroup(),
		OffsetTable:     b.offsets.stored.body(),
		PullOffsetTable: b.offsets.pulled.body(),
	}
	return r.ok(nil, all.Encode())
}
