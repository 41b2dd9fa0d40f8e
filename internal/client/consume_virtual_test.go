package client_test

import (
	"context"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// One handler that never returns: pulling stops at the span limit, looks again at a steady pace, shows what it waits for,
// and after the consume timeout the message goes back and the queue moves on.
func TestC12_StuckMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 5000)[0]
		stuck := make(chan struct{})
		var in inbox
		var attempts atomic.Int64
		p := consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
			if string(b.Messages[0].Body) == "0" && attempts.Add(1) == 1 {
				<-stuck
				return client.Success
			}
			return in.handle(ctx, b)
		})
		defer close(stuck)
		time.Sleep(time.Minute)
		before, pulls := queueOf(t, c, mq), k.Sandbox().Counts()[protocol.PullMessage]
		time.Sleep(time.Minute)
		q := queueOf(t, c, mq)
		if got := q.Hits.Span - before.Hits.Span; got < 1195 || got > 1205 {
			t.Errorf("%d refusals a minute, want 20 a second", got)
		}
		if got := k.Sandbox().Counts()[protocol.PullMessage] - pulls; got > 8 { // the retry topic's long polls
			t.Errorf("%d pulls while held back", got)
		}
		if q.Last != "span" || *q.Committed != 0 || *q.OldestOffset != 0 || *q.OldestAge < 2*time.Minute || q.Span > 2000+32 {
			t.Errorf("shown: held by %s, committed %d, oldest %d of %s, span %d", q.Last, *q.Committed, *q.OldestOffset, *q.OldestAge, q.Span)
		}
		time.Sleep(16 * time.Minute) // the timeout of 15, looked at each minute, and the retry after 10 s
		testcluster.Eventually(t, time.Minute, "all 5000 messages", func() bool { return in.count() == 5000 })
		if got := k.Sandbox().Counts()[protocol.ConsumerSendMsgBack]; got != 1 {
			t.Errorf("%d send-backs, want 1", got)
		}
		if got := queueOf(t, c, mq); *got.Consumable != 5000 {
			t.Errorf("the commit stands at %d", *got.Consumable)
		}
		_ = p
	})
}

// The limits per topic are divided over the queues owned, and divided anew when queues come and go.
func TestLimitsPerTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(4), k.Group()
		limit := func(cfg *client.ConsumerConfig) { cfg.MaxCachedCountTopic, cfg.MaxCachedMiBTopic = 100, 2 }
		c := k.Client()
		consume(t, c, group, topic, (&inbox{}).handle, limit)
		limits := func() (counts []int64, bytes int64) {
			for _, q := range c.Snapshot().Consumers[0].Queues {
				if q.Topic == topic {
					counts = append(counts, q.Limits.Count)
					bytes = q.Limits.Bytes
				}
			}
			return counts, bytes
		}
		time.Sleep(5 * time.Second)
		if got, bytes := limits(); !slices.Equal(got, []int64{25, 25, 25, 25}) || bytes != 1<<20 {
			t.Errorf("4 queues: %v and %d bytes, want 25 each and 1 MiB, the least", got, bytes)
		}
		consume(t, k.Client(), group, topic, (&inbox{}).handle, limit)
		time.Sleep(5 * time.Second)
		if got, _ := limits(); !slices.Equal(got, []int64{50, 50}) {
			t.Errorf("2 queues: %v, want 50 each", got)
		}
	})
}

// The pool grows and shrinks while handlers run; running ones finish.
func TestResizeWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		fill(t, c, topic, 200)
		var running, most atomic.Int64
		p := consume(t, c, group, topic, func(context.Context, *client.Batch) client.Result {
			n := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Second)
			return client.Success
		}, func(cfg *client.ConsumerConfig) { cfg.Workers = 2 })
		for _, n := range []int{2, 10, 3, 1} {
			if err := p.SetWorkers(n); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2500 * time.Millisecond)
			most.Store(0)
			time.Sleep(5 * time.Second)
			if got := most.Load(); got != int64(n) {
				t.Errorf("%d handlers at once with a pool of %d", got, n)
			}
		}
		if err := p.SetWorkers(0); err == nil {
			t.Error("a pool of 0 was taken")
		}
	})
}

// A handler that panics has failed; the member goes on.
func TestHandlerPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		fill(t, c, topic, 5)
		var in inbox
		var panics atomic.Int64
		consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
			if string(b.Messages[0].Body) == "2" && panics.Add(1) == 1 {
				panic("boom")
			}
			return in.handle(ctx, b)
		})
		testcluster.Eventually(t, 30*time.Second, "the message to come again", func() bool { return in.count() == 5 })
		if panics.Load() != 2 {
			t.Errorf("%d attempts", panics.Load())
		}
		in.wantOnce(t, 5)
	})
}

// With a lowered Acked the rest of a batch goes back.
func TestPartOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		var in inbox
		consume(t, c, group, topic, func(_ context.Context, b *client.Batch) client.Result {
			in.add(b)
			if !protocol.IsRetryTopic(b.Queue.Topic) {
				b.Acked = len(b.Messages) - 1
				b.DelayLevel = 1
			}
			return client.Success
		}, func(cfg *client.ConsumerConfig) { cfg.BatchSize = 5 })
		testcluster.Eventually(t, 30*time.Second, "the rests to come again", func() bool { return in.count() == 12 })
		time.Sleep(10 * time.Second)
		got := map[string]int{}
		for _, body := range in.all() {
			got[body]++
		}
		for i := range 10 {
			want := 1
			if i == 4 || i == 9 {
				want = 2
			}
			if got[strconv.Itoa(i)] != want {
				t.Errorf("message %d came %d times, want %d", i, got[strconv.Itoa(i)], want)
			}
		}
		if at, _ := k.Sandbox().Offset(group, mq); at != 10 {
			t.Errorf("committed %d", at)
		}
	})
}

// NeverCommit hands everything out and leaves everything to the next member.
func TestNeverCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		var first, second inbox
		p := consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
			first.add(b)
			return client.Later
		}, func(cfg *client.ConsumerConfig) { cfg.NeverCommit = true })
		time.Sleep(10 * time.Second)
		closeNow(t, p)
		if at, ok := k.Sandbox().Offset(group, mq); ok {
			t.Errorf("an offset was stored: %d", at)
		}
		if n := k.Sandbox().Counts()[protocol.ConsumerSendMsgBack]; n != 0 {
			t.Errorf("%d send-backs", n)
		}
		consume(t, k.Client(), group, topic, second.handle)
		testcluster.Eventually(t, time.Minute, "all again", func() bool { return second.count() == 10 })
		first.wantOnce(t, 10)
	})
}

// Every member of a broadcasting group gets everything; offsets are kept in a file and used again.
func TestBroadcasting(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(2), k.Group()
	c := k.Client()
	mqs := fill(t, c, topic, 20)
	var one, two inbox
	dir := t.TempDir()
	broadcast := func(instance string, in *inbox) *client.PushConsumer {
		cl := k.Client(func(cfg *client.Config) { cfg.InstanceName = instance })
		return consume(t, cl, group, topic, in.handle, func(cfg *client.ConsumerConfig) {
			cfg.Model, cfg.LocalOffsets = protocol.Broadcasting, dir
		})
	}
	p, other := broadcast("one", &one), broadcast("two", &two)
	testcluster.Eventually(t, patience, "20 messages for both", func() bool { return one.count() >= 20 && two.count() >= 20 })
	closeNow(t, p)
	closeNow(t, other)
	one.wantOnce(t, 20)
	two.wantOnce(t, 20)
	for _, mq := range mqs {
		if at := committed(t, c, group, mq); at != noCommit {
			t.Errorf("%s: the broker was told %d", mq, at)
		}
	}
	put(t, c, mqs[0], "next")
	var again inbox
	closeNow(t, func() *client.PushConsumer {
		p := broadcast("one", &again)
		testcluster.Eventually(t, patience, "the next message", func() bool { return again.count() > 0 })
		return p
	}())
	if got := again.all(); !slices.Equal(got, []string{"next"}) {
		t.Errorf("after a restart came %q", got)
	}
}
