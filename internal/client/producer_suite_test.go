package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/stats"
	"mqctl/internal/testcluster"
)

// producer starts a producer that is closed with the test.
func producer(t testing.TB, c *client.Client, cfg client.ProducerConfig) *client.Producer {
	t.Helper()
	p, err := c.StartProducer(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		_ = p.Close(ctx) // tests that care about the end close it themselves
	})
	return p
}

func message(topic, body string, props ...string) *protocol.Message {
	m := &protocol.Message{Topic: topic, Body: []byte(body)}
	for i := 0; i+1 < len(props); i += 2 {
		m.Properties.Set(props[i], props[i+1])
	}
	return m
}

// producerStats is the snapshot of the client's first producer.
func producerStats(t testing.TB, c *client.Client) stats.Producer {
	t.Helper()
	list := c.Snapshot().Producers
	if len(list) == 0 {
		t.Fatal("no producer in the snapshot")
	}
	return list[0]
}

// outcomes collects what callbacks are called with, by message.
type outcomes struct {
	mu      sync.Mutex
	results []client.SendResult
	errs    []error
	calls   map[int]int
}

// callback is for the message with this number.
func (o *outcomes) callback(i int) func(client.SendResult, error) {
	return func(r client.SendResult, err error) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.calls == nil {
			o.calls = map[int]int{}
		}
		o.calls[i]++
		if err != nil {
			o.errs = append(o.errs, err)
		} else {
			o.results = append(o.results, r)
		}
	}
}

func (o *outcomes) counts() (results, errs int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.results), len(o.errs)
}

// wantOnce fails unless each of n callbacks was called exactly once.
func (o *outcomes) wantOnce(t testing.TB, n int) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range n {
		if o.calls[i] != 1 {
			t.Errorf("callback %d was called %d times", i, o.calls[i])
		}
	}
	if len(o.calls) != n {
		t.Errorf("%d messages were called back, want %d", len(o.calls), n)
	}
}

// received is one message as a consumer sees it.
type received struct {
	ID, Tag, Body string
	Place         string // queue@offset
}

// every collects the topic's messages until there are n.
func every(t *testing.T, k *testcluster.Cluster, topic string, n int) map[string]received {
	t.Helper()
	var mu sync.Mutex
	got := map[string]received{}
	consume(t, k.Admin(), k.Group(), topic, func(_ context.Context, b *client.Batch) client.Result {
		mu.Lock()
		defer mu.Unlock()
		for _, m := range b.Messages {
			got[m.MessageID()] = received{m.MessageID(), m.Property(protocol.PropertyTags), string(m.Body), fmt.Sprintf("%s@%d", b.Queue, m.QueueOffset)}
		}
		return client.Success
	})
	testcluster.Eventually(t, patience, strconv.Itoa(n)+" messages", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(got) >= n
	})
	return got
}

func place(r client.SendResult) string { return fmt.Sprintf("%s@%d", r.MessageQueue, r.Offset) }

// Every way to send, and what a consumer gets: body, tag, id and the place that the result named.
func TestProducerEveryWay(t *testing.T) {
	k := testcluster.New(t)
	topic := k.Topic(4)
	c := k.Client()
	p := producer(t, c, client.ProducerConfig{Group: k.Group()})
	ctx := t.Context()
	want := map[string]received{}
	add := func(r client.SendResult, err error, body string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if r.Status != client.SendOK || r.Attempts != 1 || r.OffsetMessageID == "" {
			t.Errorf("%s: %+v", body, r)
		}
		want[r.MessageID] = received{r.MessageID, "A", body, place(r)}
	}
	large := strings.Repeat("abcdefgh", 1000)
	r, err := p.Send(ctx, message(topic, large, "TAGS", "A"))
	add(r, err, large)
	mq := queues(t, c, topic)[2]
	r, err = p.SendTo(ctx, message(topic, "to", "TAGS", "A"), mq)
	if add(r, err, "to"); r.MessageQueue != mq {
		t.Errorf("sent to %s, want %s", r.MessageQueue, mq)
	}
	r, err = p.SendOrdered(ctx, message(topic, "ordered", "TAGS", "A"), "order-4711")
	add(r, err, "ordered")
	again, err := p.SendOrdered(ctx, message(topic, "ordered too", "TAGS", "A"), "order-4711")
	if add(again, err, "ordered too"); again.MessageQueue != r.MessageQueue || again.Offset <= r.Offset {
		t.Errorf("one key, two places: %s and %s", place(r), place(again))
	}
	batch, err := p.SendBatch(ctx, []*protocol.Message{message(topic, "b0", "TAGS", "A"), message(topic, "b1", "TAGS", "A")})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range batch {
		add(r, nil, "b"+strconv.Itoa(i))
	}
	done := make(chan struct{})
	p.SendAsync(ctx, message(topic, "async", "TAGS", "A"), func(ar client.SendResult, aerr error) {
		r, err = ar, aerr
		close(done)
	})
	<-done
	add(r, err, "async")
	if err := p.SendOneway(ctx, message(topic, "oneway", "TAGS", "A", "UNIQ_KEY", "0123456789ABCDEF0123456789ABCDEF")); err != nil {
		t.Fatal(err)
	}
	got := every(t, k, topic, len(want)+1)
	oneway := got["0123456789ABCDEF0123456789ABCDEF"]
	if oneway.Body != "oneway" {
		t.Errorf("one-way: %+v", oneway)
	}
	delete(got, oneway.ID)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if s := producerStats(t, c); s.Sent != 8 || s.Failed != 0 || s.InFlight != 0 || s.Bytes == 0 {
		t.Errorf("snapshot %+v", s)
	}
}

func TestC22_ProduceRefusesEmptyBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		ctx := t.Context()
		var async error
		_, sync := p.Send(ctx, message(topic, ""))
		p.SendAsync(ctx, message(topic, ""), func(_ client.SendResult, err error) { async = err })
		_, batch := p.SendBatch(ctx, []*protocol.Message{message(topic, "x"), message(topic, "")})
		for how, err := range map[string]error{"sync": sync, "async": async, "batch": batch, "oneway": p.SendOneway(ctx, message(topic, ""))} {
			if !errors.Is(err, client.ErrInvalidMessage) || !strings.Contains(err.Error(), "body is empty") || !strings.Contains(err.Error(), topic) {
				t.Errorf("%s: %v", how, err)
			}
		}
		if n := k.Sandbox().Counts()[protocol.SendMessageV2]; n != 0 {
			t.Errorf("%d requests left", n)
		}
		if s := producerStats(t, c); s.Failed != 5 || s.Sent != 0 { // the batch counts its two messages
			t.Errorf("snapshot %+v", s)
		}
	})
}

func TestC24_RefusedSendEndsOnceWithTheCode(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.NewSandbox(t, sandbox.Options{Brokers: 2, MaxMessageSize: 64 << 10}, true)
		topic := k.Topic(4)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{CompressOver: -1})
		tooLarge := &protocol.Message{Topic: topic, Body: bytes.Repeat([]byte("x"), 700<<10)}
		_, err := p.Send(t.Context(), tooLarge)
		wantRefusal(t, err, protocol.CodeMessageIllegal)
		var o outcomes
		for i := range 20 {
			p.SendAsync(t.Context(), tooLarge, o.callback(i))
		}
		testcluster.Eventually(t, 5*time.Second, "20 callbacks", func() bool { _, n := o.counts(); return n == 20 })
		o.wantOnce(t, 20)
		for _, err := range o.errs {
			wantRefusal(t, err, protocol.CodeMessageIllegal)
		}
		if n := k.Sandbox().Counts()[protocol.SendMessageV2]; n != 21 {
			t.Errorf("%d requests for 21 sends that brokers refuse for good", n)
		}
		if s := producerStats(t, c); s.Failed != 21 || s.Retried != 0 || s.InFlight != 0 {
			t.Errorf("snapshot %+v", s)
		}
	})
}

func wantRefusal(t testing.TB, err error, code protocol.ResponseCode) {
	t.Helper()
	var e *client.SendError
	got, ok := client.CodeOf(err)
	if !errors.As(err, &e) || !ok || got != code || e.Attempts != 1 || errors.Is(err, client.ErrUnknownOutcome) {
		t.Errorf("%v; want one attempt, refused with %s", err, code)
		return
	}
	if text := err.Error(); !strings.Contains(text, code.String()) || !strings.Contains(text, e.Queue.String()) {
		t.Errorf("the text does not name queue and code: %s", text)
	}
}

func TestC24_NoPermissionIsNotRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		topic := k.Topic(4)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) {
			ctl.Reply(protocol.CodeNoPermission, "check signature failed.")
		})
		_, err := p.Send(t.Context(), message(topic, "x"))
		wantRefusal(t, err, protocol.CodeNoPermission)
		if !strings.Contains(err.Error(), "check signature failed.") {
			t.Errorf("the remark is lost: %v", err)
		}
	})
}

func TestC24_BrokerAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(4)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		addr := k.Sandbox().BrokerAddr("broker-a")
		if err := k.Sandbox().StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the client has noticed
		began := time.Now()
		_, err := p.Send(t.Context(), message(topic, "x"))
		var e *client.SendError
		if !errors.As(err, &e) || e.Attempts != 3 || e.Unknown || !strings.Contains(err.Error(), addr) {
			t.Errorf("%v; want three attempts, known to have failed, naming %s", err, addr)
		}
		if took := time.Since(began); took > 3*time.Second {
			t.Errorf("took %s", took)
		}
		var o outcomes
		for i := range 10 {
			p.SendAsync(t.Context(), message(topic, "x"), o.callback(i))
		}
		testcluster.Eventually(t, 5*time.Second, "10 callbacks", func() bool { _, n := o.counts(); return n == 10 })
		o.wantOnce(t, 10)
		if err := k.Sandbox().StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Errorf("the broker is back: %v", err)
		}
		if s := producerStats(t, c); s.Sent != 2 || s.Failed != 11 || s.Retried != 22 {
			t.Errorf("snapshot %+v", s)
		}
	})
}

// A message that is given away unread keeps its content, whatever the send adds.
func TestSendLeavesTheMessageAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		p := producer(t, k.Client(), client.ProducerConfig{})
		m := message(topic, strings.Repeat("y", 5000), "TAGS", "A")
		want := protocol.Message{Topic: topic, Body: bytes.Clone(m.Body), Properties: m.Properties.Clone()}
		for range 2 {
			if _, err := p.Send(t.Context(), m); err != nil {
				t.Fatal(err)
			}
			if _, err := p.SendBatch(t.Context(), []*protocol.Message{m, m}); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(want, *m); diff != "" {
			t.Error(diff)
		}
		list, err := k.Sandbox().Messages(protocol.MessageQueue{Topic: topic, BrokerName: "broker-a"})
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for _, stored := range list {
			ids[stored.MessageID()] = true
		}
		if len(list) != 6 || len(ids) != 6 {
			t.Errorf("%d messages with %d ids, want 6", len(list), len(ids))
		}
	})
}
