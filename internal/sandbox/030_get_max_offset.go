package sandbox

import "mqctl/internal/protocol"

// GET_MAX_OFFSET (30): the offset of a queue's next message, 0 for an unknown topic.
func handleGetMaxOffset(r *request) *protocol.Command {
	var h protocol.GetMaxOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	var resp protocol.GetMaxOffsetResponse
	if q := r.broker.queueOf(h.Topic, h.QueueID); q != nil {
		resp.Offset = q.maxOffset()
	}
	return r.ok(&resp, nil)
}
