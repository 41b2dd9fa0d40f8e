package stats

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// at makes a snapshot of one consumer and one producer.
func at(t time.Time, sent int64, queues ...Queue) Snapshot {
	c := Consumer{Group: "g"}
	for _, q := range queues {
		c.Add(q)
	}
	return Snapshot{At: t, Consumers: []Consumer{c}, Producers: []Producer{{Group: "p", Sent: sent}}}
}

func TestRatesBetweenTwoSnapshots(t *testing.T) {
	start := time.Unix(1000, 0)
	before := at(start, 100,
		Queue{Topic: "t", Broker: "a", QueueID: 0, Epoch: 1, Consumed: 10, NextOffset: ptr(int64(50)), BrokerMax: ptr(int64(60))},
		Queue{Topic: "t", Broker: "a", QueueID: 1, Epoch: 1, Consumed: 90, NextOffset: ptr(int64(5))},
		Queue{Topic: "t", Broker: "b", QueueID: 0, Epoch: 1, Consumed: 7})
	now := at(start.Add(2*time.Second), 150,
		Queue{Topic: "t", Broker: "a", QueueID: 0, Epoch: 1, Consumed: 30, NextOffset: ptr(int64(90)), BrokerMax: ptr(int64(70))},
		Queue{Topic: "t", Broker: "a", QueueID: 1, Epoch: 2, Consumed: 3, NextOffset: ptr(int64(9)), BrokerMax: ptr(int64(9))},
		Queue{Topic: "t", Broker: "c", QueueID: 0, Epoch: 1, Consumed: 8})
	now.AddRates(&before)
	type rates struct{ Consumed, Pull, In *Rate }
	var got []rates
	for _, q := range now.Consumers[0].Queues {
		got = append(got, rates{q.ConsumedRate, q.PullRate, q.InRate})
	}
	want := []rates{
		{ptr(Rate(10)), ptr(Rate(20)), ptr(Rate(5))},
		{},
		{},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := now.Consumers[0].ConsumedRate; got == nil || *got != 10 {
		t.Errorf("the consumer's rate is %v, want 10", got)
	}
	if got := now.Producers[0].SentRate; got == nil || *got != 25 {
		t.Errorf("the producer's rate is %v, want 25", got)
	}
}

func TestNoRateWithoutTimeOrCounterpart(t *testing.T) {
	start := time.Unix(1000, 0)
	before, now := at(start, 1, Queue{Topic: "t"}), at(start, 2, Queue{Topic: "t", Consumed: 5})
	now.AddRates(&before)
	if now.Producers[0].SentRate != nil || now.Consumers[0].ConsumedRate != nil {
		t.Error("a rate over no time")
	}
	other := Snapshot{At: start.Add(time.Second), Consumers: []Consumer{{Group: "new"}}, Producers: []Producer{{Group: "new", Sent: 9}}}
	other.AddRates(&before)
	if other.Producers[0].SentRate != nil || other.Consumers[0].ConsumedRate != nil {
		t.Error("a rate of what is new")
	}
}

func TestSamplerKeepsTheLatest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := int64(0)
		s := NewSampler(func() Snapshot { sent += 10; return at(time.Now(), sent) })
		if s.Latest() != nil {
			t.Error("a snapshot before the first")
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond)
		defer cancel()
		var rates []*Rate
		s.Run(ctx, time.Second, func(x *Snapshot) { rates = append(rates, x.Producers[0].SentRate) })
		if diff := cmp.Diff([]*Rate{nil, ptr(Rate(10)), ptr(Rate(10))}, rates); diff != "" {
			t.Error(diff)
		}
		if got := s.Latest(); got == nil || got.Producers[0].Sent != 30 {
			t.Errorf("latest %+v", got)
		}
		s.Run(ctx, time.Second, nil) // over at once, but not without a sample
		if got := s.Latest().Producers[0].Sent; got != 40 {
			t.Errorf("after the end: %d", got)
		}
	})
}
