package sandbox

import "mqctl/internal/protocol"

// DELETE_SUBSCRIPTIONGROUP (207): forget a consumer group; an absent one is a success. Its members stay connected.
func handleDeleteSubscriptionGroup(r *request) *protocol.Command {
	var h protocol.DeleteSubscriptionGroupRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	if b.groups[h.GroupName] != nil {
		delete(b.groups, h.GroupName)
		b.groupVer.next(b.sandbox.now())
		b.sandbox.writes.Groups++
	}
	if h.CleanOffset {
		b.forgetOffsets(h.GroupName)
	}
	return r.ok(nil, nil)
}
