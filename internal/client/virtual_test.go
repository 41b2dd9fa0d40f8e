package client_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/stats"
	"mqctl/internal/testcluster"
)

type statsQueue = stats.Queue

// queueOf is the snapshot of one queue of the client's first consumer.
func queueOf(t testing.TB, c *client.Client, mq protocol.MessageQueue) statsQueue {
	t.Helper()
	for _, q := range c.Snapshot().Consumers[0].Queues {
		if q.Topic == mq.Topic && q.Broker == mq.BrokerName && q.QueueID == mq.QueueID {
			return q
		}
	}
	t.Fatalf("%s is not owned", mq)
	return statsQueue{}
}

func TestC03_BrokerComesBackOnAnotherAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(4), k.Group()
		c := k.Client()
		fill(t, c, topic, 20)
		var in inbox
		consume(t, c, group, topic, in.handle)
		testcluster.Eventually(t, time.Minute, "20 messages", func() bool { return in.count() == 20 })
		old := k.Sandbox().BrokerAddr("broker-a")
		if err := k.Sandbox().MoveBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		moved := time.Now()
		for now := k.Sandbox().BrokerAddr("broker-a"); ; time.Sleep(100 * time.Millisecond) {
			if a, err := c.BrokerAddr("broker-a"); err == nil && a == now {
				break
			}
			if time.Since(moved) > 30*time.Second {
				t.Fatal("the new address is not used within one refresh period")
			}
		}
		dialled := k.Net.Counters(old).Dials
		mqs := queues(t, c, topic)
		for i := range 100 {
			put(t, c, mqs[i%4], strconv.Itoa(20+i))
		}
		testcluster.Eventually(t, 30*time.Second, "120 messages", func() bool { return in.count() >= 120 })
		in.wantOnce(t, 120)
		time.Sleep(5 * time.Minute)
		if got := k.Net.Counters(old).Dials; got != dialled {
			t.Errorf("the old address was dialled %d times after the move was known", got-dialled)
		}
		if n := k.Net.Counters(old).Open; n != 0 {
			t.Errorf("%d connections to the old address are open", n)
		}
		if len(k.Sandbox().Members(group)) == 0 {
			t.Error("the group is not known at the new address: heartbeats do not go there")
		}
	})
}

func TestC04_OffsetQueryFailsAtTakeover(t *testing.T) {
	for _, fault := range []string{"query-offset:drop", "query-offset:error=1"} {
		t.Run(fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 1)
				topic, group := k.Topic(1), k.Group()
				c := k.Client()
				mq := fill(t, c, topic, 600)[0]
				if err := k.Sandbox().SetOffset(group, mq, 500); err != nil {
					t.Fatal(err)
				}
				f, err := sandbox.ParseFault(fault)
				if err != nil {
					t.Fatal(err)
				}
				heal := k.Sandbox().Inject(f)
				var in inbox
				p := consume(t, c, group, topic, in.handle)
				before := k.Sandbox().Counts()
				time.Sleep(10 * time.Second)
				after := k.Sandbox().Counts()
				if n := after[protocol.PullMessage] - before[protocol.PullMessage]; in.count() > 0 || pulledTopic(c, topic) {
					t.Errorf("%d pulls and %d messages while the offset was unknown", n, in.count())
				}
				if got := queueOf(t, c, mq); got.LastError == "" || got.NextOffset != nil || got.Committed != nil {
					t.Errorf("unknown is shown as %+v", got)
				}
				heal()
				testcluster.Eventually(t, time.Minute, "100 messages", func() bool { return in.count() >= 100 })
				closeNow(t, p)
				want := fmt.Sprintf("%s@500", mq)
				if got := slices.Min(in.where()); got < want || in.count() != 100 {
					t.Errorf("%d messages from %s on, want 100 from %s", in.count(), got, want)
				}
				if got, _ := k.Sandbox().Offset(group, mq); got != 600 {
					t.Errorf("committed %d, want 600", got)
				}
			})
		})
	}
}

// pulledTopic reports whether some queue of the topic was pulled.
func pulledTopic(c *client.Client, topic string) bool {
	return slices.ContainsFunc(c.Snapshot().Consumers[0].Queues, func(q statsQueue) bool { return q.Topic == topic && q.Pulls > 0 })
}

func TestC05_CommittedOffsetOutsideTheRange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(3), k.Group()
		c := k.Client()
		mqs := queues(t, c, topic)
		s := k.Sandbox()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		for i := range 200 {
			for _, mq := range mqs {
				put(t, c, mq, strconv.Itoa(i))
			}
		}
		must(s.AdvanceMinOffset(mqs[0], 200)) // nothing left
		must(s.SetOffset(group, mqs[0], 0))
		must(s.AdvanceMinOffset(mqs[1], 100))
		must(s.SetOffset(group, mqs[1], 0))
		must(s.SetOffset(group, mqs[2], 5000)) // beyond the end
		var in inbox
		before := s.Counts()[protocol.PullMessage]
		p := consume(t, c, group, topic, in.handle)
		time.Sleep(15 * time.Second)
		if n := s.Counts()[protocol.PullMessage] - before; n > 4*3*15 {
			t.Errorf("%d pulls in 15 s", n)
		}
		closeNow(t, p)
		for i, want := range []int64{200, 200, 200} {
			if got, _ := s.Offset(group, mqs[i]); got != want {
				t.Errorf("%s is committed at %d, want %d", mqs[i], got, want)
			}
		}
		if in.count() != 100 {
			t.Errorf("%d messages, want the 100 that are left of queue 1", in.count())
		}
	})
}

func TestC15_RetryTopicDoesNotExist(t *testing.T) {
	for name, o := range map[string]sandbox.Options{"auto": {}, "no auto-creation": {NoAutoCreateTopics: true}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.NewSandbox(t, o, true)
				topic, group := k.Topic(1), k.Group()
				c := k.Client()
				s := k.Sandbox()
				s.SetUnroutedTopic(protocol.RetryTopic(group), true)
				fill(t, c, topic, 3)
				var in inbox
				p := consume(t, c, group, topic, in.handle)
				testcluster.Eventually(t, time.Minute, "3 messages", func() bool { return in.count() == 3 })
				s.SetUnroutedTopic(protocol.RetryTopic(group), false)
				testcluster.Eventually(t, 31*time.Second, "the retry topic in the background", func() bool {
					return slices.ContainsFunc(p.Queues(), func(mq protocol.MessageQueue) bool { return protocol.IsRetryTopic(mq.Topic) })
				})
				_, err := c.StartPushConsumer(t.Context(), client.ConsumerConfig{
					Group: k.Group(), Subscriptions: []client.Subscription{{Topic: "no_such_topic"}}, Handler: in.handle,
				})
				if !errors.Is(err, client.ErrTopicNotFound) {
					t.Errorf("a missing ordinary topic: %v", err)
				}
			})
		})
	}
}

func TestC26_FailedStartLeavesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		ctx := t.Context()
		try := func(edit func(*client.Config), topic string) {
			cfg := k.Config()
			edit(&cfg)
			c, err := client.New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(ctx); err != nil {
				t.Fatal(err)
			}
			_, err = c.StartPushConsumer(ctx, client.ConsumerConfig{
				Group: "g", Subscriptions: []client.Subscription{{Topic: topic}}, Handler: (&inbox{}).handle,
			})
			if err == nil {
				t.Error("no error")
			}
			for range 2 {
				if err := c.Close(ctx); err != nil {
					t.Errorf("close: %v", err)
				}
			}
		}
		try(func(*client.Config) {}, "missing") // whatever the first use leaves behind for good
		synctest.Wait()
		before := runtime.NumGoroutine()
		for range 100 {
			try(func(*client.Config) {}, "missing")
			try(func(cfg *client.Config) { cfg.NameServers = []string{"127.0.0.1:1"} }, "any")
		}
		synctest.Wait()
		time.Sleep(time.Second)
		if after := runtime.NumGoroutine(); after > before {
			t.Errorf("%d goroutines before, %d after", before, after)
		}
		if open := k.Net.Total().Open; open != 0 {
			t.Errorf("%d connections are open", open)
		}
	})
}

func TestLifecycleErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		ctx := t.Context()
		cfg := client.ConsumerConfig{Group: "g", Subscriptions: []client.Subscription{{Topic: topic}}, Handler: (&inbox{}).handle}
		c, err := client.New(k.Config())
		if err != nil {
			t.Fatal(err)
		}
		want := func(what string, err, target error) {
			t.Helper()
			if !errors.Is(err, target) {
				t.Errorf("%s: %v, want %v", what, err, target)
			}
		}
		_, err = c.StartPushConsumer(ctx, cfg)
		want("use before Start", err, client.ErrNotStarted)
		want("first Start", c.Start(ctx), nil)
		want("second Start", c.Start(ctx), client.ErrAlreadyStarted)
		p, err := c.StartPushConsumer(ctx, cfg)
		want("first consumer", err, nil)
		_, err = c.StartPushConsumer(ctx, cfg)
		want("the same group again", err, client.ErrGroupInUse)
		want("close consumer", p.Close(ctx), nil)
		p, err = c.StartPushConsumer(ctx, cfg)
		want("the group after its close", err, nil)
		want("close", c.Close(ctx), nil)
		want("close again", c.Close(ctx), nil)
		want("close consumer after the client", p.Close(ctx), nil)
		want("Start after Close", c.Start(ctx), client.ErrClosed)
		_, err = c.StartPushConsumer(ctx, cfg)
		want("use after Close", err, client.ErrClosed)
		_, err = c.OpenReader(ctx, client.ReaderConfig{})
		want("read after Close", err, client.ErrClosed)
	})
}

// The timers of a client, to the nanosecond: heartbeats each 30 s, routes each 30 s, members each 20 s.
func TestTimers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		consume(t, c, group, topic, (&inbox{}).handle)
		time.Sleep(5 * time.Second) // the first heartbeats, routes and rebalances
		before := k.Sandbox().Counts()
		time.Sleep(time.Hour)
		after := k.Sandbox().Counts()
		for code, want := range map[protocol.RequestCode]int64{
			protocol.HeartBeat: 120, protocol.GetRouteInfoByTopic: 2 * 120, protocol.GetConsumerListByGroup: 2 * 180,
			protocol.PullMessage: 2 * 240, protocol.UpdateConsumerOffset: 0,
		} {
			if got := after[code] - before[code]; got < want-4 || got > want+4 {
				t.Errorf("%s: %d an hour, want %d", code, got, want)
			}
		}
	})
}

// A member that is cut off is forgotten, and known again after its next heartbeat.
func TestReconnectRegistersAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(2), k.Group()
		c := k.Client()
		var in inbox
		consume(t, c, group, topic, in.handle)
		time.Sleep(2 * time.Second)
		k.Net.Cut(k.Sandbox().BrokerAddr("broker-a"))
		time.Sleep(3 * time.Second)
		if n := len(k.Sandbox().Members(group)); n != 1 {
			t.Fatalf("%d members 3 s after the cut", n)
		}
		fill(t, k.Admin(), topic, 10)
		testcluster.Eventually(t, 10*time.Second, "10 messages", func() bool { return in.count() == 10 })
	})
}

func TestFlowControlByKind(t *testing.T) {
	for _, tc := range []struct {
		kind string
		edit func(*client.ConsumerConfig)
		hits func(stats.Hits) int64
	}{
		{"count", func(cfg *client.ConsumerConfig) { cfg.MaxCachedCount = 100 }, func(h stats.Hits) int64 { return h.Count }},
		{"size", func(cfg *client.ConsumerConfig) { cfg.MaxCachedMiB = 1 }, func(h stats.Hits) int64 { return h.Size }},
		{"span", func(cfg *client.ConsumerConfig) { cfg.MaxSpan = 100 }, func(h stats.Hits) int64 { return h.Span }},
		{"total", func(cfg *client.ConsumerConfig) { cfg.CacheTotal = 1 << 20 }, func(h stats.Hits) int64 { return h.Total }},
	} {
		t.Run(tc.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 1)
				topic, group := k.Topic(1), k.Group()
				c := k.Client()
				mq := queues(t, c, topic)[0]
				body := string(make([]byte, 16<<10))
				for range 300 {
					put(t, c, mq, body)
				}
				release := make(chan struct{})
				var done atomic.Int64
				p := consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
					if tc.kind != "span" || b.Messages[0].QueueOffset == 0 {
						<-release
					}
					done.Add(1)
					return client.Success
				}, tc.edit)
				time.Sleep(5 * time.Second)
				before := queueOf(t, c, mq)
				pulls := k.Sandbox().Counts()[protocol.PullMessage]
				time.Sleep(10 * time.Second)
				q := queueOf(t, c, mq)
				if got := tc.hits(q.Hits) - tc.hits(before.Hits); got < 199 || got > 201 {
					t.Errorf("%d hits in 10 s, want one each 50 ms", got)
				}
				if got := q.Hits.Sum() - tc.hits(q.Hits); got != 0 {
					t.Errorf("%d hits of other kinds: %+v", got, q.Hits)
				}
				if q.Last != tc.kind || q.Blocked < 14*time.Second {
					t.Errorf("held by %q for %s", q.Last, q.Blocked)
				}
				if got := k.Sandbox().Counts()[protocol.PullMessage] - pulls; got > 1 {
					t.Errorf("%d pulls while held back", got)
				}
				if *q.Committed != 0 || q.OldestOffset == nil || *q.OldestOffset != 0 {
					t.Errorf("committed %d, oldest %v", *q.Committed, q.OldestOffset)
				}
				close(release)
				testcluster.Eventually(t, time.Minute, "all messages", func() bool { return done.Load() == 300 })
				closeNow(t, p)
			})
		})
	}
}

// Close stops pulling, waits for handlers, saves with an answer and leaves, in this order; cached messages stay for
// others.
func TestC27_CloseFinishesRunningHandlersOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 100)[0]
		var in inbox
		h := func(_ context.Context, b *client.Batch) client.Result {
			time.Sleep(500 * time.Millisecond)
			in.add(b)
			return client.Success
		}
		p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) { cfg.Workers = 8 })
		time.Sleep(1250 * time.Millisecond)
		began := time.Now()
		closeNow(t, p)
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("close took %s with handlers of 500 ms", took)
		}
		done := in.count()
		if done < 16 || done > 32 {
			t.Errorf("%d messages were handled", done)
		}
		if got, _ := k.Sandbox().Offset(group, mq); got != int64(done) {
			t.Errorf("committed %d of %d handled", got, done)
		}
		if n := len(k.Sandbox().Members(group)); n != 0 {
			t.Errorf("%d members after close", n)
		}
		var rest inbox
		p = consume(t, k.Client(), group, topic, rest.handle)
		testcluster.Eventually(t, time.Minute, "the rest", func() bool { return rest.count()+done >= 100 })
		closeNow(t, p)
		in.mu.Lock()
		in.bodies = append(in.bodies, rest.all()...)
		in.mu.Unlock()
		in.wantOnce(t, 100)
	})
}

// A handler that does not return cannot keep Close: it is told to stop, and its message is the next member's, once.
func TestC27_CloseIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		stuck := func(ctx context.Context, b *client.Batch) client.Result {
			if b.Messages[0].QueueOffset == 3 {
				<-ctx.Done()
				return client.Later
			}
			return client.Success
		}
		p := consume(t, c, group, topic, stuck)
		time.Sleep(2 * time.Second)
		began := time.Now()
		err := p.Close(t.Context())
		if took := time.Since(began); err == nil || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("close took %s: %v; want an error after the 10 s of DrainTimeout", took, err)
		}
		if got, _ := k.Sandbox().Offset(group, mq); got != 3 {
			t.Errorf("committed %d, want 3", got)
		}
		if n := k.Sandbox().Counts()[protocol.ConsumerSendMsgBack]; n != 0 {
			t.Errorf("%d messages were both left uncommitted and sent back", n)
		}
	})
}

// With the broker dead, Close still ends within its limit and says which offsets were not saved.
func TestC27_CloseWithDeadBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		var in inbox
		p := consume(t, c, group, topic, func(ctx context.Context, b *client.Batch) client.Result {
			if b.Messages[0].QueueOffset == 9 {
				time.Sleep(3 * time.Second)
			}
			return in.handle(ctx, b)
		})
		time.Sleep(2 * time.Second)
		if err := k.Sandbox().StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		err := p.Close(ctx)
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("close took %s with a limit of 5 s", took)
		}
		if err == nil || !strings.Contains(err.Error(), mq.String()) {
			t.Errorf("close: %v; want the queue that is not saved", err)
		}
	})
}

// A message leaves the queue only once the broker has it again: while send-backs fail, the commit stays below it.
func TestC09_FailedSendBackKeepsTheMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		for _, text := range []string{"send-back:error=1", "send:error=1"} {
			f, err := sandbox.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			k.Sandbox().Inject(f)
		}
		var handled atomic.Int64
		p := consume(t, c, group, topic, func(context.Context, *client.Batch) client.Result {
			handled.Add(1)
			return client.Later
		})
		time.Sleep(21 * time.Second)
		if got, _ := k.Sandbox().Offset(group, mq); got > 0 {
			t.Errorf("committed %d although nothing was consumed or handed back", got)
		}
		if n := handled.Load(); n < 40 || n > 60 {
			t.Errorf("10 messages were handled %d times in 21 s, want a pause of 5 s", n)
		}
		k.Sandbox().ClearFaults()
		time.Sleep(6 * time.Second)
		closeNow(t, p)
		if got, _ := k.Sandbox().Offset(group, mq); got != 10 {
			t.Errorf("committed %d after the send-backs succeeded, want 10", got)
		}
	})
}

// An orderly batch that fails comes again first; nothing overtakes it, and the cache counts what it holds.
func TestC10_C11_OrderlySuspend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, topic)[0]
		for _, body := range []string{"A", "B", "C"} {
			put(t, c, mq, body)
		}
		var in inbox
		suspends := 2000
		h := func(_ context.Context, b *client.Batch) client.Result {
			in.add(b)
			if string(b.Messages[0].Body) == "A" && suspends > 0 {
				suspends--
				if at, _ := k.Sandbox().Offset(group, mq); at > 0 {
					t.Errorf("committed %d before A succeeded", at)
				}
				return client.Later
			}
			return client.Success
		}
		consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) { cfg.Orderly, cfg.SuspendPause = true, 10*time.Millisecond })
		time.Sleep(5 * time.Second)
		if q := queueOf(t, c, mq); q.CachedCount != 3 || q.CachedBytes != 3 {
			t.Errorf("%d messages and %d bytes are cached, held are 3", q.CachedCount, q.CachedBytes)
		}
		testcluster.Eventually(t, time.Minute, "A to succeed", func() bool { return in.count() >= 2003 })
		got := in.all()
		for i, body := range got[:2001] {
			if body != "A" {
				t.Fatalf("%q came after %d of A's attempts", body, i)
			}
		}
		if !slices.Equal(got[2001:], []string{"B", "C"}) {
			t.Errorf("after A came %q", got[2001:])
		}
		time.Sleep(time.Second)
		if q := queueOf(t, c, mq); q.CachedCount != 0 || q.CachedBytes != 0 {
			t.Errorf("drained, but %d messages and %d bytes are counted", q.CachedCount, q.CachedBytes)
		}
	})
}

// A lost lock stops the queue before the next handler runs; regained, it goes on from the broker's offset.
func TestLostLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, topic)[0]
		var in inbox
		consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) { cfg.Orderly = true })
		put(t, c, mq, "0")
		testcluster.Eventually(t, 10*time.Second, "the first message", func() bool { return in.count() == 1 })
		if err := k.Sandbox().LoseLock(group, mq, "somebody@else"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(21 * time.Second) // a renewal finds out
		put(t, c, mq, "1")
		time.Sleep(5 * time.Second)
		if in.count() != 1 {
			t.Error("a handler ran without the lock")
		}
		if q := queueOf(t, c, mq); q.Locked {
			t.Error("shown as locked")
		}
		testcluster.Eventually(t, 90*time.Second, "the lock to expire and the message", func() bool { return in.count() == 2 })
	})
}
