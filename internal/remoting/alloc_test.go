package remoting

import (
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"

	"mqctl/internal/protocol"
)

// rawEcho answers binary requests with one fixed answer and allocates nothing.
func rawEcho(nc net.Conn, answer []byte) {
	const opaqueAt = protocol.FramePrefixSize + 5
	buf := make([]byte, 64<<10)
	for {
		if _, err := io.ReadFull(nc, buf[:4]); err != nil {
			return
		}
		frame := buf[:4+binary.BigEndian.Uint32(buf)]
		if _, err := io.ReadFull(nc, frame[4:]); err != nil {
			return
		}
		copy(answer[opaqueAt:opaqueAt+4], frame[opaqueAt:])
		if _, err := nc.Write(answer); err != nil {
			return
		}
	}
}

// What one request costs on the client's side: the answer's command together with its ext fields, the text of its header,
// and its body. Waiters, channels, timers and the request's frame cost nothing.
func TestAllocationsOfARoundTrip(t *testing.T) {
	for _, test := range []struct {
		name string
		body []byte
		most float64
	}{{"answer without body", nil, 2}, {"answer with body", make([]byte, 1000), 3}} {
		t.Run(test.name, func(t *testing.T) {
			resp := protocol.NewResponse(&protocol.Command{Serialize: protocol.SerializeRocketMQ}, protocol.CodeSuccess, "",
				&sentHeader{MsgID: "7F00000100002A9F0000000000000000", QueueID: 3, QueueOffset: 1000000}, test.body)
			answer, err := protocol.AppendFrame(nil, resp)
			if err != nil {
				t.Fatal(err)
			}
			n := newPipeNet(t)
			p := NewPool(PoolConfig{Dial: n.dial})
			defer closePool(t, p)
			req := benchRequest(1024)
			req.Serialize = protocol.SerializeRocketMQ
			c, err := p.get(t.Context(), testAddr, req)
			if err != nil {
				t.Fatal(err)
			}
			go rawEcho((<-n.peers).Conn, answer)
			ctx := t.Context()
			got := testing.AllocsPerRun(500, func() {
				if _, err := p.CallWithin(ctx, testAddr, req, time.Second); err != nil {
					t.Fatal(err)
				}
			})
			if got > test.most {
				t.Errorf("%v allocations a round trip, want at most %v", got, test.most)
			}
			if s := c.Stats(); s.Writes != s.FramesOut || s.FramesIn != s.FramesOut {
				t.Errorf("%+v: one call at a time leaves in a write each", s)
			}
		})
	}
}

func TestAllocationsOfSending(t *testing.T) {
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(io.Discard, far) }()
	p := NewPool(PoolConfig{})
	defer closePool(t, p)
	c := newConn(near, testAddr, &p.conn)
	c.run()
	req := benchRequest(1024)
	ctx := t.Context()
	if got := testing.AllocsPerRun(500, func() {
		if err := c.Oneway(ctx, req); err != nil {
			t.Fatal(err)
		}
	}); got > 0 {
		t.Errorf("%v allocations a one-way request, want none", got)
	}
	done := func(*protocol.Command, error) {}
	if got := testing.AllocsPerRun(500, func() {
		c.Start(ctx, req, time.Hour, done)
	}); got > 2 {
		t.Errorf("%v allocations a request that is never answered, want at most the waiter and the table's growth", got)
	}
	c.Close()
	<-c.over
}
