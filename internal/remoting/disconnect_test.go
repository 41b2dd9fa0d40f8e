package remoting

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/protocol"
)

func TestLostConnectionIsReplaced(t *testing.T) {
	type end struct {
		addr string
		err  error
		open int
	}
	var failed atomic.Int32
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		ends := make(chan end, 8)
		var p *Pool
		p = NewPool(PoolConfig{Dial: n.dial, OnDisconnect: func(addr string, err error) {
			p.Addrs() // no lock is held
			ends <- end{addr, err, int(failed.Load())}
		}})
		again := make(chan (<-chan result), 10)
		for range 10 {
			p.Start(t.Context(), testAddr, request("x"), time.Minute, func(_ *protocol.Command, err error) {
				wantLost(t, err, "the peer closed it")
				failed.Add(1)
				again <- goCall(t.Context(), p, request("again")) // finds no trace of the dead connection
			})
		}
		far := <-n.peers
		for range 10 {
			far.mustRead()
		}
		if err := far.Close(); err != nil {
			t.Fatal(err)
		}
		go (<-n.peers).answerAll()
		for range 10 {
			wantBody(t, <-<-again, "again")
		}
		e := <-ends
		if e.addr != testAddr || !errors.Is(e.err, ErrDisconnected) || e.open != 10 {
			t.Errorf("disconnect of %s (%v) was told after %d of 10 requests had failed", e.addr, e.err, e.open)
		}
		closePool(t, p)
		if e := <-ends; !errors.Is(e.err, ErrClosed) || len(ends) != 0 {
			t.Errorf("second end: %v, and %d more", e.err, len(ends))
		}
	})
}

func TestDisconnectIsToldAfterTheLastFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		told := make(chan error, 1)
		p := NewPool(PoolConfig{Dial: n.dial, OnDisconnect: func(_ string, err error) { told <- err }})
		goOn := make(chan struct{})
		p.Start(t.Context(), testAddr, request("x"), time.Minute, func(*protocol.Command, error) { <-goOn })
		far := <-n.peers
		far.mustRead()
		go p.Forget(testAddr)
		synctest.Wait() // Forget is about to fail the request when the peer closes as well
		if err := far.Close(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(told) != 0 {
			t.Error("the disconnect was told before the open request had failed")
		}
		close(goOn)
		if err := <-told; !errors.Is(err, ErrForgotten) {
			t.Errorf("told %v, want the first cause", err)
		}
		closePool(t, p)
	})
}

// brokenPipe fails every write; reading still works.
type brokenPipe struct{ net.Conn }

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }

func TestFailedWriteLeavesTimeForTheReason(t *testing.T) {
	for _, test := range []struct {
		name  string
		says  string
		after time.Duration
		cause string
	}{
		{"a reason in time", "HTTP/1.1 400 Bad Request\r\n", lastWords / 2, "the peer speaks HTTP"},
		{"no reason", "", lastWords, "the peer closed it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var near, far net.Conn
			inBubble(t, PoolConfig{Dial: func(context.Context, string) (net.Conn, error) {
				near, far = net.Pipe()
				return brokenPipe{near}, nil
			}}, func(t *testing.T, p *Pool, _ *pipeNet) {
				began := time.Now()
				c := goCall(t.Context(), p, request("x"))
				synctest.Wait()
				if len(p.Addrs()) != 0 {
					t.Error("a connection that cannot write is still offered")
				}
				if test.says != "" {
					time.Sleep(test.after)
					if _, err := far.Write([]byte(test.says)); err != nil && !errors.Is(err, io.ErrClosedPipe) {
						t.Error(err)
					}
				}
				r := <-c
				wantLost(t, r.err, test.cause)
				wantAfter(t, "end", began, r.at, test.after)
			})
		})
	}
}

func TestDeadConnectionInTheTableIsPassedOver(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		go (<-n.peers).answerAll()
		wantBody(t, <-c, "x")
		p.mu.Lock()
		dead := p.slots[testAddr].conn
		p.mu.Unlock()
		// As if the connection ended between the moment it was looked up and the moment the request was to be queued.
		dead.calls.close(ErrDisconnected)
		close(dead.failed)
		dead.out.close(ErrDisconnected, true)
		synctest.Wait()
		for _, use := range []func() error{
			func() error { _, err := p.Call(t.Context(), testAddr, request("y")); return err },
			func() error { return p.Oneway(t.Context(), testAddr, request("z")) },
		} {
			ended := make(chan error, 1)
			go func() { ended <- use() }()
			synctest.Wait()
			select {
			case far := <-n.peers:
				go far.answerAll()
			default:
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

func TestTCPPeerThatIsNoBroker(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			// A web server answers the first bytes and hangs up without reading the rest.
			_, _ = nc.Read(make([]byte, 4096))
			_, _ = nc.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			_ = nc.Close()
		}
	}()
	p := NewPool(PoolConfig{})
	if _, err := p.Call(t.Context(), l.Addr().String(), request("")); err == nil || !strings.Contains(err.Error(), "HTTP") {
		t.Errorf("small request: %v, want a word about HTTP", err)
	}
	for range 5 {
		_, err := p.Call(t.Context(), l.Addr().String(), request(strings.Repeat("x", 1<<20)))
		if !errors.Is(err, ErrDisconnected) || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Fatalf("err = %v", err)
		}
		// The reset may overtake the text; what must never appear is a bare system call error.
		if !strings.Contains(err.Error(), "HTTP") && !strings.Contains(err.Error(), "the peer reset it") {
			t.Errorf("err = %v", err)
		}
	}
	closePool(t, p)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-done
}
