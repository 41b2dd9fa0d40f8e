package sandbox

import "mqctl/internal/protocol"

// GET_CONSUMER_RUNNING_INFO (307): the admin's question is put to the client, and the client's answer passed back.
func handleGetConsumerRunningInfo(r *request) *protocol.Command {
	var h protocol.GetConsumerRunningInfoRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	return r.callConsumer(h.ConsumerGroup, h.ClientID, r.Ext, r.Body)
}
