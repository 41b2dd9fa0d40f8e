package sandbox

import "mqctl/internal/protocol"

// GET_ALL_CONSUMER_OFFSET (43): every stored offset of the broker.
func handleGetAllConsumerOffset(r *request) *protocol.Command {
	b := r.broker
	all := protocol.AllConsumerOffset{
		DataVersion:     b.offsetVer.body(),
		GroupTopicMap:   b.topicsByGroup(),
		OffsetTable:     offsetTable(b.offsets),
		PullOffsetTable: offsetTable(b.pulled),
	}
	return r.ok(nil, all.Encode())
}
