package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// TopicOffsets is what the queues of a topic hold.
type TopicOffsets struct {
	Topic    string         `json:"topic"`
	Messages *int64         `json:"messages"` // of the queues that are known; nil when none is
	Unknown  int            `json:"unknown"`  // queues that are not in Messages
	Queues   []QueueOffsets `json:"queues"`
	Partial  bool           `json:"partial"` // Unknown is not zero
	Failures []error        `json:"-"`       // the causes behind the rows' Error, each once
}

// QueueOffsets is a row of TopicOffsets. What could not be read is nil, and Error says why.
type QueueOffsets struct {
	Broker     string     `json:"broker" col:"BROKER"`
	QueueID    int32      `json:"queue_id" col:"QUEUE"`
	Min        *int64     `json:"min" col:"MIN"`
	Max        *int64     `json:"max" col:"MAX"` // offset of the next message
	Messages   *int64     `json:"messages" col:"MESSAGES" unit:"count"`
	LastStored *time.Time `json:"last_stored" col:"LAST STORED" none:"-"` // nil also for a queue that never had a message
	Note       string     `json:"note" col:"NOTE"`
	Error      string     `json:"error" col:"ERROR"`
}

// queueRange is what a broker says of one queue. Negative offsets, as of queues that never were, count as 0.
type queueRange struct {
	min, max   int64
	lastStored int64 // ms, 0 when unknown
	err        error
}

func newRange(minOffset, maxOffset, lastStored int64) queueRange {
	r := queueRange{min: max(minOffset, 0), max: max(maxOffset, 0), lastStored: lastStored}
	r.max = max(r.min, r.max)
	return r
}

// stored is lastStored as a time, nil when it is unknown.
func (r queueRange) stored() *time.Time {
	if r.lastStored <= 0 {
		return nil
	}
	t := time.UnixMilli(r.lastStored)
	return &t
}

// TopicOffsets reads the offsets of all queues of a topic, whether they may be read or not: 202 at each broker, or 30 and
// 31 where that fails. An unknown topic is client.ErrTopicNotFound.
func (a *Admin) TopicOffsets(ctx context.Context, topic string) (*TopicOffsets, error) {
	route, err := a.fetchRoute(ctx, topic)
	if err != nil {
		return nil, err
	}
	byBroker := queuesByBroker(allQueues(route))
	parts := make([][]QueueOffsets, len(byBroker))
	errs := make([][]error, len(byBroker))
	spread(0, byBroker, func(i int, mqs []protocol.MessageQueue) {
		b := routeReader(route, mqs[0].BrokerName)
		for j, r := range a.ranges(ctx, b, mqs) {
			row := QueueOffsets{Broker: mqs[j].BrokerName, QueueID: mqs[j].QueueID, Note: b.note()}
			if errs[i] = append(errs[i], r.err); r.err != nil {
				row.Error = r.err.Error()
			} else {
				n := r.max - r.min
				row.Min, row.Max, row.Messages, row.LastStored = &r.min, &r.max, &n, r.stored()
			}
			parts[i] = append(parts[i], row)
		}
	})
	result := &TopicOffsets{Topic: topic, Queues: append([]QueueOffsets{}, slices.Concat(parts...)...)}
	var failed failures
	var messages sum
	for i, err := range slices.Concat(errs...) {
		if err != nil {
			failed.add(err)
			result.Unknown++
			continue
		}
		messages.add(*result.Queues[i].Messages)
	}
	result.Messages, result.Failures, result.Partial = messages.value(), failed.errs, result.Unknown > 0
	return result, nil
}

// allQueues is every queue of a route, also those that may not be read.
func allQueues(r *client.TopicRoute) []protocol.MessageQueue {
	var list []protocol.MessageQueue
	for _, q := range queueDatas(r) {
		list = appendQueues(list, r.Topic, q.BrokerName, max(q.ReadQueueNums, q.WriteQueueNums))
	}
	return list
}

// readQueues is every queue of a route that consumers read from, also where no address is known.
func readQueues(r *client.TopicRoute) []protocol.MessageQueue {
	var list []protocol.MessageQueue
	for _, q := range queueDatas(r) {
		if q.Perm&protocol.PermRead != 0 {
			list = appendQueues(list, r.Topic, q.BrokerName, q.ReadQueueNums)
		}
	}
	return list
}

func appendQueues(list []protocol.MessageQueue, topic, broker string, n int32) []protocol.MessageQueue {
	for id := range min(n, maxQueues) {
		list = append(list, protocol.MessageQueue{Topic: topic, BrokerName: broker, QueueID: id})
	}
	return list
}

// queuesByBroker divides queues by broker name, keeping their order in each part.
func queuesByBroker(queues []protocol.MessageQueue) [][]protocol.MessageQueue {
	queues = slices.Clone(queues)
	slices.SortStableFunc(queues, func(a, b protocol.MessageQueue) int { return cmp.Compare(a.BrokerName, b.BrokerName) })
	return slices.Collect(chunksBy(queues, func(q protocol.MessageQueue) string { return q.BrokerName }))
}

// chunksBy yields the runs of items with equal keys.
func chunksBy[T any](items []T, key func(T) string) func(yield func([]T) bool) {
	return func(yield func([]T) bool) {
		for start := 0; start < len(items); {
			end := start + 1
			for end < len(items) && key(items[end]) == key(items[start]) {
				end++
			}
			if !yield(items[start:end:end]) {
				return
			}
			start = end
		}
	}
}

func routeReader(r *client.TopicRoute, name string) *broker { return reader(name, r.Brokers[name]) }

// ranges asks b for the ranges of queues, which are all its own; one result for each.
func (a *Admin) ranges(ctx context.Context, b *broker, queues []protocol.MessageQueue) []queueRange {
	topics := slices.Collect(chunksBy(queues, func(q protocol.MessageQueue) string { return q.Topic }))
	parts := make([][]queueRange, len(topics))
	spread(perBroker, topics, func(i int, mqs []protocol.MessageQueue) { parts[i] = a.topicRanges(ctx, b, mqs) })
	return slices.Concat(parts...)
}

// topicRanges is ranges for queues of one topic. A broker that cannot answer for the topic, or leaves out queues, is
// asked for each queue. That it does not have the topic is final: it would answer 0 for any queue.
func (a *Admin) topicRanges(ctx context.Context, b *broker, queues []protocol.MessageQueue) []queueRange {
	out := make([]queueRange, len(queues))
	var known map[protocol.MessageQueue]protocol.TopicOffset
	stats, err := a.topicStats(ctx, b, queues[0].Topic)
	switch {
	case err == nil:
		known = stats.OffsetTable
	case !isCode(err, protocol.CodeRequestCodeNotSupported) && !isCode(err, protocol.CodeSystemError) && !errors.Is(err, protocol.ErrBadBody):
		for i := range out {
			out[i].err = err
		}
		return out
	}
	spread(perBroker, queues, func(i int, mq protocol.MessageQueue) {
		if o, ok := known[mq]; ok {
			out[i] = newRange(o.MinOffset, o.MaxOffset, o.LastUpdateTimestamp)
			return
		}
		out[i] = a.queueRange(ctx, b, mq)
	})
	return out
}

// topicStats asks GET_TOPIC_STATS_INFO (202).
func (a *Admin) topicStats(ctx context.Context, b *broker, topic string) (*protocol.TopicStatsTable, error) {
	resp, err := a.ask(ctx, b, &protocol.GetTopicStatsInfoRequest{Topic: topic}, nil, nil)
	if err != nil {
		return nil, err
	}
	stats, err := protocol.DecodeTopicStatsTable(resp.Body)
	if err != nil {
		return nil, b.malformed(protocol.GetTopicStatsInfo, err)
	}
	return stats, nil
}

// queueRange asks for the two ends of one queue (31 and 30). The minimum is asked first: the two are not read at one
// instant, and so it cannot pass the maximum.
func (a *Admin) queueRange(ctx context.Context, b *broker, mq protocol.MessageQueue) queueRange {
	var lowest protocol.GetMinOffsetResponse
	if _, err := a.ask(ctx, b, &protocol.GetMinOffsetRequest{Topic: mq.Topic, QueueID: mq.QueueID}, nil, &lowest); err != nil {
		return queueRange{err: fmt.Errorf("minimum offset of %s: %w", mq, err)}
	}
	var highest protocol.GetMaxOffsetResponse
	if _, err := a.ask(ctx, b, &protocol.GetMaxOffsetRequest{Topic: mq.Topic, QueueID: mq.QueueID}, nil, &highest); err != nil {
		return queueRange{err: fmt.Errorf("maximum offset of %s: %w", mq, err)}
	}
	return newRange(lowest.Offset, highest.Offset, 0)
}

// sum adds counts exactly; it is unknown when it was given none, or more than an int64 holds.
type sum struct {
	n         int64
	any, over bool
}

// add takes a count, which is not negative.
func (s *sum) add(n int64) {
	s.any = true
	if s.over = s.over || n > math.MaxInt64-s.n; !s.over {
		s.n += n
	}
}

func (s *sum) value() *int64 {
	if !s.any || s.over {
		return nil
	}
	return &s.n
}
