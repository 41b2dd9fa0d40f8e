package client_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// Messages of one batch that have had different numbers of attempts: the one that has had them all becomes one dead letter
// and does not come again with the others.
func TestOrderlyDeadLetterOfAMixedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, topic)[0]
		put(t, c, mq, "A")
		var in inbox
		var fail atomic.Bool
		fail.Store(true)
		h := func(_ context.Context, b *client.Batch) client.Result {
			in.add(b)
			if fail.Load() {
				return client.Later
			}
			return client.Success
		}
		p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
			cfg.Orderly, cfg.BatchSize, cfg.MaxReconsume, cfg.SuspendPause = true, 4, 1, 10*time.Second
		})
		testcluster.Eventually(t, time.Minute, "the first attempt", func() bool { return in.count() == 1 })
		put(t, c, mq, "B") // arrives while A waits for its second attempt
		testcluster.Eventually(t, time.Minute, "A's second attempt", func() bool { return in.count() == 3 })
		fail.Store(false)
		time.Sleep(time.Minute)
		closeNow(t, p)
		if got := in.all(); !slices.Equal(got, []string{"A", "A", "B", "B"}) {
			t.Errorf("handled %q", got)
		}
		letters, err := k.Sandbox().Messages(protocol.MessageQueue{Topic: protocol.DLQTopic(group), BrokerName: mq.BrokerName})
		if err != nil || len(letters) != 1 || string(letters[0].Body) != "A" {
			t.Errorf("%d dead letters, want one: %v", len(letters), err)
		}
		if at, _ := k.Sandbox().Offset(group, mq); at != 2 {
			t.Errorf("committed %d, want 2", at)
		}
	})
}

// A lock that was lost, used by somebody else and free again before its renewal: the renewal is granted, but what is cached
// is out of date.
func TestLockRegainedUnnoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 12)[0]
		l := watchCommits(k, mq)
		var in inbox
		consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
			in.add(b)
			if string(b.Messages[0].Body) == "2" {
				time.Sleep(25 * time.Second) // over a renewal
			}
			return client.Success
		}, func(cfg *client.ConsumerConfig) { cfg.Orderly = true })
		time.Sleep(10 * time.Second)
		s := k.Sandbox()
		for _, err := range []error{s.LoseLock(group, mq, "somebody@else"), s.SetOffset(group, mq, 9), s.LoseLock(group, mq, "")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		if got, want := in.all(), []string{"0", "1", "2", "9", "10", "11"}; !slices.Equal(got, want) {
			t.Errorf("handled %q, want %q: what the other member has done must not come again after the renewal", got, want)
		}
		if got := l.all(); !slices.IsSorted(got) || got[len(got)-1] != 12 {
			t.Errorf("commits %v", got)
		}
	})
}
