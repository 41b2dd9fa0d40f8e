package remoting

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
)

// overFaultyNetwork runs a test with a server at testAddr that answers everything but PULL_MESSAGE, on virtual time.
func overFaultyNetwork(t *testing.T, test func(t *testing.T, p *Pool, n *faultnet.Network)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.New()
		s := serveOn(t, n)
		p := NewPool(PoolConfig{Dial: n.Dial})
		test(t, p, n)
		closePool(t, p)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func serveOn(t *testing.T, n *faultnet.Network) *Server {
	t.Helper()
	l, err := n.Listen(testAddr)
	if err != nil {
		t.Fatal(err)
	}
	return Serve(l, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
		if req.RequestCode() == protocol.PullMessage {
			return
		}
		if err := c.Send(answerTo(req, string(req.Body))); err != nil && !errors.Is(err, ErrDisconnected) && !errors.Is(err, ErrClosed) {
			t.Error(err)
		}
	}})
}

// callWithin runs CallWithin with the usual limit of a request.
func callWithin(t *testing.T, p *Pool, req *protocol.Command) result {
	cmd, err := p.CallWithin(t.Context(), testAddr, req, 3*time.Second)
	return result{cmd, err, time.Now()}
}

func TestBlackholedPeer(t *testing.T) {
	for _, direction := range []faultnet.Direction{faultnet.Both, faultnet.ToServer, faultnet.ToClient} {
		t.Run(fmt.Sprint("direction ", int(direction)), func(t *testing.T) {
			overFaultyNetwork(t, func(t *testing.T, p *Pool, n *faultnet.Network) {
				wantBody(t, callWithin(t, p, request("before")), "before")
				poll := goCall(t.Context(), p, protocol.NewBodyRequest(protocol.PullMessage, nil))
				synctest.Wait()
				n.Faults(testAddr).Blackhole(direction)
				began := time.Now()
				r := callWithin(t, p, request("lost"))
				wantAfter(t, "limit", began, r.at, 3*time.Second)
				if !errors.Is(r.err, ErrTimeout) {
					t.Errorf("err = %v", r.err)
				}
				r = <-poll
				wantLost(t, r.err, "nothing arrived for 3s")
				wantAfter(t, "poll", began, r.at, 3*time.Second)
				began = time.Now()
				r = callWithin(t, p, request("no connection either"))
				wantAfter(t, "dial limit", began, r.at, DefaultDialTimeout)
				if !errors.Is(r.err, ErrDial) {
					t.Errorf("err = %v", r.err)
				}
				n.Faults(testAddr).Heal()
				began = time.Now()
				r = callWithin(t, p, request("after"))
				wantBody(t, r, "after")
				wantAfter(t, "answer", began, r.at, 0)
			})
		})
	}
}

func TestPeerVanishesWithoutAWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := faultnet.New()
		s := serveOn(t, n)
		p := NewPool(PoolConfig{Dial: n.Dial})
		wantBody(t, callWithin(t, p, request("before")), "before")
		n.Faults(testAddr).HalfOpen()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s = serveOn(t, n)
		if r := callWithin(t, p, request("into the void")); !errors.Is(r.err, ErrTimeout) {
			t.Errorf("err = %v", r.err)
		}
		began := time.Now()
		r := callWithin(t, p, request("after")) // on a new connection
		wantBody(t, r, "after")
		wantAfter(t, "answer", began, r.at, 0)
		closePool(t, p)
		n.Faults(testAddr).Heal()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestCutAndRefusedConnections(t *testing.T) {
	overFaultyNetwork(t, func(t *testing.T, p *Pool, n *faultnet.Network) {
		poll := goCall(t.Context(), p, protocol.NewBodyRequest(protocol.PullMessage, nil))
		synctest.Wait()
		n.Faults(testAddr).Refuse()
		n.Faults(testAddr).Cut()
		wantLost(t, (<-poll).err, "the peer reset it")
		if r := callWithin(t, p, request("x")); !errors.Is(r.err, ErrDial) || !strings.Contains(r.err.Error(), "refused the connection") {
			t.Errorf("err = %v", r.err)
		}
		n.Faults(testAddr).Heal()
		wantBody(t, callWithin(t, p, request("x")), "x")
	})
}

func TestSlowAndChoppedNetwork(t *testing.T) {
	overFaultyNetwork(t, func(t *testing.T, p *Pool, n *faultnet.Network) {
		n.Faults(testAddr).Delay(50*time.Millisecond, 100*time.Millisecond)
		n.Faults(testAddr).Chunk(7)
		for round := range 20 {
			var calls []<-chan result
			for i := range 30 {
				calls = append(calls, goCall(t.Context(), p, request(fmt.Sprint(round, "/", i))))
			}
			for i, c := range calls {
				wantBody(t, <-c, fmt.Sprint(round, "/", i))
			}
		}
		if c := n.Counters(testAddr); c.Dials != 1 {
			t.Errorf("%d connections, want 1", c.Dials)
		}
	})
}

func TestCorruptedBytesNeverHangACall(t *testing.T) {
	overFaultyNetwork(t, func(t *testing.T, p *Pool, n *faultnet.Network) {
		answered := 0
		for i := range 300 {
			n.Faults(testAddr).Corrupt(101 + i)
			began := time.Now()
			r := callWithin(t, p, request(strings.Repeat("x", i)))
			if waited := r.at.Sub(began); waited > 3*time.Second {
				t.Errorf("call %d took %v", i, waited)
			}
			if r.err == nil {
				answered++
			}
		}
		if answered == 0 || answered == 300 {
			t.Errorf("%d of 300 calls were answered: the fault did not act on some", answered)
		}
	})
}
