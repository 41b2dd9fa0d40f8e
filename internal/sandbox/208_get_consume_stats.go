package sandbox

import (
	"slices"

	"mqctl/internal/protocol"
)

// GET_CONSUME_STATS (208): where a group stands in each queue of one topic, or of all topics it has offsets on. Unknown
// names give an empty table.
func handleGetConsumeStats(r *request) *protocol.Command {
	var h protocol.GetConsumeStatsRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	topics := []string{h.Topic}
	if h.Topic == "" {
		topics = b.topicsWithOffsets(h.ConsumerGroup)
	}
	stats := protocol.ConsumeStats{OffsetTable: map[protocol.MessageQueue]protocol.OffsetWrapper{}}
	for _, name := range slices.Compact(topics) {
		t := b.topics[name]
		if t == nil {
			continue
		}
		for id := range t.ReadQueueNums {
			stats.OffsetTable[protocol.MessageQueue{Topic: name, BrokerName: b.name, QueueID: id}] = b.progress(h.ConsumerGroup, name, id)
		}
	}
	return r.ok(nil, stats.Encode())
}

// progress is where a group stands in one queue. Nothing stored counts as offset 0.
func (b *broker) progress(group, topic string, id int32) protocol.OffsetWrapper {
	committed, _ := b.committed(group, topic, id)
	pulled, _ := b.offsets.pulled.get(offsetKey{topic, group}, id)
	w := protocol.OffsetWrapper{ConsumerOffset: max(committed, 0), PullOffset: pulled}
	q := b.queueOf(topic, id)
	if q == nil {
		return w
	}
	w.BrokerOffset = q.maxOffset()
	if last := w.ConsumerOffset - 1; last >= q.minOffset() && last < q.maxOffset() {
		w.LastTimestamp = q.entries.at(last).storeTime
	}
	return w
}
