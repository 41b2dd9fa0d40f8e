package sandbox

import "mqctl/internal/protocol"

// GET_PRODUCER_CONNECTION_LIST (204): a producer group's members; nobody there is an error.
func handleGetProducerConnectionList(r *request) *protocol.Command {
	var h protocol.GetProducerConnectionListRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	list := r.broker.producers[h.ProducerGroup]
	if len(list) == 0 {
		return r.failf(protocol.CodeSystemError, "the producer group[%s] not exist", h.ProducerGroup)
	}
	body := protocol.ProducerConnection{ConnectionSet: connections(list)}
	return r.ok(nil, body.Encode())
}
