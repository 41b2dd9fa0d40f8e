package sandbox

import "mqctl/internal/protocol"

// UNREGISTER_CLIENT (35): takes this connection out of a producer and a consumer group.
func handleUnregisterClient(r *request) *protocol.Command {
	var h protocol.UnregisterClientRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	if h.ProducerGroup != "" {
		b.setProducers(h.ProducerGroup, b.without(b.producers[h.ProducerGroup], r.peer))
	}
	if h.ConsumerGroup != "" {
		b.leaveConsumers(b.consumers[h.ConsumerGroup], r.peer)
	}
	return r.ok(nil, nil)
}
