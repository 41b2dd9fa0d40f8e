package sandbox

import "mqctl/internal/protocol"

// QUERY_CONSUMER_OFFSET (14): a group's stored offset. A group without one gets 0 on a queue whose first message is still
// there, whatever it wanted to start from, unless it says setZeroIfNotFound=false.
func handleQueryConsumerOffset(r *request) *protocol.Command {
	var h protocol.QueryConsumerOffsetRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	if offset, ok := b.committed(h.ConsumerGroup, h.Topic, h.QueueID); ok {
		return r.ok(&protocol.QueryConsumerOffsetResponse{Offset: offset}, nil)
	}
	strict := h.SetZeroIfNotFound != nil && !*h.SetZeroIfNotFound && b.sandbox.since(protocol.Version500)
	if q := b.queueOf(h.Topic, h.QueueID); q != nil && !strict && q.minOffset() == 0 && q.maxOffset() > 0 {
		return r.ok(&protocol.QueryConsumerOffsetResponse{Offset: 0}, nil)
	}
	return r.fail(protocol.CodeQueryNotFound, "Not found, maybe this group consumer boot first")
}
