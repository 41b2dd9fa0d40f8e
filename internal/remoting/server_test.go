package remoting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/protocol"
)

// echo answers every request with its own body.
func echo(t *testing.T) func(c *Conn, req *protocol.Command) {
	return func(c *Conn, req *protocol.Command) {
		if req.IsOneway() {
			return
		}
		if err := c.Send(answerTo(req, string(req.Body))); err != nil {
			t.Error(err)
		}
	}
}

// serveInBubble runs a test with a server and a pool that is connected to it, on virtual time.
func serveInBubble(t *testing.T, cfg ServerConfig, pool PoolConfig, test func(t *testing.T, s *Server, p *Pool, n *pipeNet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		pool.Dial = n.dial
		s, p := Serve(n, cfg), NewPool(pool)
		test(t, s, p, n)
		closePool(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestServerOverTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Pointer[Conn]
	s := Serve(l, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
		seen.Store(c)
		echo(t)(c, req)
	}})
	p := NewPool(PoolConfig{})
	addr := s.Addr().String()
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			for j := range 50 {
				body := fmt.Sprint(i, "/", j)
				resp, err := p.CallWithin(t.Context(), addr, request(body), 10*time.Second)
				if err != nil || string(resp.Body) != body {
					t.Errorf("%v %v, want the answer %q", resp, err, body)
				}
			}
		})
	}
	wg.Wait()
	c := seen.Load()
	local := netip.MustParseAddrPort(addr)
	if c.LocalAddr() != local || c.RemoteAddr().Addr() != local.Addr() || c.RemoteAddr().Port() == local.Port() {
		t.Errorf("connection from %v to %v, the server is at %v", c.RemoteAddr(), c.LocalAddr(), local)
	}
	p.mu.Lock()
	near := p.slots[addr].conn
	p.mu.Unlock()
	closePool(t, p)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	client, server := near.Stats(), c.Stats() // complete, now that all goroutines have ended
	if client.BytesOut != server.BytesIn || client.BytesIn != server.BytesOut || server.FramesIn != 1600 || client.FramesIn != 1600 {
		t.Errorf("client counted %+v, server %+v", client, server)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

func TestServerAsksTheClient(t *testing.T) {
	handler := func(_ context.Context, _ *Conn, req *protocol.Command) *protocol.Command {
		return answerTo(req, "status of "+string(req.Body))
	}
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		conns := make(chan *Conn, 1)
		s := Serve(n, ServerConfig{Handle: func(c *Conn, _ *protocol.Command) { conns <- c }})
		p := NewPool(PoolConfig{Dial: n.dial, Handler: handler})
		if err := p.Oneway(t.Context(), testAddr, request("hello")); err != nil {
			t.Fatal(err)
		}
		c := <-conns
		resp, err := c.Call(t.Context(), protocol.NewBodyRequest(protocol.GetConsumerRunningInfo, []byte("group")))
		if err != nil || string(resp.Body) != "status of group" {
			t.Errorf("%v, %v", resp, err)
		}
		ended := make(chan string, 1)
		c.Start(t.Context(), protocol.NewBodyRequest(protocol.GetConsumerRunningInfo, []byte("b")), time.Second,
			func(cmd *protocol.Command, err error) { ended <- fmt.Sprint(string(cmd.Body), err) })
		if got := <-ended; got != "status of b<nil>" {
			t.Errorf("start: %s", got)
		}
		if err := c.Oneway(t.Context(), protocol.NewBodyRequest(protocol.NotifyConsumerIDsChanged, nil)); err != nil {
			t.Error(err)
		}
		c.Close()
		if _, err := c.Call(t.Context(), request("x")); !errors.Is(err, ErrClosed) {
			t.Errorf("call on a closed connection: %v", err)
		}
		if err := c.Send(request("x")); !errors.Is(err, ErrClosed) {
			t.Errorf("send on a closed connection: %v", err)
		}
		if err := c.SendRaw([]byte("x")); !errors.Is(err, ErrClosed) {
			t.Errorf("raw send on a closed connection: %v", err)
		}
		closePool(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestPushesHaveTheirOwnNumbers(t *testing.T) {
	serveInBubble(t, ServerConfig{Handle: func(c *Conn, _ *protocol.Command) {
		for range 3 {
			if err := c.Send(protocol.NewBodyRequest(protocol.NotifyConsumerIDsChanged, nil)); err != nil {
				t.Error(err)
			}
		}
	}}, PoolConfig{}, func(t *testing.T, _ *Server, _ *Pool, n *pipeNet) {
		nc, err := n.dial(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		far := &peer{t, nc}
		far.write(request("x"))
		seen := map[int32]bool{}
		for range 3 {
			seen[far.mustRead().Opaque] = true
		}
		if len(seen) != 3 {
			t.Errorf("opaques %v of three pushes", seen)
		}
	})
}

func TestHandlerPanicSparesTheConnection(t *testing.T) {
	serveInBubble(t, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
		if string(req.Body) == "boom" {
			panic("boom")
		}
		echo(t)(c, req)
	}}, PoolConfig{}, func(t *testing.T, s *Server, p *Pool, _ *pipeNet) {
		r := <-goCall(t.Context(), p, request("boom"))
		if r.err != nil || r.cmd.ResponseCode() != protocol.CodeSystemError {
			t.Errorf("%+v, want SYSTEM_ERROR", r)
		}
		if err := p.Oneway(t.Context(), testAddr, request("boom")); err != nil {
			t.Error(err)
		}
		wantBody(t, <-goCall(t.Context(), p, request("x")), "x")
		if s.Conns() != 1 {
			t.Errorf("%d connections", s.Conns())
		}
	})
}

func TestServerWithoutHandler(t *testing.T) {
	serveInBubble(t, ServerConfig{}, PoolConfig{}, func(t *testing.T, _ *Server, p *Pool, _ *pipeNet) {
		r := <-goCall(t.Context(), p, request("x"))
		if r.err != nil || r.cmd.ResponseCode() != protocol.CodeRequestCodeNotSupported {
			t.Errorf("%+v", r)
		}
	})
}

func TestTooManyConnections(t *testing.T) {
	var closed atomic.Int32
	serveInBubble(t, ServerConfig{MaxConns: 3, Handle: echo(t), OnClose: func(*Conn) { closed.Add(1) }}, PoolConfig{},
		func(t *testing.T, s *Server, p *Pool, n *pipeNet) {
			var open []*peer
			for range 5 {
				nc, err := n.dial(t.Context(), "")
				if err != nil {
					t.Fatal(err)
				}
				open = append(open, &peer{t, nc})
				synctest.Wait()
			}
			began := time.Now()
			for _, extra := range open[3:] {
				extra.waitClosed()
			}
			wantAfter(t, "extra connections closed", began, time.Now(), 0)
			if s.Conns() != 3 || s.Refused() != 2 {
				t.Errorf("%d connections and %d refused, want 3 and 2", s.Conns(), s.Refused())
			}
			if err := open[0].Close(); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			wantBody(t, <-goCall(t.Context(), p, request("room again")), "room again")
			if closed.Load() != 1 {
				t.Errorf("OnClose ran %d times, want once: refused connections never were open", closed.Load())
			}
		})
	if closed.Load() != 4 {
		t.Errorf("OnClose ran %d times in all, want 4", closed.Load())
	}
}

// brokenListener fails the first few times.
type brokenListener struct {
	*pipeNet
	failures atomic.Int32
}

func (l *brokenListener) Accept() (net.Conn, error) {
	if l.failures.Add(-1) >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.pipeNet.Accept()
}

func TestAcceptErrorsAreSurvived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &brokenListener{pipeNet: newPipeNet(t)}
		l.failures.Store(4)
		s := Serve(l, ServerConfig{Handle: echo(t)})
		p := NewPool(PoolConfig{Dial: l.dial})
		began := time.Now()
		r := <-goCall(t.Context(), p, request("x"))
		wantBody(t, r, "x")
		wantAfter(t, "accepted", began, r.at, (1+2+4+8)*acceptPause)
		closePool(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		l = &brokenListener{pipeNet: newPipeNet(t)}
		l.failures.Store(1 << 30)
		s = Serve(l, ServerConfig{})
		time.Sleep(time.Minute)
		began = time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wantAfter(t, "Close", began, time.Now(), 0)
		if tries := 1<<30 - int(l.failures.Load()); tries > 75 {
			t.Errorf("%d attempts in a minute", tries)
		}
	})
}

func TestServerCloseCutsItsConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		var closed atomic.Int32
		s := Serve(n, ServerConfig{OnClose: func(*Conn) { closed.Add(1) }, Handle: func(c *Conn, req *protocol.Command) {
			if req.RequestCode() == protocol.PullMessage {
				echo(t)(c, req)
			}
		}})
		p := NewPool(PoolConfig{Dial: n.dial})
		c := goCall(t.Context(), p, request("x"))
		silent, err := n.dial(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		(&peer{t, silent}).write(protocol.NewBodyRequest(protocol.PullMessage, nil)) // its answer is never read
		synctest.Wait()
		began := time.Now()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		wantAfter(t, "Close", began, time.Now(), 0)
		if closed.Load() != 2 || s.Conns() != 0 {
			t.Errorf("%d connections ended and %d are open when Close returns", closed.Load(), s.Conns())
		}
		wantLost(t, (<-c).err, "the peer closed it")
		(&peer{t, silent}).waitClosed()
		if _, err := p.Call(t.Context(), testAddr, request("x")); !errors.Is(err, ErrDial) {
			t.Errorf("call after the server's end: %v", err)
		}
		closePool(t, p)
	})
}

func TestConnCloseLetsAnswersLeaveAndAbortDoesNot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		s := Serve(n, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
			if err := c.Send(answerTo(req, "last")); err != nil {
				t.Error(err)
			}
			if err := c.SendRaw([]byte("garbage")); err != nil {
				t.Error(err)
			}
			if string(req.Body) == "abort" {
				c.Abort()
			}
			c.Close()
		}})
		p := NewPool(PoolConfig{Dial: n.dial})
		wantBody(t, <-goCall(t.Context(), p, request("close")), "last")
		synctest.Wait()
		r := <-goCall(t.Context(), p, request("abort"))
		wantLost(t, r.err, "the peer closed it")
		closePool(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
