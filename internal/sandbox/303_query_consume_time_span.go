package sandbox

import (
	"encoding/json"
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// QUERY_CONSUME_TIME_SPAN (303): the store times between which a group stands in each queue. Without progress the oldest
// message's counts as consumed.
func handleQueryConsumeTimeSpan(r *request) *protocol.Command {
	var h protocol.QueryConsumeTimeSpanRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	t := b.topics[h.Topic]
	if t == nil {
		return r.failf(protocol.CodeTopicNotExist, "topic[%s] not exist", h.Topic)
	}
	spans := make([]protocol.ConsumeTimeSpan, 0, t.WriteQueueNums)
	for id := range t.WriteQueueNums {
		spans = append(spans, b.timeSpan(h.Topic, id, h.Group))
	}
	if !b.sandbox.since(protocol.Version550) {
		return r.ok(nil, (&protocol.ConsumeTimeSpans{ConsumeTimeSpanSet: spans}).Encode())
	}
	return r.ok(nil, readableSpans(spans))
}

// readableSpans is the body as brokers since 5.5.0 write it: each time stands there a second time, as text.
func readableSpans(spans []protocol.ConsumeTimeSpan) []byte {
	type readable struct {
		protocol.ConsumeTimeSpan
		Consumed string `json:"consumeTimeStampStr"`
		Max      string `json:"maxTimeStampStr"`
		Min      string `json:"minTimeStampStr"`
	}
	list := make([]readable, len(spans))
	for i, s := range spans {
		list[i] = readable{s, javaTime(s.ConsumeTimestamp), javaTime(s.MaxTimestamp), javaTime(s.MinTimestamp)}
	}
	body, err := json.Marshal(map[string][]readable{"consumeTimeSpanSet": list})
	if err != nil {
		panic(err) // there is nothing in it that could fail
	}
	return body
}

// javaTime is a time in ms the way Java's UtilAll writes it, in the local zone.
func javaTime(ms int64) string {
	t := time.UnixMilli(ms)
	return fmt.Sprintf("%s:%03d", t.Format("2006-01-02#15:04:05"), t.Nanosecond()/1e6)
}

func (b *broker) timeSpan(topic string, id int32, group string) protocol.ConsumeTimeSpan {
	lo, hi := b.bounds(topic, id)
	q := b.queueOf(topic, id)
	at := func(offset int64) int64 {
		if q == nil || offset < lo || offset >= hi {
			return -1
		}
		return q.entries.at(offset).storeTime
	}
	committed, ok := b.committed(group, topic, id)
	if !ok {
		committed = -1
	}
	s := protocol.ConsumeTimeSpan{
		MessageQueue: protocol.MessageQueue{Topic: topic, BrokerName: b.name, QueueID: id}, MinTimestamp: at(lo), MaxTimestamp: at(hi - 1),
	}
	s.ConsumeTimestamp = s.MinTimestamp
	if committed > 0 {
		s.ConsumeTimestamp = at(committed - 1)
	}
	if committed < hi {
		s.DelayTime = b.sandbox.now().UnixMilli() - at(committed)
	}
	return s
}
