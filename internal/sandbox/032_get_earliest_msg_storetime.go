package sandbox

import "mqctl/internal/protocol"

// GET_EARLIEST_MSG_STORETIME (32): when a queue's oldest message was stored, -1 without any.
func handleGetEarliestMsgStoreTime(r *request) *protocol.Command {
	var h protocol.GetEarliestMsgStoreTimeRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	resp := protocol.GetEarliestMsgStoreTimeResponse{Timestamp: -1}
	if q := r.broker.queueOf(h.Topic, h.QueueID); q != nil && q.entries.len() > 0 {
		resp.Timestamp = q.entries.at(q.minOffset()).storeTime
	}
	return r.ok(&resp, nil)
}
