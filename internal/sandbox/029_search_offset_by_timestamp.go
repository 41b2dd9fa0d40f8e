package sandbox

import (
	"strings"

	"mqctl/internal/protocol"
)

// SEARCH_OFFSET_BY_TIMESTAMP (29): the offset at a store time. Releases before 5.1.4 know the lower boundary only.
func handleSearchOffsetByTimestamp(r *request) *protocol.Command {
	var h protocol.SearchOffsetByTimestampRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	var resp protocol.SearchOffsetByTimestampResponse
	if q := r.broker.queueOf(h.Topic, h.QueueID); q != nil {
		upper := strings.EqualFold(h.BoundaryType, protocol.BoundaryUpper) && r.sandbox.since(version514)
		resp.Offset = q.searchTime(h.Timestamp, upper)
	}
	return r.ok(&resp, nil)
}
