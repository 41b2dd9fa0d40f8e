package client

import (
	"sync"
	"time"

	"mqctl/internal/protocol"
)

// The windows of consumption rates, Java's ConsumerStatsManager: rates of the last minute, failures of the last hour.
const (
	rateWindow    = time.Minute
	failureWindow = time.Hour
)

// consumeStatus keeps samples of each topic's counters so that rates can be told for a window.
type consumeStatus struct {
	mu      sync.Mutex
	samples []statusSample         // oldest first
	gone    map[string]topicCounts // of queues that were given up, so that sums do not fall
}

type statusSample struct {
	at     time.Time
	topics map[string]topicCounts
}

// topicCounts are sums over the topic's queues.
type topicCounts struct {
	pulled, pulls, pullTime       int64 // messages, answers with messages, ns
	consumed, failed, consumeTime int64 // messages, messages, ns
}

func (c *topicCounts) add(q *assignedQueue) {
	c.pulled += q.pulled.Load()
	c.pulls += q.pullsFound.Load()
	c.pullTime += q.pullTime.Load()
	c.consumed += q.consumed.Load()
	c.failed += q.failed.Load()
	c.consumeTime += q.consumeTime.Load()
}

// retire keeps the counts of a queue that is given up.
func (s *consumeStatus) retire(q *assignedQueue) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone == nil {
		s.gone = map[string]topicCounts{}
	}
	c := s.gone[q.mq.Topic]
	c.add(q)
	s.gone[q.mq.Topic] = c
}

// sample notes the counters now: those of owned queues, to which the retired ones are added.
func (s *consumeStatus) sample(now time.Time, topics map[string]topicCounts) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for topic, c := range s.gone {
		topics[topic] = c.plus(topics[topic])
	}
	s.samples = append(s.samples, statusSample{now, topics})
	first := 0
	for first < len(s.samples)-1 && now.Sub(s.samples[first].at) > failureWindow {
		first++
	}
	s.samples = s.samples[first:]
}

// table is the status of each topic.
func (s *consumeStatus) table(now time.Time) map[string]protocol.ConsumeStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]protocol.ConsumeStatus{}
	if len(s.samples) == 0 {
		return out
	}
	last := s.samples[len(s.samples)-1]
	start := s.since(now.Add(-rateWindow))
	hour := s.since(now.Add(-failureWindow))
	for topic, c := range last.topics {
		seconds := max(last.at.Sub(start.at).Seconds(), 1)
		d := c.minus(start.topics[topic])
		out[topic] = protocol.ConsumeStatus{
			PullRT: ratio(float64(d.pullTime)/1e6, float64(d.pulls)), PullTPS: float64(d.pulled) / seconds,
			ConsumeRT: ratio(float64(d.consumeTime)/1e6, float64(d.consumed+d.failed)), ConsumeOKTPS: float64(d.consumed) / seconds,
			ConsumeFailedTPS: float64(d.failed) / seconds, ConsumeFailedMsgs: c.failed - hour.topics[topic].failed,
		}
	}
	return out
}

// since is the oldest sample that is not older than t.
func (s *consumeStatus) since(t time.Time) statusSample {
	for _, x := range s.samples {
		if !x.at.Before(t) {
			return x
		}
	}
	return s.samples[len(s.samples)-1]
}

func (c topicCounts) plus(o topicCounts) topicCounts { return c.minus(topicCounts{}.minus(o)) }

func (c topicCounts) minus(o topicCounts) topicCounts {
	return topicCounts{
		c.pulled - o.pulled, c.pulls - o.pulls, c.pullTime - o.pullTime, c.consumed - o.consumed, c.failed - o.failed,
		c.consumeTime - o.consumeTime,
	}
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
