package client_test

import (
	"context"
	"log/slog"
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

// logLines keeps what is logged.
type logLines struct {
	mu   sync.Mutex
	text []string
}

func (l *logLines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.text = append(l.text, string(line))
	return len(line), nil
}

// count is how many lines contain part.
func (l *logLines) count(part string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.text {
		if strings.Contains(line, part) {
			n++
		}
	}
	return n
}

// pullsAt counts the pulls of a topic at each broker and replica, and those that commit.
type pullsAt struct {
	mu      sync.Mutex
	at      map[string]int
	commits map[string]int
}

func watchPulls(k *testcluster.Cluster, topic string) *pullsAt {
	w := &pullsAt{at: map[string]int{}, commits: map[string]int{}}
	k.Sandbox().On(protocol.PullMessage, func(ctl *sandbox.Control) {
		var h protocol.PullMessageRequest
		if err := ctl.Header(&h); err != nil || h.Topic != topic {
			return
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.at[ctl.Broker]++
		if h.SysFlag&protocol.PullCommitOffset != 0 {
			w.commits[ctl.Broker]++
		}
	})
	return w
}

// since is the pulls at each place since the last call.
func (w *pullsAt) since() (master, replica int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	master, replica = w.at["broker-a"], w.at["broker-a-1"]
	clear(w.at)
	return master, replica
}

func withReplica(t *testing.T) *testcluster.Cluster {
	t.Helper()
	return testcluster.NewSandbox(t, sandbox.Options{Replicas: 1}, true)
}

// A broker that has fallen behind suggests its replica: pulls go there, commits do not. When the suggestion ends the pulls
// come back.
func TestSuggestedReplicaIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := withReplica(t)
		s := k.Sandbox()
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		w := watchPulls(k, topic)
		var in inbox
		p := consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) { cfg.CommitInPull = true })
		testcluster.Eventually(t, time.Minute, "10 messages", func() bool { return in.count() == 10 })
		if master, replica := w.since(); master == 0 || replica != 0 {
			t.Errorf("%d pulls at the master, %d at the replica", master, replica)
		}
		end := s.On(protocol.PullMessage, func(ctl *sandbox.Control) { ctl.Suggest(1) })
		put(t, c, mq, "10") // the pull that is under way was asked before
		put(t, c, mq, "11")
		time.Sleep(time.Second)
		w.since()
		for i := 12; i < 22; i++ {
			put(t, c, mq, strconv.Itoa(i))
			time.Sleep(time.Second)
		}
		if master, replica := w.since(); master != 0 || replica < 10 {
			t.Errorf("%d pulls at the master and %d at the suggested replica", master, replica)
		}
		end()
		put(t, c, mq, "22")
		time.Sleep(time.Second)
		w.since()
		put(t, c, mq, "23")
		time.Sleep(time.Minute)
		if master, replica := w.since(); master == 0 || replica != 0 {
			t.Errorf("%d pulls at the master and %d at the replica that is not suggested any more", master, replica)
		}
		closeNow(t, p)
		in.wantOnce(t, 24)
		if w.commits["broker-a"] == 0 || w.commits["broker-a-1"] != 0 {
			t.Errorf("pulls with a commit: %v", w.commits)
		}
		if got, _ := s.Offset(group, mq); got != 24 {
			t.Errorf("committed %d, want 24", got)
		}
	})
}

// While a master is away its replica is read, heartbeats and the list of members go there as well, and what was consumed is
// committed when the master is back, which then is read again.
func TestReplicaIsReadWhileTheMasterIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := withReplica(t)
		s := k.Sandbox()
		topic, group := k.Topic(2), k.Group()
		var log logLines
		c := k.Client(func(cfg *client.Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		mqs := fill(t, c, topic, 400)
		w := watchPulls(k, topic)
		var in inbox
		h := func(_ context.Context, b *client.Batch) client.Result {
			time.Sleep(500 * time.Millisecond)
			in.add(b)
			return client.Success
		}
		p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
			cfg.Workers, cfg.PullBatchSize, cfg.MaxCachedCount = 2, 4, 4 // most of the messages are read from the replica
		})
		testcluster.Eventually(t, time.Minute, "the first messages", func() bool { return in.count() >= 20 })
		if err := s.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second)
		w.since()
		seen := in.count()
		time.Sleep(20 * time.Second)
		if master, replica := w.since(); master != 0 || replica == 0 || in.count() < seen+60 {
			t.Errorf("%d pulls at the replica and %d messages in 20 s", replica, in.count()-seen)
		}
		testcluster.Eventually(t, 3*time.Minute, "all messages", func() bool { return in.count() >= 400 })
		time.Sleep(2 * time.Minute)
		if n := len(p.Queues()); n < 2 {
			t.Errorf("%d queues are owned while the master is away", n)
		}
		if n := len(s.Members(group)); n != 1 {
			t.Errorf("%d members, want one at the replica", n)
		}
		if err := s.StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		for _, mq := range mqs {
			testcluster.Eventually(t, 40*time.Second, "the commit at the master", func() bool {
				at, _ := s.Offset(group, mq)
				return at == 200
			})
		}
		w.since()
		put(t, c, mqs[0], "400")
		testcluster.Eventually(t, 40*time.Second, "a message after the master is back", func() bool { return in.count() == 401 })
		time.Sleep(time.Minute)
		w.since()
		time.Sleep(time.Minute)
		if master, replica := w.since(); master == 0 || replica != 0 {
			t.Errorf("%d pulls at the master and %d at the replica although the master is back", master, replica)
		}
		closeNow(t, p)
		in.wantOnce(t, 401)
		if n := log.count("offsets are not saved yet"); n < 1 || n > 6 || log.count("offsets are saved again") != 1 {
			t.Errorf("%d complaints about offsets in five minutes and %d signs of their end, want one a minute and one", n, log.count("offsets are saved again"))
		}
	})
}

// A replica corrects no offsets: what lies outside of its range is asked for again, at a slow pace, until the master is
// back and moves the offset.
func TestReplicaCorrectsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := withReplica(t)
		s := k.Sandbox()
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 10)[0]
		var in inbox
		p := consume(t, c, group, topic, in.handle)
		testcluster.Eventually(t, time.Minute, "10 messages", func() bool { return in.count() == 10 })
		if err := s.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Second)
		w := watchPulls(k, topic)
		if err := s.AdvanceMinOffset(mq, 20); err != nil { // the next offset, 10, is out of range now
			t.Fatal(err)
		}
		time.Sleep(20 * time.Second)
		if _, replica := w.since(); replica == 0 || replica > 20*5+1 {
			t.Errorf("%d pulls at the replica in 20 s", replica)
		}
		if err := s.StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		testcluster.Eventually(t, 40*time.Second, "the corrected offset", func() bool {
			at, _ := s.Offset(group, mq)
			return at == 20
		})
		closeNow(t, p)
	})
}
