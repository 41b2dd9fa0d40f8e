package remoting

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mqctl/internal/protocol"
)

// sendHeader has the shape of a send request's header.
type sendHeader struct {
	Group      string `ext:"a"`
	Topic      string `ext:"b"`
	QueueID    int32  `ext:"e"`
	Born       int64  `ext:"g"`
	Properties string `ext:"i"`
}

func (*sendHeader) RequestCode() protocol.RequestCode { return protocol.SendMessageV2 }

// sentHeader has the shape of a send answer's header.
type sentHeader struct {
	MsgID       string `ext:"msgId"`
	QueueID     int32  `ext:"queueId"`
	QueueOffset int64  `ext:"queueOffset"`
}

func benchRequest(size int) *protocol.Command {
	return protocol.NewRequest(&sendHeader{
		Group: "bench_pg", Topic: "bench_topic", QueueID: 3, Born: 1764500000000,
		Properties: "UNIQ_KEY\x010A0000010000000000000000000000AA\x02WAIT\x01true\x02",
	}, bytes.Repeat([]byte("x"), size))
}

// echoServer answers every request with a typed header.
func echoServer(tb testing.TB) (addr string) {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	header := &sentHeader{MsgID: "7F00000100002A9F0000000000000000", QueueID: 3, QueueOffset: 1000000}
	s := Serve(l, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
		if req.IsOneway() {
			return
		}
		if err := c.Send(protocol.NewResponse(req, protocol.CodeSuccess, "", header, nil)); err != nil {
			tb.Error(err)
		}
	}})
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s.Addr().String()
}

func benchPool(tb testing.TB) *Pool {
	p := NewPool(PoolConfig{})
	tb.Cleanup(func() { closePool(tb, p) })
	return p
}

func closePool(tb testing.TB, p *Pool) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := p.Close(ctx); err != nil {
		tb.Errorf("closing the pool: %v", err)
	}
}

func benchCalls(b *testing.B, inFlight int) {
	addr := echoServer(b)
	p := benchPool(b)
	ctx := b.Context()
	if _, err := p.Call(ctx, addr, benchRequest(1024)); err != nil {
		b.Fatal(err)
	}
	before, _ := p.Stats(addr)
	b.ReportAllocs()
	b.ResetTimer()
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	for range inFlight {
		wg.Go(func() {
			req := benchRequest(1024)
			for left.Add(-1) >= 0 {
				if _, err := p.CallWithin(ctx, addr, req, 3*time.Second); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	after, _ := p.Stats(addr)
	b.ReportMetric(float64(after.Writes-before.Writes)/float64(b.N), "writes/op")
	b.ReportMetric(float64(after.Reads-before.Reads)/float64(b.N), "reads/op")
}

func BenchmarkRoundTrip1(b *testing.B)  { benchCalls(b, 1) }
func BenchmarkRoundTrip64(b *testing.B) { benchCalls(b, 64) }

func BenchmarkOneway(b *testing.B) {
	addr := echoServer(b)
	p := benchPool(b)
	req := benchRequest(1024)
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Oneway(b.Context(), addr, req); err != nil {
			b.Fatal(err)
		}
	}
	s, _ := p.Stats(addr)
	b.ReportMetric(float64(s.Writes)/float64(b.N), "writes/op")
}

// What the accepting side costs: a bare client writes 64 requests at once and reads the answers.
func BenchmarkServerEcho(b *testing.B) {
	nc, err := net.Dial("tcp", echoServer(b))
	if err != nil {
		b.Fatal(err)
	}
	const batch = 64
	frame, err := protocol.AppendFrame(nil, benchRequest(1024))
	if err != nil {
		b.Fatal(err)
	}
	frames := bytes.Repeat(frame, batch)
	far := &peer{b, nc}
	if _, err := nc.Write(frame); err != nil {
		b.Fatal(err)
	}
	answer, err := protocol.AppendFrame(nil, far.mustRead())
	if err != nil {
		b.Fatal(err)
	}
	answers := make([]byte, batch*len(answer))
	b.ReportAllocs()
	b.ResetTimer()
	for sent := 0; sent < b.N; sent += batch {
		if _, err := nc.Write(frames); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(nc, answers); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	if err := nc.Close(); err != nil {
		b.Error(err)
	}
}
