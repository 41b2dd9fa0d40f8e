package client_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// commitLog collects the commits of a queue as the broker stores them.
type commitLog struct {
	mu      sync.Mutex
	offsets []int64
}

func watchCommits(k *testcluster.Cluster, mq protocol.MessageQueue) *commitLog {
	l := &commitLog{}
	k.Sandbox().Observe(func(c *sandbox.Change) {
		if c.Kind == sandbox.Committed && c.Queue == mq && c.Request != 0 {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.offsets = append(l.offsets, c.Offset)
		}
	})
	return l
}

func (l *commitLog) all() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.offsets)
}

// A commit that the broker takes its time with is not overtaken by a later one, neither of the timer nor of Close.
func TestCommitsDoNotOvertake(t *testing.T) {
	for _, when := range []time.Duration{5100 * time.Millisecond, 10100 * time.Millisecond, 12 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			k := testcluster.Virtual(t, 1)
			topic, group := k.Topic(1), k.Group()
			c := k.Client(func(cfg *client.Config) { cfg.PersistInterval = 5 * time.Second })
			mq := queues(t, c, topic)[0]
			l := watchCommits(k, mq)
			f, err := sandbox.ParseFault("commit:wait=2s,times=1")
			if err != nil {
				t.Fatal(err)
			}
			k.Sandbox().Inject(f)
			var in inbox
			p := consume(t, c, group, topic, in.handle)
			began := time.Now()
			for i := 0; time.Since(began) < when; i++ {
				put(t, c, mq, strconv.Itoa(i))
				time.Sleep(50 * time.Millisecond)
			}
			closeNow(t, p)
			time.Sleep(5 * time.Second)
			_, end, _ := k.Sandbox().Bounds(mq)
			if at, _ := k.Sandbox().Offset(group, mq); at != end || end < 50 {
				t.Errorf("closed after %s: committed %d, the end is %d", when, at, end)
			}
			for i := 1; i < len(l.offsets); i++ {
				if l.offsets[i] < l.offsets[i-1] {
					t.Errorf("closed after %s: commits fall: %v", when, l.offsets)
				}
			}
		})
	}
}

// C07: a reset is not undone by a save of the old position that is under way at that moment.
func TestC07_ResetIsNotUndoneByASave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 100)[0]
		l := watchCommits(k, mq)
		f, err := sandbox.ParseFault("commit:wait=2s,times=1")
		if err != nil {
			t.Fatal(err)
		}
		k.Sandbox().Inject(f)
		var in inbox
		p := consume(t, c, group, topic, in.handle)
		testcluster.Eventually(t, time.Minute, "100 messages", func() bool { return in.count() == 100 })
		testcluster.Eventually(t, time.Minute, "the first save", func() bool { return k.Sandbox().Counts()[protocol.UpdateConsumerOffset] > 0 })
		if err := k.Sandbox().PushReset(group, mq, 10); err != nil {
			t.Fatal(err)
		}
		testcluster.Eventually(t, time.Minute, "90 messages again", func() bool { return in.count() == 190 })
		closeNow(t, p)
		down := 0
		for i := 1; i < len(l.offsets); i++ {
			if l.offsets[i] < l.offsets[i-1] {
				down++
			}
		}
		if down != 1 || l.offsets[len(l.offsets)-1] != 100 {
			t.Errorf("commits %v: want one fall, to 10, and 100 at the end", l.offsets)
		}
	})
}

// C07: the answer to a pull that was under way when the offset was reset counts for nothing.
func TestC07_ResetWithAPullInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 900)[0]
		var in inbox
		slow := func(ctx context.Context, b *client.Batch) client.Result { // so that the queue is far from its end when the answer comes
			time.Sleep(10 * time.Millisecond)
			return in.handle(ctx, b)
		}
		p := consume(t, c, group, topic, slow, func(cfg *client.ConsumerConfig) { cfg.Workers, cfg.MaxCachedCount = 1, 50 })
		testcluster.Eventually(t, time.Minute, "900 messages", func() bool { return in.count() == 900 })
		l := watchCommits(k, mq)
		f, err := sandbox.ParseFault("pull:delay=2s,times=1,topic=" + topic)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second) // everything is committed, and a pull is parked
		k.Sandbox().Inject(f)
		put(t, c, mq, "900") // the parked pull brings it, the one after that is answered late
		time.Sleep(100 * time.Millisecond)
		put(t, c, mq, "901")
		time.Sleep(time.Second)
		if err := k.Sandbox().PushReset(group, mq, 100); err != nil {
			t.Fatal(err)
		}
		time.Sleep(30 * time.Second)
		closeNow(t, p)
		got := in.all()
		for i, body := range got[901:] {
			if body != strconv.Itoa(100+i) {
				t.Fatalf("message %d after the reset is %s", i, body)
			}
		}
		if len(got) != 901+802 {
			t.Errorf("%d messages after the reset, want 802", len(got)-901)
		}
		down := 0
		for i := 1; i < len(l.offsets); i++ {
			if l.offsets[i] < l.offsets[i-1] {
				down++
			}
		}
		if len(l.offsets) == 0 || down > 1 || l.offsets[len(l.offsets)-1] != 902 {
			t.Errorf("commits %v: want one fall and 902 at the end", l.offsets)
		}
	})
}

// What the store acknowledged can be undone: by a save of the last owner that arrives late, or by a broker that crashes.
func TestCommitIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		var in inbox
		p := consume(t, c, group, topic, in.handle)
		undo := func() {
			if at, _ := k.Sandbox().Offset(group, mq); at != 10 {
				t.Errorf("committed %d, want 10", at)
			}
			if err := k.Sandbox().SetOffset(group, mq, 3); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		undo()
		time.Sleep(confirmed)
		undo()
		closeNow(t, p)
		if at, _ := k.Sandbox().Offset(group, mq); at != 10 || in.count() != 10 {
			t.Errorf("committed %d after Close, %d messages", at, in.count())
		}
	})
}

// confirmed is how long a commit that was undone may stay so.
const confirmed = 31 * time.Second

// A queue that is revoked while Close waits, and whose offset cannot be saved, is told by Close.
func TestCloseTellsOfARevokedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(2), k.Group()
		c := k.Client(func(cfg *client.Config) { cfg.PersistInterval = time.Hour })
		fill(t, c, topic, 10)
		var in inbox
		p := consume(t, c, group, topic, in.handle)
		testcluster.Eventually(t, time.Minute, "10 messages", func() bool { return in.count() == 10 })
		f, err := sandbox.ParseFault("commit:wait=2s,error=1,times=1")
		if err != nil {
			t.Fatal(err)
		}
		k.Sandbox().Inject(f)
		consume(t, k.Client(), group, topic, in.handle)
		testcluster.Eventually(t, time.Minute, "the save of a revoked queue", func() bool { return k.Sandbox().Counts()[protocol.UpdateConsumerOffset] > 0 })
		if err := p.Close(t.Context()); err == nil {
			t.Error("a clean stop, although an offset was not saved")
		}
	})
}

// A queue that was unlocked is not saved any more, although saves of it have failed before: its next owner has gone on.
func TestNoSaveAfterUnlock(t *testing.T) {
	for range 20 { // the order of what happens at one instant is not the same each time
		synctest.Test(t, func(t *testing.T) {
			k := testcluster.Virtual(t, 1)
			topic, group := k.Topic(1), k.Group()
			first := k.Client(func(cfg *client.Config) { cfg.ClientID, cfg.Dial = "z", k.Net.DialFrom("10.0.0.2") })
			mq := queues(t, first, topic)[0]
			unlocked, late := false, 0 // of the goroutine that runs the sandbox
			k.Sandbox().Observe(func(x *sandbox.Change) {
				switch {
				case x.Queue != mq:
				case x.Kind == sandbox.Unlocked && x.LockID == "z":
					unlocked = true
				case x.Kind == sandbox.Committed && unlocked && strings.HasPrefix(x.Client, "10.0.0.2:"):
					late++
				}
			})
			var in inbox
			orderly := func(cfg *client.ConsumerConfig) { cfg.Orderly = true }
			consume(t, first, group, topic, in.handle, orderly)
			for i := range 32 {
				put(t, first, mq, strconv.Itoa(i))
				time.Sleep(100 * time.Millisecond)
			}
			f, err := sandbox.ParseFault("commit:lose")
			if err != nil {
				t.Fatal(err)
			}
			heal := k.Sandbox().Inject(f)
			consume(t, k.Client(func(cfg *client.Config) { cfg.ClientID = "a" }), group, topic, in.handle, orderly)
			time.Sleep(20 * time.Second)
			heal()
			k.Sandbox().Held() // whatever the sandbox's goroutine has noted is visible now
			if !unlocked || late > 0 {
				t.Errorf("unlocked %v, %d commits after that", unlocked, late)
			}
		})
	}
}
