package stats

import (
	"context"
	"sync/atomic"
	"time"
)

// Sampler takes snapshots of one source at intervals and fills in the rates between them. Sample and Run are for one
// goroutine, Latest for all.
type Sampler struct {
	take   func() Snapshot
	latest atomic.Pointer[Snapshot]
}

// NewSampler makes a sampler of a source, such as a client's Snapshot method.
func NewSampler(take func() Snapshot) *Sampler { return &Sampler{take: take} }

// Sample takes a snapshot now. Its rates are those since the snapshot before; the first one has none. The result must
// not be changed.
func (s *Sampler) Sample() *Snapshot {
	now := s.take()
	if before := s.latest.Load(); before != nil {
		now.AddRates(before)
	}
	s.latest.Store(&now)
	return &now
}

// Latest is the snapshot that was taken last, nil before the first.
func (s *Sampler) Latest() *Snapshot { return s.latest.Load() }

// Run samples at once and then at every interval until ctx ends, and hands each snapshot to each, unless that is nil.
// A tick that each has slept through is left out.
func (s *Sampler) Run(ctx context.Context, interval time.Duration, each func(*Snapshot)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		snapshot := s.Sample()
		if each != nil {
			each(snapshot)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// AddRates fills in the rates of s since an earlier snapshot of the same source. What is new since then, or was counted
// anew, has none.
func (s *Snapshot) AddRates(earlier *Snapshot) {
	elapsed := s.At.Sub(earlier.At)
	if elapsed <= 0 {
		return
	}
	consumers := map[string]*Consumer{}
	for i := range earlier.Consumers {
		consumers[earlier.Consumers[i].Group] = &earlier.Consumers[i]
	}
	for i := range s.Consumers {
		if before := consumers[s.Consumers[i].Group]; before != nil {
			s.Consumers[i].addRates(before, elapsed)
		}
	}
	producers := map[string]*Producer{}
	for i := range earlier.Producers {
		producers[earlier.Producers[i].Group] = &earlier.Producers[i]
	}
	for i := range s.Producers {
		if before := producers[s.Producers[i].Group]; before != nil {
			s.Producers[i].SentRate = rate(s.Producers[i].Sent-before.Sent, elapsed)
		}
	}
}

type queueKey struct {
	topic, broker string
	id            int32
}

// addRates adds the queues' rates up rather than comparing sums: a queue that was given away takes its count with it.
func (c *Consumer) addRates(before *Consumer, elapsed time.Duration) {
	queues := map[queueKey]*Queue{}
	for i := range before.Queues {
		q := &before.Queues[i]
		queues[queueKey{q.Topic, q.Broker, q.QueueID}] = q
	}
	var sum Rate
	for i := range c.Queues {
		q := &c.Queues[i]
		was := queues[queueKey{q.Topic, q.Broker, q.QueueID}]
		if was == nil {
			continue
		}
		q.ConsumedRate = rate(q.Consumed-was.Consumed, elapsed)
		if q.ConsumedRate != nil {
			sum += *q.ConsumedRate
		}
		if q.Epoch == was.Epoch && q.NextOffset != nil && was.NextOffset != nil {
			q.PullRate = rate(*q.NextOffset-*was.NextOffset, elapsed)
		}
		if q.BrokerMax != nil && was.BrokerMax != nil {
			q.InRate = rate(*q.BrokerMax-*was.BrokerMax, elapsed)
		}
	}
	c.ConsumedRate = &sum
}

// rate is n in elapsed as a number per second, nil when the count went back.
func rate(n int64, elapsed time.Duration) *Rate {
	if n < 0 {
		return nil
	}
	r := Rate(float64(n) / elapsed.Seconds())
	return &r
}
