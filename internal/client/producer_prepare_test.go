package client

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// prepared is the request that a message becomes.
func prepared(t testing.TB, p *Producer, m *protocol.Message) *sending {
	t.Helper()
	s := p.newSending()
	t.Cleanup(func() { p.recycle(s) })
	if err := s.prepare(m); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrepareAddsIDAndWait(t *testing.T) {
	p := idleProducer(t, ProducerConfig{Group: "pg"})
	m := &protocol.Message{
		Topic: "orders", Body: []byte("hello"), Flag: 7,
		Properties: protocol.Properties{{Name: "TAGS", Value: "A"}, {Name: "colour", Value: "blue"}},
	}
	before := *m
	before.Properties = m.Properties.Clone()
	s := prepared(t, p, m)
	h := s.header
	if diff := cmp.Diff(before, *m); diff != "" {
		t.Errorf("the message was changed: %s", diff)
	}
	id := s.result.MessageID
	wantProps := "TAGS\x01A\x02colour\x01blue\x02UNIQ_KEY\x01" + id + "\x02WAIT\x01true\x02"
	want := protocol.SendMessageV2Request{
		A: "pg", B: "orders", C: "TBW102", D: 4, G: s.began.UnixMilli(), H: 7, I: wantProps,
	}
	if diff := cmp.Diff(want, h); diff != "" {
		t.Error(diff)
	}
	if u, err := protocol.DecodeUniqueID(id); err != nil || time.Since(u.BornTime(time.Now())) > time.Minute {
		t.Errorf("id %q: %v", id, err)
	}
	if string(s.cmd.Body) != "hello" || s.cmd.RequestCode() != protocol.SendMessageV2 {
		t.Errorf("%s with body %q", s.cmd.RequestCode(), s.cmd.Body)
	}
}

func TestPrepareKeepsGivenIDAndWait(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	s := prepared(t, p, &protocol.Message{
		Topic: "orders", Body: []byte("x"),
		Properties: protocol.Properties{{Name: "WAIT", Value: "false"}, {Name: "UNIQ_KEY", Value: "MINE"}},
	})
	if want := "WAIT\x01false\x02UNIQ_KEY\x01MINE\x02"; s.header.I != want || s.result.MessageID != "MINE" {
		t.Errorf("properties %q, id %q", s.header.I, s.result.MessageID)
	}
}

func TestPrepareRetryTopicMovesCounts(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	props := protocol.Properties{{Name: "RECONSUME_TIME", Value: "3"}, {Name: "UNIQ_KEY", Value: "U"}, {Name: "MAX_RECONSUME_TIMES", Value: "5"}, {Name: "WAIT", Value: "true"}}
	s := prepared(t, p, &protocol.Message{Topic: "%RETRY%g", Body: []byte("x"), Properties: props})
	if s.header.J != 3 || s.header.L == nil || *s.header.L != 5 || s.header.I != "UNIQ_KEY\x01U\x02WAIT\x01true\x02" {
		t.Errorf("header %+v", s.header)
	}
	plain := prepared(t, p, &protocol.Message{Topic: "orders", Body: []byte("x"), Properties: props})
	if plain.header.J != 0 || plain.header.L != nil || plain.header.I != props.String() {
		t.Errorf("an ordinary topic: header %+v", plain.header)
	}
	props[0].Value = "many"
	if err := p.newSending().prepare(&protocol.Message{Topic: "%RETRY%g", Body: []byte("x"), Properties: props}); !errors.Is(err, ErrInvalidMessage) {
		t.Errorf("a count that is no number: %v", err)
	}
}

func TestPrepareCompresses(t *testing.T) {
	small, large := bytes.Repeat([]byte("a"), 4095), bytes.Repeat([]byte("a"), 4096)
	for _, c := range []protocol.Compression{protocol.CompressZlib, protocol.CompressLZ4, protocol.CompressZstd} {
		p := idleProducer(t, ProducerConfig{Compress: c})
		if s := prepared(t, p, &protocol.Message{Topic: "t", Body: small}); s.header.F != 0 || len(s.cmd.Body) != len(small) {
			t.Errorf("%s: a body below the limit is packed", c)
		}
		s := prepared(t, p, &protocol.Message{Topic: "t", Body: large})
		got, ok := s.header.F.Compression()
		if !ok || got != c || len(s.cmd.Body) >= len(large) || s.size != int64(len(large)) {
			t.Errorf("%s: announced as %s, %d bytes, counted as %d", c, got, len(s.cmd.Body), s.size)
		}
		if body, err := protocol.Decompress(c, s.cmd.Body, 0); err != nil || !bytes.Equal(body, large) {
			t.Errorf("%s: the body does not come back: %v", c, err)
		}
	}
	off := idleProducer(t, ProducerConfig{CompressOver: -1})
	if s := prepared(t, off, &protocol.Message{Topic: "t", Body: large}); s.header.F != 0 {
		t.Error("packed although that is off")
	}
}

// A body that packing would enlarge goes as it is.
func TestPrepareKeepsWhatDoesNotShrink(t *testing.T) {
	p := idleProducer(t, ProducerConfig{})
	noise, x := make([]byte, 8192), uint32(1)
	for i := range noise {
		x ^= x << 13
		x ^= x >> 17
		x ^= x << 5
		noise[i] = byte(x)
	}
	if s := prepared(t, p, &protocol.Message{Topic: "t", Body: noise}); s.header.F != 0 || !bytes.Equal(s.cmd.Body, noise) {
		t.Errorf("flag %#x, %d bytes", s.header.F, len(s.cmd.Body))
	}
}

func TestPrepareRefuses(t *testing.T) {
	p := idleProducer(t, ProducerConfig{MaxMessageSize: 100, CompressOver: 10})
	props := func(name, value string) protocol.Properties { return protocol.Properties{{Name: name, Value: value}} }
	for _, tc := range []struct {
		want string
		m    protocol.Message
	}{
		{"the body is empty", protocol.Message{}},
		{"101 bytes, the limit is 100", protocol.Message{Body: make([]byte, 101)}},
		{"empty name", protocol.Message{Body: []byte("x"), Properties: props("", "v")}},
		{`"k": empty value`, protocol.Message{Body: []byte("x"), Properties: props("k", "")}},
		{"separator", protocol.Message{Body: []byte("x"), Properties: props("k", "a\x01b")}},
		{"separator", protocol.Message{Body: []byte("x"), Properties: props("k\x02", "b")}},
		{"limit is 32767", protocol.Message{Body: []byte("x"), Properties: props("k", strings.Repeat("v", 32764))}},
		{"limit is 32767", protocol.Message{Body: []byte("x"), Properties: props("k", strings.Repeat("v", 32740))}},
		{"half of a transaction", protocol.Message{Body: []byte("x"), Properties: props("TRAN_MSG", "true")}},
	} {
		tc.m.Topic = "orders"
		s := p.newSending()
		err := s.prepare(&tc.m)
		if !errors.Is(err, ErrInvalidMessage) || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "orders") {
			t.Errorf("got %v, want something about %q", err, tc.want)
		}
		p.recycle(s)
	}
}

func TestSendTopicNames(t *testing.T) {
	for _, topic := range []string{"", "a b", strings.Repeat("x", 128), "SCHEDULE_TOPIC_XXXX", "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC", "TRANS_CHECK_MAX_TIME_TOPIC", "SELF_TEST_TOPIC", "OFFSET_MOVED_EVENT"} {
		if err := checkSendTopic(topic); !errors.Is(err, ErrInvalidMessage) {
			t.Errorf("topic %q: %v", topic, err)
		}
	}
	for _, topic := range []string{"orders", "TBW102", "%RETRY%g", "%DLQ%g"} {
		if err := checkSendTopic(topic); err != nil {
			t.Errorf("topic %q: %v", topic, err)
		}
	}
}

func TestPrepareBatch(t *testing.T) {
	p := idleProducer(t, ProducerConfig{Group: "pg"})
	messages := []*protocol.Message{
		{Topic: "orders", Body: []byte("one"), Flag: 1, Properties: protocol.Properties{{Name: "WAIT", Value: "true"}, {Name: "TAGS", Value: "A"}}},
		{Topic: "orders", Body: bytes.Repeat([]byte("two"), 5000)},
		{Topic: "orders", Body: []byte("three"), Properties: protocol.Properties{{Name: "UNIQ_KEY", Value: "MINE"}}},
	}
	s := p.newSending()
	defer p.recycle(s)
	if err := s.prepareBatch(messages); err != nil {
		t.Fatal(err)
	}
	parts, err := protocol.DecodeBatch(s.cmd.Body)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]bool{}
	for i, part := range parts {
		m, id := messages[i], s.results[i].MessageID
		props := protocol.ParseProperties(part.RawProperties)
		if got, _ := props.Get("UNIQ_KEY"); got != id || ids[id] || id == "" {
			t.Errorf("part %d: id %q on the wire, %q in the result", i, got, id)
		}
		ids[id] = true
		if _, ok := props.Get("WAIT"); ok || part.Flag != m.Flag || !bytes.Equal(part.Body, m.Body) {
			t.Errorf("part %d: flag %d, %d bytes, properties %q", i, part.Flag, len(part.Body), part.RawProperties)
		}
	}
	if s.results[2].MessageID != "MINE" || len(messages[1].Properties) != 0 {
		t.Error("a given id is not kept, or a message was changed")
	}
	h, ok := s.cmd.Header.(*protocol.SendBatchMessageRequest)
	if !ok || s.cmd.RequestCode() != protocol.SendBatchMessage || !h.M || h.F != 0 || h.B != "orders" {
		t.Fatalf("%s %+v", s.cmd.RequestCode(), s.cmd.Header)
	}
	if want := "UNIQ_KEY\x01" + s.result.MessageID + "\x02WAIT\x01true\x02"; h.I != want {
		t.Errorf("properties of the batch %q, want %q", h.I, want)
	}
}

func TestBatchRules(t *testing.T) {
	p := idleProducer(t, ProducerConfig{MaxMessageSize: 1000})
	msg := func(topic string, props ...protocol.Property) *protocol.Message {
		return &protocol.Message{Topic: topic, Body: []byte("x"), Properties: props}
	}
	big := &protocol.Message{Topic: "t", Body: make([]byte, 390)}
	for _, tc := range []struct {
		want     string
		messages []*protocol.Message
	}{
		{"0 messages", nil},
		{"two topics", []*protocol.Message{msg("t"), msg("u")}},
		{"retry topic", []*protocol.Message{msg("%RETRY%g")}},
		{"body is empty", []*protocol.Message{msg("t"), {Topic: "t"}}},
		{"property WAIT", []*protocol.Message{msg("t"), msg("t", protocol.Property{Name: "WAIT", Value: "false"})}},
		{"DELAY", []*protocol.Message{msg("t", protocol.Property{Name: "DELAY", Value: "3"})}},
		{"TIMER_DELAY_MS", []*protocol.Message{msg("t", protocol.Property{Name: "TIMER_DELAY_MS", Value: "3"})}},
		{"half of a transaction", []*protocol.Message{msg("t", protocol.Property{Name: "TRAN_MSG", Value: "TRUE"})}},
		{"separator", []*protocol.Message{msg("t", protocol.Property{Name: "k", Value: "\x01"})}},
		{"limit is 1000", []*protocol.Message{big, big, big}},
		{"limit is 1000", []*protocol.Message{{Topic: "t", Body: make([]byte, 1001)}}},
	} {
		s := p.newSending()
		if err := s.prepareBatch(tc.messages); !errors.Is(err, ErrInvalidMessage) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("got %v, want something about %q", err, tc.want)
		}
		p.recycle(s)
	}
	s := p.newSending()
	if err := s.prepareBatch([]*protocol.Message{msg("t", protocol.Property{Name: "DELAY", Value: "0"}), big, big}); err != nil {
		t.Errorf("what is allowed: %v", err)
	}
	p.recycle(s)
}
