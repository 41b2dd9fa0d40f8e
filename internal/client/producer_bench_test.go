package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// leanBroker answers every request at once with one prepared success, and allocates nothing for it: what a benchmark or
// an allocation count then sees is the client's.
type leanBroker struct {
	l    net.Listener
	wg   sync.WaitGroup
	seen atomic.Int64
}

func newLeanBroker(tb testing.TB) *leanBroker {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	b := &leanBroker{l: l}
	b.wg.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			b.wg.Go(func() { b.serve(nc) })
		}
	})
	tb.Cleanup(func() {
		if err := l.Close(); err != nil {
			tb.Error(err)
		}
		b.wg.Wait()
	})
	return b
}

// serve ends when the client closes the connection.
func (b *leanBroker) serve(nc net.Conn) {
	defer nc.Close()
	answer := leanAnswer()
	opaqueAt := protocol.FramePrefixSize + 2 + 1 + 2
	r, w := bufio.NewReaderSize(nc, 64<<10), bufio.NewWriterSize(nc, 64<<10)
	frame := make([]byte, 1<<20)
	for {
		if _, err := io.ReadFull(r, frame[:4]); err != nil {
			return
		}
		rest := frame[:binary.BigEndian.Uint32(frame)]
		if _, err := io.ReadFull(r, rest); err != nil {
			return
		}
		b.seen.Add(1)
		binary.BigEndian.PutUint32(answer[opaqueAt:], leanOpaque(rest))
		if _, err := w.Write(answer); err != nil {
			return
		}
		if r.Buffered() == 0 {
			if err := w.Flush(); err != nil {
				return
			}
		}
	}
}

// leanAnswer is a send answer as brokers give it, with a binary header.
func leanAnswer() []byte {
	trace := true
	resp := &protocol.Command{
		Language: protocol.LanguageJava, Version: protocol.CurrentVersion, Serialize: protocol.SerializeRocketMQ,
		Header: &protocol.SendMessageResponse{
			MsgID: "7F00000100002A9F0000000028E4A410", QueueID: 3, QueueOffset: 123456,
			TransactionID: "7F000001000100000000000000000001", TraceOn: &trace, MsgRegion: "DefaultRegion",
		},
	}
	resp.MarkResponse(&protocol.Command{})
	frame, err := protocol.AppendFrame(nil, resp)
	if err != nil {
		panic(err)
	}
	return frame
}

// leanOpaque finds the opaque in a frame without its length field, whichever way the header is written.
func leanOpaque(frame []byte) (opaque uint32) {
	if protocol.SerializeType(frame[0]) == protocol.SerializeRocketMQ {
		return binary.BigEndian.Uint32(frame[4+2+1+2:])
	}
	_, rest, _ := bytes.Cut(frame, []byte(`"opaque":`))
	for _, c := range rest {
		if c < '0' || c > '9' {
			break
		}
		opaque = opaque*10 + uint32(c-'0')
	}
	return opaque
}

// leanCluster is a producer whose topic "bench" has eight queues on a leanBroker.
func leanCluster(tb testing.TB, cfg ProducerConfig) (*Producer, *leanBroker) {
	tb.Helper()
	b := newLeanBroker(tb)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	route := &protocol.TopicRouteData{
		BrokerDatas: []protocol.BrokerData{{BrokerName: "broker-a", BrokerAddrs: map[int64]string{0: b.l.Addr().String()}}},
		QueueDatas:  []protocol.QueueData{{BrokerName: "broker-a", Perm: protocol.PermRead | protocol.PermWrite, ReadQueueNums: 8, WriteQueueNums: 8}},
	}
	names := remoting.Serve(l, remoting.ServerConfig{Handle: func(c *remoting.Conn, req *protocol.Command) {
		if err := c.Send(protocol.NewResponse(req, protocol.CodeSuccess, "", nil, route.Encode())); err != nil {
			tb.Error(err)
		}
	}})
	tb.Cleanup(func() {
		if err := names.Close(); err != nil {
			tb.Error(err)
		}
	})
	c, err := New(Config{NameServers: []string{l.Addr().String()}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := c.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Close(ctx); err != nil {
			tb.Error(err)
		}
	})
	p, err := c.StartProducer(tb.Context(), cfg)
	if err != nil {
		tb.Fatal(err)
	}
	for range 3 { // the route, the connection and the binary header are there from here on
		if _, err := p.Send(tb.Context(), benchMessage(1)); err != nil {
			tb.Fatal(err)
		}
	}
	return p, b
}

func benchMessage(size int) *protocol.Message {
	return &protocol.Message{
		Topic: "bench", Body: bytes.Repeat([]byte("x"), size),
		Properties: protocol.Properties{{Name: protocol.PropertyTags, Value: "TagA"}, {Name: protocol.PropertyKeys, Value: "order-4711"}},
	}
}

func BenchmarkPrepareSend(b *testing.B) {
	p, _ := leanCluster(b, ProducerConfig{})
	m := benchMessage(1024)
	b.ReportAllocs()
	for b.Loop() {
		s := p.newSending()
		if err := s.prepare(m); err != nil {
			b.Fatal(err)
		}
		if err := s.aim(b.Context()); err != nil {
			b.Fatal(err)
		}
		p.recycle(s)
	}
}

func BenchmarkSend(b *testing.B) {
	for _, inFlight := range []int{1, 64} {
		b.Run(fmt.Sprintf("inflight=%d", inFlight), func(b *testing.B) {
			p, _ := leanCluster(b, ProducerConfig{})
			ctx := b.Context()
			b.ReportAllocs()
			b.ResetTimer()
			var left atomic.Int64
			left.Store(int64(b.N))
			var wg sync.WaitGroup
			for range inFlight {
				wg.Go(func() {
					m := benchMessage(1024)
					for left.Add(-1) >= 0 {
						if _, err := p.Send(ctx, m); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
		})
	}
}

func BenchmarkSendAsync64(b *testing.B) {
	p, _ := leanCluster(b, ProducerConfig{MaxInFlight: 64})
	m := benchMessage(1024)
	var bad atomic.Int64
	done := func(_ SendResult, err error) {
		if err != nil {
			bad.Add(1)
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	for range b.N {
		p.SendAsync(b.Context(), m, done)
	}
	if err := p.slots.Acquire(b.Context(), 64); err != nil {
		b.Fatal(err)
	}
	p.slots.Release(64)
	if bad.Load() > 0 {
		b.Fatalf("%d sends failed", bad.Load())
	}
}

func BenchmarkSendBatch32(b *testing.B) {
	p, _ := leanCluster(b, ProducerConfig{})
	var messages []*protocol.Message
	for range 32 {
		messages = append(messages, benchMessage(1024))
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.SendBatch(b.Context(), messages); err != nil {
			b.Fatal(err)
		}
	}
}

// A send is to stay cheap: the id, the properties text and the answer's two objects are what it needs.
func TestSendAllocations(t *testing.T) {
	p, _ := leanCluster(t, ProducerConfig{})
	m := benchMessage(1024)
	ctx := t.Context()
	const limit = 6
	if n := testing.AllocsPerRun(2000, func() {
		if _, err := p.Send(ctx, m); err != nil {
			t.Fatal(err)
		}
	}); n > limit {
		t.Errorf("a send takes %.1f allocations, want at most %d", n, limit)
	}
}
