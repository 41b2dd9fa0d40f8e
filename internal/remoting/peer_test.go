package remoting

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mqctl/internal/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a connection, driven by hand.
type peer struct {
	tb testing.TB
	net.Conn
}

// readFrame reads one command, nil at the end of the connection.
func (p *peer) readFrame() *protocol.Command {
	cmd, err := readCommand(p.Conn)
	if err != nil {
		return nil
	}
	return cmd
}

func readCommand(r io.Reader) (*protocol.Command, error) {
	var length [4]byte
	if _, err := io.ReadFull(r, length[:]); err != nil {
		return nil, err
	}
	frame := make([]byte, 4+binary.BigEndian.Uint32(length[:]))
	copy(frame, length[:])
	if _, err := io.ReadFull(r, frame[4:]); err != nil {
		return nil, err
	}
	return protocol.DecodeFrame(frame)
}

// mustRead is readFrame where the connection has to be alive.
func (p *peer) mustRead() *protocol.Command {
	p.tb.Helper()
	cmd := p.readFrame()
	if cmd == nil {
		p.tb.Fatal("the connection ended instead of bringing a frame")
	}
	return cmd
}

func (p *peer) write(cmds ...*protocol.Command) {
	p.tb.Helper()
	var out []byte
	for _, cmd := range cmds {
		var err error
		if out, err = protocol.AppendFrame(out, cmd); err != nil {
			p.tb.Fatal(err)
		}
	}
	if _, err := p.Write(out); err != nil {
		p.tb.Errorf("writing to the connection: %v", err)
	}
}

// isClosed waits until this end sees the connection closed, discarding what arrives.
func (p *peer) waitClosed() { _, _ = io.Copy(io.Discard, p.Conn) }

// answer is a response whose body tells which request it belongs to.
func answerTo(req *protocol.Command, body string) *protocol.Command {
	return protocol.NewResponse(req, protocol.CodeSuccess, "", nil, []byte(body))
}

// answerAll answers every request with its own body until the connection ends.
func (p *peer) answerAll() {
	for {
		req := p.readFrame()
		if req == nil {
			return
		}
		if req.IsOneway() {
			continue
		}
		out, err := protocol.AppendFrame(nil, answerTo(req, string(req.Body)))
		if err != nil {
			p.tb.Error(err)
			return
		}
		if _, err := p.Write(out); err != nil {
			return
		}
	}
}

// pipeNet dials over net.Pipe; the far ends come out of peers, or out of Accept.
type pipeNet struct {
	tb     testing.TB
	peers  chan *peer
	closed chan struct{}
	once   sync.Once
}

func newPipeNet(tb testing.TB) *pipeNet {
	return &pipeNet{tb: tb, peers: make(chan *peer, 2048), closed: make(chan struct{})}
}

func (n *pipeNet) dial(ctx context.Context, _ string) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case <-n.closed:
		return nil, errors.New("nobody listens")
	default:
	}
	select {
	case n.peers <- &peer{n.tb, far}:
		return near, nil
	case <-n.closed:
		return nil, errors.New("nobody listens")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (n *pipeNet) Accept() (net.Conn, error) {
	select {
	case p := <-n.peers:
		return p.Conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *pipeNet) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *pipeNet) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

const testAddr = "10.0.0.1:10911"

// inBubble runs a test with a pool whose connections lead to peers, on virtual time.
func inBubble(t *testing.T, cfg PoolConfig, test func(t *testing.T, p *Pool, n *pipeNet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		if cfg.Dial == nil {
			cfg.Dial = n.dial
		}
		p := NewPool(cfg)
		test(t, p, n)
		closePool(t, p)
	})
}

// request is a request whose body says which it is.
func request(body string) *protocol.Command {
	return protocol.NewBodyRequest(protocol.HeartBeat, []byte(body))
}

// result is what a call came to, and when.
type result struct {
	cmd *protocol.Command
	err error
	at  time.Time
}

// goCall runs Call in a goroutine.
func goCall(ctx context.Context, p *Pool, req *protocol.Command) <-chan result {
	ch := make(chan result, 1)
	go func() {
		cmd, err := p.Call(ctx, testAddr, req)
		ch <- result{cmd, err, time.Now()}
	}()
	return ch
}

// wantBody checks that a call was answered with the body.
func wantBody(t *testing.T, r result, body string) {
	t.Helper()
	if r.err != nil {
		t.Fatalf("call failed: %v, want the answer %q", r.err, body)
	}
	if got := string(r.cmd.Body); got != body {
		t.Fatalf("answer is %q, want %q", got, body)
	}
}

// wantAfter checks that something happened this long after began, exactly: time is virtual.
func wantAfter(t *testing.T, what string, began, at time.Time, want time.Duration) {
	t.Helper()
	if got := at.Sub(began); got != want {
		t.Errorf("%s after %v, want %v", what, got, want)
	}
}
