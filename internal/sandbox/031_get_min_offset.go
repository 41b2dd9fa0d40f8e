package sandbox

import "mqctl/internal/protocol"

// GET_MIN_OFFSET (31): the offset of a queue's oldest message.
func handleGetMinOffset(r *request) *protocol.Command {
	var h protocol.GetMinOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	var resp protocol.GetMinOffsetResponse
	if q := r.broker.queueOf(h.Topic, h.QueueID); q != nil {
		resp.Offset = q.minOffset()
	}
	return r.ok(&resp, nil)
}
