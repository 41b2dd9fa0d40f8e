package sandbox

import "mqctl/internal/protocol"

// VIEW_MESSAGE_BY_ID (33): the message at a commit-log offset.
func handleViewMessageByID(r *request) *protocol.Command {
	var h protocol.ViewMessageByIDRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	record := r.broker.log.recordAt(h.Offset)
	if record == nil {
		return r.failf(protocol.CodeSystemError, "can not find message by the offset, %d", h.Offset)
	}
	return r.ok(nil, record)
}
