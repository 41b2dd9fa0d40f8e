package sandbox

import "mqctl/internal/protocol"

// GET_CONSUMER_CONNECTION_LIST (203): a group's members and subscriptions.
func handleGetConsumerConnectionList(r *request) *protocol.Command {
	var h protocol.GetConsumerConnectionListRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	g := r.broker.consumers[h.ConsumerGroup]
	if g == nil {
		return r.failf(protocol.CodeConsumerNotOnline, "the consumer group[%s] not online", h.ConsumerGroup)
	}
	body := protocol.ConsumerConnection{
		ConnectionSet: connections(g.members), ConsumeFromWhere: g.from, ConsumeType: g.kind, MessageModel: g.model,
		SubscriptionTable: map[string]protocol.SubscriptionData{},
	}
	for topic, sub := range g.subs {
		body.SubscriptionTable[topic] = *sub
	}
	return r.ok(nil, body.Encode())
}

func connections(members []*member) []protocol.Connection {
	list := make([]protocol.Connection, len(members))
	for i, m := range members {
		list[i] = protocol.Connection{
			ClientAddr: m.peer.addr.String(), ClientID: m.clientID,
			Language: m.lang.String(), Version: protocol.MQVersion(m.version),
		}
	}
	return list
}
