package sandbox

import "mqctl/internal/protocol"

// GET_CONSUMER_LIST_BY_GROUP (38): the members of a group; nobody there is an error.
func handleGetConsumerListByGroup(r *request) *protocol.Command {
	var h protocol.GetConsumerListByGroupRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	g := r.broker.consumers[h.ConsumerGroup]
	if g == nil {
		return r.fail(protocol.CodeSystemError, "no consumer for this group, "+h.ConsumerGroup)
	}
	list := protocol.ConsumerList{}
	for _, m := range g.members {
		list.ConsumerIDList = append(list.ConsumerIDList, m.clientID)
	}
	return r.ok(nil, list.Encode())
}
