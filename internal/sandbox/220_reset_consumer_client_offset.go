package sandbox

import (
	"encoding/json"
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// RESET_CONSUMER_CLIENT_OFFSET (220): a broker without a reset of its own tells all members of a group where to go on. It
// stores nothing: to commit the offsets is the members' duty. The C++ client is told in a list.
func (b *broker) pushReset(g *consumerGroup, h *protocol.ResetConsumerClientOffsetRequest, table map[protocol.MessageQueue]int64, list bool) {
	body := (&protocol.ResetOffsetBody{OffsetTable: table}).Encode()
	if list {
		body = resetList(table)
	}
	for _, m := range g.members {
		b.push(m.peer, h, body)
	}
}

// resetList is Java's ResetOffsetBodyForC.
func resetList(table map[protocol.MessageQueue]int64) []byte {
	type entry struct {
		BrokerName string `json:"brokerName"`
		Offset     int64  `json:"offset"`
		QueueID    int32  `json:"queueId"`
		Topic      string `json:"topic"`
	}
	var list []entry
	for _, mq := range slices.SortedFunc(maps.Keys(table), protocol.CompareMessageQueues) {
		list = append(list, entry{mq.BrokerName, table[mq], mq.QueueID, mq.Topic})
	}
	body, err := json.Marshal(map[string][]entry{"offsetTable": list})
	if err != nil {
		panic(err) // there is nothing in it that could fail
	}
	return body
}

// PushReset has a broker tell all members of a group to go on at an offset of one of its queues (220). It stores nothing
// itself: that is how brokers without a reset of their own do it, and it is the members' duty to commit the offset.
func (s *Sandbox) PushReset(group string, mq protocol.MessageQueue, offset int64) error {
	return s.onQueue(mq, func(b *broker, _ *queue) {
		if g := b.consumers[group]; g != nil {
			h := &protocol.ResetConsumerClientOffsetRequest{Topic: mq.Topic, Group: group}
			b.pushReset(g, h, map[protocol.MessageQueue]int64{mq: offset}, false)
		}
	})
}
