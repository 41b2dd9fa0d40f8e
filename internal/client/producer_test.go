package client

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// idleProducer is a producer whose client was not started: for what happens before anything is sent.
func idleProducer(t testing.TB, cfg ProducerConfig) *Producer {
	t.Helper()
	c, err := New(Config{NameServers: []string{"127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c.state = stateStarted
	p, err := c.StartProducer(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func testView(p *Producer, queues ...protocol.MessageQueue) *sendView {
	state := &routes{brokers: map[string]map[int64]string{}}
	for _, mq := range queues {
		state.brokers[mq.BrokerName] = map[int64]string{masterID: mq.BrokerName + ":10911"}
	}
	return p.newView(state, queues)
}

func someQueues(broker string, n int32) []protocol.MessageQueue {
	return appendQueues(nil, "orders", broker, n)
}

func TestFaultTable(t *testing.T) {
	for _, tc := range []struct{ latency, want time.Duration }{
		{0, 0}, {50 * time.Millisecond, 0}, {549 * time.Millisecond, 0},
		{550 * time.Millisecond, 2 * time.Second}, {1799 * time.Millisecond, 2 * time.Second},
		{1800 * time.Millisecond, 5 * time.Second}, {2999 * time.Millisecond, 5 * time.Second},
		{3 * time.Second, 6 * time.Second}, {5 * time.Second, 10 * time.Second}, {failedLatency, 10 * time.Second},
		{15 * time.Second, 30 * time.Second}, {time.Hour, 30 * time.Second},
	} {
		if got := avoidFor(tc.latency); got != tc.want {
			t.Errorf("after %s avoided for %s, want %s", tc.latency, got, tc.want)
		}
	}
	var f brokerFaults
	at := time.Unix(1_764_500_000, 0)
	f.report(at, time.Second)
	if !f.avoided(at.Add(2*time.Second-1)) || f.avoided(at.Add(2*time.Second)) {
		t.Error("a second of latency does not keep the broker away for two seconds exactly")
	}
	f.report(at, time.Millisecond)
	if f.avoided(at) {
		t.Error("a quick answer does not bring the broker back")
	}
}

// Round robin passes over every queue equally often.
func TestPickInTurn(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	queues := slices.Concat(someQueues("broker-a", 3), someQueues("broker-b", 2))
	v, topic := testView(p, queues...), &sendTopic{}
	count := map[protocol.MessageQueue]int{}
	for range 100 {
		count[v.pick(topic, "", false).mq]++
	}
	for _, mq := range queues {
		if count[mq] != 20 {
			t.Errorf("%s was picked %d times of 100, want 20", mq, count[mq])
		}
	}
}

func TestPickAvoids(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	put := func(broker string, aside bool) {
		p.mu.Lock()
		defer p.mu.Unlock()
		f := p.faultsOf(broker)
		f.avoidUntil.Store(0)
		if aside {
			f.report(time.Now(), failedLatency)
		}
	}
	v := testView(p, slices.Concat(someQueues("broker-a", 4), someQueues("broker-b", 4), someQueues("broker-c", 4))...)
	for _, tc := range []struct {
		name  string
		last  string
		aside []string
		want  []string
	}{
		{"nothing known", "", nil, []string{"broker-a", "broker-b", "broker-c"}},
		{"the last one", "broker-a", nil, []string{"broker-b", "broker-c"}},
		{"one aside", "", []string{"broker-b"}, []string{"broker-a", "broker-c"}},
		{"one aside and the last one", "broker-a", []string{"broker-b"}, []string{"broker-c"}},
		{"all others aside", "broker-a", []string{"broker-b", "broker-c"}, []string{"broker-b", "broker-c"}},
		{"all aside", "", []string{"broker-a", "broker-b", "broker-c"}, []string{"broker-a", "broker-b", "broker-c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, b := range []string{"broker-a", "broker-b", "broker-c"} {
				put(b, slices.Contains(tc.aside, b))
			}
			topic := &sendTopic{}
			seen := map[string]bool{}
			for range 60 {
				seen[v.pick(topic, tc.last, true).mq.BrokerName] = true
			}
			var got []string
			for b := range seen {
				got = append(got, b)
			}
			slices.Sort(got)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// With one broker a further attempt goes to the next queue of the same broker, and never fails for want of another.
func TestPickSingleBroker(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	v, topic := testView(p, someQueues("broker-a", 4)...), &sendTopic{}
	first := v.pick(topic, "", true)
	if second := v.pick(topic, "broker-a", true); second.mq == first.mq {
		t.Errorf("the second attempt goes to %s again", second.mq)
	}
	if !v.single {
		t.Error("the view does not know that there is one broker only")
	}
}

// A queue whose broker has no address is picked only when there is no other.
func TestPickNeedsAnAddress(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	v := testView(p, slices.Concat(someQueues("broker-a", 1), someQueues("broker-b", 3))...)
	for i := range v.targets[:3] {
		v.targets[i].addr = ""
	}
	topic := &sendTopic{}
	for range 20 {
		for _, last := range []string{"", "broker-a", "broker-b"} {
			if got := v.pick(topic, last, false); got.addr == "" {
				t.Fatalf("picked %s, whose address is unknown (last %q)", got.mq, last)
			}
		}
	}
}

func TestShardingKey(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	v := testView(p, someQueues("broker-a", 7)...)
	for _, tc := range []struct {
		key  string
		want int32
	}{
		{"", 0}, {"a", 97 % 7}, {"TagA", 2598919 % 7},
		{"polygenelubricants", 2}, // hashes to the smallest int32, -2147483648: its remainder by 7 is -2
	} {
		if got := v.byKey(tc.key).mq.QueueID; got != tc.want {
			t.Errorf("key %q goes to queue %d, want %d", tc.key, got, tc.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.String().Draw(t, "key")
		want := int64(protocol.HashString(key)) % 7
		if want < 0 {
			want = -want
		}
		if got := v.byKey(key).mq.QueueID; int64(got) != want {
			t.Errorf("key %q goes to queue %d, want %d", key, got, want)
		}
	})
}

func TestWorthRetrying(t *testing.T) {
	for _, tc := range []struct {
		code   protocol.ResponseCode
		remark string
		want   bool
	}{
		{17, "topic[x] not exist", true}, {14, "", true}, {1, "broker failure", true}, {2, "[OVERLOAD]", true},
		{204, "", true}, {205, "", true}, {1500, "", true},
		{16, "the broker[10.0.0.1] sending message is forbidden", true},
		{16, "Sending message to topic[x] is forbidden.", false}, {16, "check signature failed.", false},
		{16, "User:x is not found.", false}, {16, "", false},
		{1, "org.apache.rocketmq.acl.common.AclException: no permission", false},
		{13, "the message is illegal", false}, {29, "", false}, {26, "", false}, {3, "", false}, {15, "", false}, {215, "", false},
	} {
		if got := worthRetrying(tc.code, tc.remark); got != tc.want {
			t.Errorf("%d %q: %v, want %v", tc.code, tc.remark, got, tc.want)
		}
	}
}

func TestJudge(t *testing.T) {
	wrap := func(err error) error {
		return &remoting.Error{Addr: "127.0.0.1:10911", Op: "SEND_MESSAGE_V2", Err: err}
	}
	for _, tc := range []struct {
		name          string
		err           error
		ended         bool
		retry, unsent bool
	}{
		{"refused connection", wrap(remoting.ErrDial), false, true, true},
		{"refused connection, caller gone", wrap(remoting.ErrDial), true, false, true},
		{"heartbeat unanswered", &unreachedError{wrap(remoting.ErrTimeout)}, false, true, true},
		{"no answer", wrap(remoting.ErrTimeout), false, true, false},
		{"connection lost", wrap(remoting.ErrDisconnected), false, true, false},
		{"address forgotten", wrap(remoting.ErrForgotten), false, true, false},
		{"caller gone", wrap(context.Canceled), true, false, false},
		{"client closed", wrap(remoting.ErrClosed), false, false, false},
		{"frame too large", wrap(remoting.ErrTooLarge), false, false, true},
		{"signing failed", wrap(errors.New("no secret")), false, false, true},
	} {
		if retry, unsent := judge(tc.err, tc.ended); retry != tc.retry || unsent != tc.unsent {
			t.Errorf("%s: retry %v, unsent %v; want %v, %v", tc.name, retry, unsent, tc.retry, tc.unsent)
		}
	}
}

func TestSendErrorText(t *testing.T) {
	refused := &ResponseError{Request: protocol.SendMessageV2, Addr: "10.0.0.1:10911", Code: protocol.CodeSystemBusy, Remark: "too many requests"}
	e := &SendError{Topic: "orders", Queue: protocol.MessageQueue{Topic: "orders", BrokerName: "broker-a", QueueID: 3}, Attempts: 2, Err: refused}
	const want = "send to orders/broker-a/3 (2 attempts): 10.0.0.1:10911 answered SYSTEM_BUSY (2) to SEND_MESSAGE_V2: too many requests"
	if e.Error() != want {
		t.Errorf("got  %s\nwant %s", e, want)
	}
	if code, ok := CodeOf(e); !ok || code != protocol.CodeSystemBusy || errors.Is(e, ErrUnknownOutcome) {
		t.Errorf("code %v %v, unknown %v", code, ok, errors.Is(e, ErrUnknownOutcome))
	}
	lost := &SendError{Topic: "orders", Unknown: true, Err: ErrClosed}
	if lost.Error() != "send to orders: closed; the message may have been stored" {
		t.Error(lost)
	}
	if !errors.Is(lost, ErrUnknownOutcome) || !errors.Is(lost, ErrClosed) {
		t.Error("an unknown outcome does not wrap both causes")
	}
}

func TestReadResult(t *testing.T) {
	full := protocol.ExtFields{
		{Key: "msgId", Value: "7F"}, {Key: "queueId", Value: "3"}, {Key: "queueOffset", Value: "9000000000"},
		{Key: "transactionId", Value: "T"}, {Key: "recallHandle", Value: "R"}, {Key: "TRACE_ON", Value: "true"},
	}
	var r SendResult
	if err := r.read(full); err != nil {
		t.Fatal(err)
	}
	want := SendResult{OffsetMessageID: "7F", Offset: 9_000_000_000, TransactionID: "T", RecallHandle: "R"}
	want.MessageQueue.QueueID = 3
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	for i := range 3 {
		if err := new(SendResult).read(slices.Delete(slices.Clone(full), i, i+1)); !errors.Is(err, protocol.ErrMissingField) {
			t.Errorf("without %s: %v", full[i].Key, err)
		}
	}
	for i := 1; i < 3; i++ {
		broken := slices.Clone(full)
		broken[i].Value = "x"
		if err := new(SendResult).read(broken); err == nil || !strings.Contains(err.Error(), full[i].Key) {
			t.Errorf("with a bad %s: %v", full[i].Key, err)
		}
	}
}

func TestSpreadResult(t *testing.T) {
	r := SendResult{Offset: 7, OffsetMessageID: "A,B,C", MessageID: "batch"}
	parts := []SendResult{{MessageID: "1"}, {MessageID: "2"}, {MessageID: "3"}}
	r.spread(parts)
	want := []SendResult{
		{Offset: 7, OffsetMessageID: "A", MessageID: "1"}, {Offset: 8, OffsetMessageID: "B", MessageID: "2"}, {Offset: 9, OffsetMessageID: "C", MessageID: "3"},
	}
	if diff := cmp.Diff(want, parts); diff != "" {
		t.Error(diff)
	}
	r.OffsetMessageID = "ONE" // an inner batch
	r.spread(parts)
	for _, p := range parts {
		if p.OffsetMessageID != "ONE" {
			t.Errorf("a part of an inner batch has the id %q", p.OffsetMessageID)
		}
	}
}

func TestProducerConfigValidate(t *testing.T) {
	if err := (ProducerConfig{}).withDefaults().Validate(); err != nil {
		t.Errorf("the defaults: %v", err)
	}
	for name, cfg := range map[string]ProducerConfig{
		"reserved":          {Group: "DEFAULT_PRODUCER"},
		"allowed are":       {Group: "a b"},
		"default topic":     {DefaultTopic: "a b"},
		"send-timeout":      {SendTimeout: time.Millisecond},
		"attempt-timeout":   {AttemptTimeout: -1},
		"retries-sync":      {RetriesSync: 17},
		"retries-async":     {RetriesAsync: -2},
		"max-message-size":  {MaxMessageSize: -1},
		"compress-over":     {CompressOver: -2},
		"compress-level":    {CompressLevel: 10},
		"compression 4":     {Compress: 4},
		"max-in-flight":     {MaxInFlight: -1},
		"max-in-flight-mib": {MaxInFlightMiB: 1 << 20},
		"queues":            {DefaultTopicQueues: -1},
	} {
		if err := cfg.withDefaults().Validate(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: %v, want something about %q", cfg, err, name)
		}
	}
	all := ProducerConfig{Group: "DEFAULT_PRODUCER", CompressLevel: 10}.withDefaults().Validate()
	if all == nil || !strings.Contains(all.Error(), "reserved") || !strings.Contains(all.Error(), "compress-level") {
		t.Errorf("not everything that is wrong is named: %v", all)
	}
}

func TestGate(t *testing.T) {
	var g gate
	g.init()
	for n := range int64(2) {
		if !g.enter() || g.inside() != n+1 {
			t.Fatal("an open gate does not let in")
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.close(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("close with two inside: %v", err)
	}
	if g.enter() {
		t.Error("a closed gate lets in")
	}
	g.leave()
	select {
	case <-g.empty:
		t.Fatal("empty with one inside")
	default:
	}
	g.leave()
	<-g.empty
	if g.enter() || g.inside() != 0 {
		t.Error("a closed and empty gate lets in")
	}
}
