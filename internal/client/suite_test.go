package client_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// put sends one message to a queue by hand: the tests of consumers do not rely on the producer.
func put(t testing.TB, c *client.Client, mq protocol.MessageQueue, body string, props ...string) protocol.SendMessageResponse {
	t.Helper()
	addr, err := c.BrokerAddr(mq.BrokerName)
	if err != nil {
		t.Fatal(err)
	}
	p := protocol.Properties{{Name: protocol.PropertyWait, Value: "true"}}
	for i := 0; i+1 < len(props); i += 2 {
		p.Set(props[i], props[i+1])
	}
	req := &protocol.SendMessageV2Request{
		A: "test_producer", B: mq.Topic, C: protocol.AutoCreateTopic, D: 4, E: mq.QueueID, G: time.Now().UnixMilli(), I: p.String(),
	}
	var resp protocol.SendMessageResponse
	if _, err := c.CallHeader(t.Context(), addr, req, []byte(body), &resp); err != nil {
		t.Fatalf("send to %s: %v", mq, err)
	}
	return resp
}

// queues is the topic's queues to write to.
func queues(t testing.TB, c *client.Client, topic string) []protocol.MessageQueue {
	t.Helper()
	r, err := c.FetchRoute(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	return r.Publish
}

// fill puts n messages, "0", "1", …, round robin over the topic's queues.
func fill(t testing.TB, c *client.Client, topic string, n int, props ...string) []protocol.MessageQueue {
	t.Helper()
	mqs := queues(t, c, topic)
	for i := range n {
		put(t, c, mqs[i%len(mqs)], strconv.Itoa(i), props...)
	}
	return mqs
}

// inbox collects what handlers get.
type inbox struct {
	mu     sync.Mutex
	bodies []string
	places []string // topic/broker/queue@offset
}

func (b *inbox) handle(_ context.Context, batch *client.Batch) client.Result {
	b.add(batch)
	return client.Success
}

func (b *inbox) add(batch *client.Batch) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range batch.Messages {
		b.bodies = append(b.bodies, string(m.Body))
		b.places = append(b.places, fmt.Sprintf("%s@%d", batch.Queue, m.QueueOffset))
	}
}

func (b *inbox) all() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.bodies)
}

func (b *inbox) where() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.places)
}

func (b *inbox) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.bodies)
}

// wantOnce fails unless exactly the bodies "0" … "n-1" came, each once.
func (b *inbox) wantOnce(t testing.TB, n int) {
	t.Helper()
	seen := map[string]int{}
	for _, body := range b.all() {
		seen[body]++
	}
	for i := range n {
		if got := seen[strconv.Itoa(i)]; got != 1 {
			t.Errorf("message %d was handled %d times", i, got)
		}
	}
	if len(seen) != n {
		t.Errorf("%d different messages, want %d", len(seen), n)
	}
}

// consume starts a push consumer that begins with the oldest message, and closes it with the test.
func consume(t testing.TB, c *client.Client, group, topic string, h client.Handler, edit ...func(*client.ConsumerConfig)) *client.PushConsumer {
	t.Helper()
	cfg := client.ConsumerConfig{
		Group: group, Subscriptions: []client.Subscription{{Topic: topic}}, Handler: h, From: client.From{Where: client.FromFirst},
	}
	for _, f := range edit {
		f(&cfg)
	}
	p, err := c.StartPushConsumer(t.Context(), cfg)
	if err != nil {
		t.Fatalf("start consumer of %s: %v", group, err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = p.Close(ctx) // tests that care about the end close it themselves
	})
	return p
}

// closeNow closes a consumer and fails the test on an error.
func closeNow(t testing.TB, p *client.PushConsumer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		t.Errorf("close: %v", err)
	}
}

// committed is the group's stored offset of a queue, noCommit when there is none; the broker is asked.
func committed(t testing.TB, c *client.Client, group string, mq protocol.MessageQueue) int64 {
	t.Helper()
	addr, err := c.BrokerAddr(mq.BrokerName)
	if err != nil {
		t.Fatal(err)
	}
	no := false
	var resp protocol.QueryConsumerOffsetResponse
	_, err = c.CallHeader(t.Context(), addr, &protocol.QueryConsumerOffsetRequest{
		ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, SetZeroIfNotFound: &no,
	}, nil, &resp)
	if code, ok := client.CodeOf(err); ok && code == protocol.CodeQueryNotFound {
		return noCommit
	}
	if err != nil {
		t.Fatal(err)
	}
	return resp.Offset
}

const noCommit = -1

// patience is how long suites wait for what takes a moment on a busy machine.
const patience = 60 * time.Second

func TestPushConsumesEverythingOnce(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(4), k.Group()
	c := k.Client()
	mqs := fill(t, c, topic, 200)
	var in inbox
	p := consume(t, c, group, topic, in.handle)
	testcluster.Eventually(t, patience, "200 messages", func() bool { return in.count() >= 200 })
	for i := range 50 {
		put(t, c, mqs[i%len(mqs)], strconv.Itoa(200+i))
	}
	testcluster.Eventually(t, patience, "250 messages", func() bool { return in.count() >= 250 })
	closeNow(t, p)
	in.wantOnce(t, 250)
	for _, mq := range mqs {
		end, err := c.MaxOffset(t.Context(), mq)
		if err != nil {
			t.Fatal(err)
		}
		if got := committed(t, c, group, mq); got != end {
			t.Errorf("%s is committed at %d, its end is %d", mq, got, end)
		}
	}
	again := &inbox{}
	p = consume(t, k.Client(), group, topic, again.handle)
	testcluster.Eventually(t, patience, "queues", func() bool { return len(p.Queues()) >= len(mqs) })
	put(t, c, mqs[0], "one more")
	testcluster.Eventually(t, patience, "the next message", func() bool { return again.count() > 0 })
	closeNow(t, p)
	if got := again.all(); !slices.Equal(got, []string{"one more"}) {
		t.Errorf("after a clean stop the next member got %q", got)
	}
}

func TestOrderlyKeepsOrder(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(2), k.Group()
	c := k.Client()
	mqs := queues(t, c, topic)
	for i := range 100 {
		put(t, c, mqs[i%len(mqs)], strconv.Itoa(i))
	}
	var in inbox
	failures := 3
	h := func(_ context.Context, b *client.Batch) client.Result {
		in.mu.Lock()
		fail := b.Messages[0].QueueOffset == 10 && failures > 0
		if fail {
			failures--
		}
		in.mu.Unlock()
		if fail {
			return client.Later
		}
		in.add(b)
		return client.Success
	}
	p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
		cfg.Orderly, cfg.BatchSize, cfg.SuspendPause = true, 3, 50*time.Millisecond
	})
	testcluster.Eventually(t, patience, "100 messages", func() bool { return in.count() >= 100 })
	closeNow(t, p)
	in.wantOnce(t, 100)
	next := map[string]int64{}
	for _, place := range in.where() {
		var offset int64
		i := len(place) - 1
		for place[i] != '@' {
			i--
		}
		if _, err := fmt.Sscan(place[i+1:], &offset); err != nil {
			t.Fatal(err)
		}
		if offset != next[place[:i]] {
			t.Fatalf("%s came when %d was next", place, next[place[:i]])
		}
		next[place[:i]]++
	}
}

func TestMembersShareQueues(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(8), k.Group()
	c := k.Client()
	mqs := fill(t, c, topic, 80)
	var in inbox
	members := []*client.PushConsumer{}
	join := func() { members = append(members, consume(t, k.Client(), group, topic, in.handle)) }
	balanced := func(n int) func() bool {
		return func() bool {
			owners := map[protocol.MessageQueue]int{}
			for _, m := range members {
				for _, mq := range m.Queues() {
					if mq.Topic == topic {
						owners[mq]++
					}
				}
			}
			for _, mq := range mqs {
				if owners[mq] != 1 {
					return false
				}
			}
			for _, m := range members {
				if len(m.Queues()) < 8/n {
					return false
				}
			}
			return true
		}
	}
	join()
	testcluster.Eventually(t, patience, "one member to own all", balanced(1))
	join()
	join()
	testcluster.Eventually(t, patience, "three members to share", balanced(3))
	closeNow(t, members[0])
	members = members[1:]
	testcluster.Eventually(t, patience, "two members to share", balanced(2))
	testcluster.Eventually(t, patience, "80 messages", func() bool { return in.count() >= 80 })
}

func TestRetryAndDeadLetter(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(1), k.Group()
	c := k.Client()
	fill(t, c, topic, 3)
	var in inbox
	var mu sync.Mutex
	attempts := []int32{}
	h := func(_ context.Context, b *client.Batch) client.Result {
		m := b.Messages[0]
		if m.Topic != topic {
			t.Errorf("a retried message is shown under topic %s", m.Topic)
		}
		if string(m.Body) != "1" {
			in.add(b)
			return client.Success
		}
		mu.Lock()
		defer mu.Unlock()
		attempts = append(attempts, m.ReconsumeTimes)
		b.DelayLevel = 1
		if m.ReconsumeTimes >= 2 {
			b.DelayLevel = -1
		}
		return client.Later
	}
	p := consume(t, c, group, topic, h)
	dlq := protocol.MessageQueue{Topic: protocol.DLQTopic(group)}
	testcluster.Eventually(t, patience, "a dead letter", func() bool {
		r, err := c.FetchRoute(t.Context(), dlq.Topic)
		if err != nil || len(r.Subscribe) == 0 {
			return false
		}
		dlq = r.Subscribe[0]
		end, err := c.MaxOffset(t.Context(), dlq)
		return err == nil && end == 1
	})
	closeNow(t, p)
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(attempts, []int32{0, 1, 2}) {
		t.Errorf("attempts %v, want 0 1 2", attempts)
	}
	if in.count() != 2 {
		t.Errorf("%d other messages, want 2", in.count())
	}
}

func TestReaderLeavesNoTrace(t *testing.T) {
	k := testcluster.New(t)
	topic := k.Topic(2)
	c := k.Client()
	mqs := fill(t, c, topic, 100)
	cfg := client.ReaderConfig{}
	for _, mq := range mqs {
		until := int64(40)
		cfg.Queues = append(cfg.Queues, client.ReaderQueue{Queue: mq, From: 10, Until: &until})
	}
	r, err := c.OpenReader(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	got := map[protocol.MessageQueue][]int64{}
	for {
		batch, err := r.Next(t.Context())
		if err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			break
		}
		for _, m := range batch {
			got[m.MessageQueue()] = append(got[m.MessageQueue()], m.QueueOffset)
		}
	}
	r.Close()
	for _, mq := range mqs {
		if len(got[mq]) != 30 || got[mq][0] != 10 || got[mq][29] != 39 {
			t.Errorf("%s: read %v, want 10 to 39", mq, got[mq])
		}
		if at := committed(t, c, protocol.ToolsConsumerGroup, mq); at != noCommit {
			t.Errorf("%s: the reader left an offset, %d", mq, at)
		}
	}
}

func TestC06_SameQueueNumberOnTwoBrokers(t *testing.T) {
	k := testcluster.New(t)
	if os.Getenv(testcluster.EnvNameServers) == "" {
		k = testcluster.TwoBrokers(t)
	}
	k.Require(testcluster.Brokers)
	topic, group := k.Topic(4), k.Group()
	c := k.Client()
	a := protocol.MessageQueue{Topic: topic, BrokerName: "broker-a"}
	b := protocol.MessageQueue{Topic: topic, BrokerName: "broker-b"}
	queues(t, c, topic)
	for i := range 10 {
		put(t, c, a, strconv.Itoa(i))
	}
	for i := range 100 {
		put(t, c, b, strconv.Itoa(10+i))
	}
	var in inbox
	p := consume(t, c, group, topic, in.handle)
	testcluster.Eventually(t, patience, "110 messages", func() bool { return in.count() >= 110 })
	closeNow(t, p)
	if got := committed(t, c, group, a); got != 10 {
		t.Errorf("%s is committed at %d, want 10", a, got)
	}
	if got := committed(t, c, group, b); got != 100 {
		t.Errorf("%s is committed at %d, want 100", b, got)
	}
}

func TestC13_TagsWithEqualHash(t *testing.T) {
	for _, expression := range []string{"Aa", "Aa||CC", " Aa  ||  CC "} {
		t.Run(expression, func(t *testing.T) {
			k := testcluster.New(t)
			topic, group := k.Topic(1), k.Group()
			c := k.Client()
			mq := queues(t, c, topic)[0]
			for range 100 {
				put(t, c, mq, "collision", protocol.PropertyTags, "BB")
			}
			put(t, c, mq, "wanted", protocol.PropertyTags, "Aa")
			var in inbox
			p := consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) {
				cfg.Subscriptions[0].Expression = expression
			})
			testcluster.Eventually(t, patience, "the wanted message", func() bool { return in.count() > 0 })
			testcluster.Eventually(t, patience, "position 101", func() bool {
				for _, q := range c.Snapshot().Consumers[0].Queues {
					if q.Topic == topic && q.CachedCount == 0 && q.NextOffset != nil && *q.NextOffset == 101 {
						return true
					}
				}
				return false
			})
			closeNow(t, p)
			if got := in.all(); !slices.Equal(got, []string{"wanted"}) {
				t.Errorf("delivered %q", got)
			}
			if got := committed(t, c, group, mq); got != 101 {
				t.Errorf("committed at %d, want 101", got)
			}
		})
	}
}

// A whole batch that is filtered out still moves position and commit.
func TestC13_EverythingFiltered(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(1), k.Group()
	c := k.Client()
	mq := queues(t, c, topic)[0]
	for range 100 {
		put(t, c, mq, "collision", protocol.PropertyTags, "BB")
	}
	p := consume(t, c, group, topic, (&inbox{}).handle, func(cfg *client.ConsumerConfig) { cfg.Subscriptions[0].Expression = "Aa" })
	testcluster.Eventually(t, patience, "position 100", func() bool {
		s := c.Snapshot().Consumers[0].Queues
		i := slices.IndexFunc(s, func(q statsQueue) bool { return q.Topic == topic })
		return i >= 0 && s[i].NextOffset != nil && *s[i].NextOffset == 100
	})
	closeNow(t, p)
	if got := committed(t, c, group, mq); got != 100 {
		t.Errorf("committed at %d, want 100", got)
	}
}
