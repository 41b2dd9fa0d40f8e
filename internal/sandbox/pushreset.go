package sandbox

import "mqctl/internal/protocol"

// PushReset has a broker tell all members of a group to go on at an offset of one of its queues (220). It stores nothing
// itself: that is how brokers without a reset of their own do it, and it is the members' duty to commit the offset.
func (s *Sandbox) PushReset(group string, mq protocol.MessageQueue, offset int64) error {
	return s.onQueue(mq, func(b *broker, _ *queue) {
		g := b.consumers[group]
		if g == nil {
			return
		}
		body := protocol.ResetOffsetBody{OffsetTable: map[protocol.MessageQueue]int64{mq: offset}}
		for _, m := range g.members {
			b.push(m.peer, &protocol.ResetConsumerClientOffsetRequest{Topic: mq.Topic, Group: group, IsForce: true}, body.Encode())
		}
	})
}
