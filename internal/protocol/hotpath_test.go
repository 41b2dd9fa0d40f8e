package protocol

import (
	"net/netip"
	"testing"
)

// pullBody is a pull answer's body: n messages of size bytes.
func pullBody(n, size int) []byte {
	var body []byte
	host := netip.MustParseAddrPort("127.0.0.1:10911")
	props := Properties{{PropertyKeys, "k1 k2"}, {PropertyUniqueKey, "7F0000010000276B0000000000000400"}, {PropertyTags, "TagA"}}.AppendTo(nil)
	for i := range n {
		body = AppendMessage(body, &MessageExt{
			Topic: "orders", QueueID: 3, QueueOffset: int64(i), CommitLogOffset: int64(i) * 1200, BornHost: host, StoreHost: host,
			Body: make([]byte, size), RawProperties: props,
		})
	}
	return body
}

func sendCommand(st SerializeType) *Command {
	c := NewRequest(&SendMessageV2Request{
		A: "group", B: "orders", C: AutoCreateTopic, D: 4, E: 3, G: 1_700_000_000_000, I: "UNIQ_KEY\x017F0000010000276B0000000000000400\x02WAIT\x01true\x02",
	}, make([]byte, 1024))
	c.Serialize = st
	return c
}

func pullAnswer(st SerializeType) []byte {
	req := &Command{Serialize: st, Opaque: 7}
	frame, err := AppendFrame(nil, NewResponse(req, CodeSuccess, "FOUND", &PullMessageResponse{NextBeginOffset: 32, MaxOffset: 100}, pullBody(32, 1024)))
	if err != nil {
		panic(err)
	}
	return frame
}

// TestHotPathAllocations holds what a message costs on its way: encoding a send allocates nothing, decoding an answer a
// handful per batch, whatever the number of messages in it.
func TestHotPathAllocations(t *testing.T) {
	for _, st := range []SerializeType{SerializeJSON, SerializeRocketMQ} {
		cmd, buf := sendCommand(st), make([]byte, 0, 4096)
		if n := testing.AllocsPerRun(200, func() { buf, _ = AppendFrame(buf[:0], cmd) }); n != 0 {
			t.Errorf("%s: encoding a send takes %v allocations, want none", st, n)
		}
		frame := pullAnswer(st)
		if n := testing.AllocsPerRun(200, func() {
			c, _ := DecodeFrame(frame)
			var h PullMessageResponse
			if err := c.DecodeHeader(&h); err != nil || h.NextBeginOffset != 32 {
				t.Fatal(h, err)
			}
		}); n > 8 {
			t.Errorf("%s: decoding an answer's frame takes %v allocations, want at most 8", st, n)
		}
	}
	body := pullBody(32, 1024)
	if n := testing.AllocsPerRun(200, func() {
		if msgs, err := DecodeMessages(body, DecodeOptions{}); len(msgs) != 32 || err != nil {
			t.Fatal(len(msgs), err)
		}
	}); n > 2 {
		t.Errorf("decoding 32 messages takes %v allocations, want at most 2: the slice and the topic", n)
	}
}

func BenchmarkEncodeSend(b *testing.B) {
	for _, st := range []SerializeType{SerializeJSON, SerializeRocketMQ} {
		b.Run(st.String(), func(b *testing.B) {
			cmd, buf := sendCommand(st), make([]byte, 0, 4096)
			b.ReportAllocs()
			for range b.N {
				buf, _ = AppendFrame(buf[:0], cmd)
			}
		})
	}
}

func BenchmarkDecodeAnswer(b *testing.B) {
	for _, st := range []SerializeType{SerializeJSON, SerializeRocketMQ} {
		b.Run(st.String(), func(b *testing.B) {
			frame := pullAnswer(st)
			b.ReportAllocs()
			for range b.N {
				c, _ := DecodeFrame(frame)
				var h PullMessageResponse
				_ = c.DecodeHeader(&h)
			}
		})
	}
}

func BenchmarkDecodeMessages32(b *testing.B) {
	body := pullBody(32, 1024)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for range b.N {
		_, _ = DecodeMessages(body, DecodeOptions{})
	}
}
