package sandbox

import "mqctl/internal/protocol"

// NOTIFY_CONSUMER_IDS_CHANGED (40): told to every member, the one that has just joined included, so that they divide the
// queues anew. Members of a broadcasting group have nothing to divide.
func (b *broker) notifyMembers(g *consumerGroup) {
	if cfg := b.groups[g.name]; g.model == protocol.Broadcasting || cfg != nil && !cfg.NotifyConsumerIDsChangedEnable {
		return
	}
	for _, m := range g.members {
		b.push(m.peer, &protocol.NotifyConsumerIDsChangedRequest{ConsumerGroup: g.name}, nil)
	}
}

// push sends a one-way request of the broker. Such requests have JSON headers whatever the client speaks.
func (b *broker) push(p *peer, h protocol.RequestHeader, body []byte) {
	cmd := protocol.NewRequest(h, body)
	cmd.Version = b.sandbox.opt.Version
	cmd.SetOneway()
	b.sandbox.send(p, cmd)
}
