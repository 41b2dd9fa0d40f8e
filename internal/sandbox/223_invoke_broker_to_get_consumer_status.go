package sandbox

import "mqctl/internal/protocol"

// INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223): asks the members of a group, or the named one, one after the other how far they
// have come. A member that does not answer is left out.
func handleInvokeBrokerToGetConsumerStatus(r *request) *protocol.Command {
	var h protocol.InvokeBrokerToGetConsumerStatusRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	g := r.broker.consumers[h.Group]
	if g == nil {
		return r.failf(protocol.CodeSystemError, "No Any Consumer online in the consumer group: [%s]", h.Group)
	}
	var asked []*member
	for _, m := range g.members {
		if h.ClientAddr == "" || h.ClientAddr == m.clientID {
			asked = append(asked, m)
		}
	}
	if h.ClientAddr != "" && len(asked) > 1 {
		asked = asked[:1]
	}
	r.collectStatus(&h, asked, protocol.ConsumerStatus{ConsumerTable: map[string]map[protocol.MessageQueue]int64{}})
	return nil
}

// collectStatus asks the first of the members that are left, and answers when none is.
func (r *request) collectStatus(h *protocol.InvokeBrokerToGetConsumerStatusRequest, left []*member, body protocol.ConsumerStatus) {
	if len(left) == 0 {
		r.sandbox.answer(r, r.ok(nil, body.Encode()))
		return
	}
	m := left[0]
	r.broker.askStatus(m, h.Topic, h.Group, func(status *protocol.ConsumerStatus) {
		if status != nil {
			body.ConsumerTable[m.clientID] = status.MessageQueueTable
		}
		r.collectStatus(h, left[1:], body)
	})
}
