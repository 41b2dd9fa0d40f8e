package remoting

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mqctl/internal/protocol"
)

func TestOneDialForManyCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		var dials atomic.Int32
		p := NewPool(PoolConfig{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			dials.Add(1)
			time.Sleep(2 * time.Second)
			return n.dial(ctx, addr)
		}})
		began := time.Now()
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		first := goCall(impatient, p, request("first")) // the attempt does not end with the caller that started it
		synctest.Wait()
		var calls []<-chan result
		for i := range 50 {
			calls = append(calls, goCall(t.Context(), p, request(fmt.Sprint(i))))
		}
		r := <-first
		wantAfter(t, "impatient caller", began, r.at, time.Second)
		if !errors.Is(r.err, ErrTimeout) || !strings.Contains(r.err.Error(), "still connecting") {
			t.Errorf("err = %v", r.err)
		}
		go (<-n.peers).answerAll()
		for i, c := range calls {
			wantBody(t, <-c, fmt.Sprint(i))
		}
		if got := dials.Load(); got != 1 {
			t.Errorf("%d dials, want 1", got)
		}
		closePool(t, p)
	})
}

func TestSlowAddressDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		p := NewPool(PoolConfig{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			if addr == "dead" {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return n.dial(ctx, addr)
		}})
		began := time.Now()
		dead := make(chan error, 1)
		go func() {
			_, err := p.Call(t.Context(), "dead", request("x"))
			dead <- err
		}()
		synctest.Wait()
		c := goCall(t.Context(), p, request("y"))
		go (<-n.peers).answerAll()
		r := <-c
		wantBody(t, r, "y")
		wantAfter(t, "other address", began, r.at, 0)
		err := <-dead
		wantAfter(t, "dial limit", began, time.Now(), DefaultDialTimeout)
		if !errors.Is(err, ErrDial) || err.Error() != "connect to dead: cannot connect: the peer did not answer in 3s: context deadline exceeded" {
			t.Errorf("err = %v", err)
		}
		closePool(t, p)
	})
}

func TestC26_FailedDialsLeakNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	p := NewPool(PoolConfig{})
	for range 100 {
		_, err := p.Call(t.Context(), addr, request("x"))
		if !errors.Is(err, ErrDial) || !strings.Contains(err.Error(), "connect to "+addr+": cannot connect: the peer refused the connection") {
			t.Fatalf("err = %v", err)
		}
		if len(p.Addrs()) != 0 {
			t.Fatalf("an attempt that failed is kept: %v", p.Addrs())
		}
	}
	closePool(t, p)
	closePool(t, p)
}

func TestDialAgainAfterFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		var dials atomic.Int32
		p := NewPool(PoolConfig{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			if dials.Add(1) <= 2 {
				return nil, errors.New("no route to host")
			}
			return n.dial(ctx, addr)
		}})
		for range 2 {
			if _, err := p.Call(t.Context(), testAddr, request("x")); !errors.Is(err, ErrDial) || !strings.Contains(err.Error(), "no route to host") {
				t.Errorf("err = %v", err)
			}
		}
		c := goCall(t.Context(), p, request("x"))
		go (<-n.peers).answerAll()
		wantBody(t, <-c, "x")
		closePool(t, p)
	})
}

func TestForget(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		p.Forget("never seen")
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		far.mustRead()
		p.Forget(testAddr)
		if r := <-c; !errors.Is(r.err, ErrForgotten) || errors.Is(r.err, ErrClosed) {
			t.Errorf("err = %v, want ErrForgotten", r.err)
		}
		far.waitClosed()
		if len(p.Addrs()) != 0 {
			t.Errorf("still there: %v", p.Addrs())
		}
		c = goCall(t.Context(), p, request("y"))
		go (<-n.peers).answerAll()
		wantBody(t, <-c, "y")
	})
}

func TestForgetWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		deaf := func(ctx context.Context, addr string) (net.Conn, error) { // pays no attention to its context
			time.Sleep(time.Second)
			return n.dial(t.Context(), addr)
		}
		p := NewPool(PoolConfig{Dial: deaf})
		c := goCall(t.Context(), p, request("x"))
		synctest.Wait()
		p.Forget(testAddr)
		if r := <-c; !errors.Is(r.err, ErrForgotten) {
			t.Errorf("err = %v", r.err)
		}
		(<-n.peers).waitClosed()
		closePool(t, p)
	})
}

func TestCloseFailsEveryRequestOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		p := NewPool(PoolConfig{Dial: n.dial})
		var ends atomic.Int32
		var calls []<-chan result
		for range 20 {
			calls = append(calls, goCall(t.Context(), p, request("x")))
			p.Start(t.Context(), testAddr, request("x"), time.Minute, func(_ *protocol.Command, err error) {
				if !errors.Is(err, ErrClosed) {
					t.Errorf("err = %v, want ErrClosed", err)
				}
				ends.Add(1)
			})
		}
		far := <-n.peers
		got := make(chan int)
		go func() {
			frames := 0
			for far.readFrame() != nil {
				frames++
			}
			got <- frames
		}()
		synctest.Wait()
		if err := p.Oneway(t.Context(), testAddr, request("last words")); err != nil {
			t.Fatal(err)
		}
		closePool(t, p)
		for _, c := range calls {
			if r := <-c; !errors.Is(r.err, ErrClosed) {
				t.Errorf("err = %v, want ErrClosed", r.err)
			}
		}
		if ends.Load() != 20 {
			t.Errorf("%d callbacks ended, want 20", ends.Load())
		}
		if frames := <-got; frames != 41 {
			t.Errorf("%d frames left, want 41: Close lets what was sent leave", frames)
		}
		wantClosed(t, p)
		closePool(t, p)
	})
}

func wantClosed(t *testing.T, p *Pool) {
	t.Helper()
	if _, err := p.Call(t.Context(), testAddr, request("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("call after Close: %v", err)
	}
	if err := p.Oneway(t.Context(), testAddr, request("x")); !errors.Is(err, ErrClosed) {
		t.Errorf("one-way after Close: %v", err)
	}
	var err error
	p.Start(t.Context(), testAddr, request("x"), 0, func(_ *protocol.Command, e error) { err = e })
	if !errors.Is(err, ErrClosed) {
		t.Errorf("start after Close: %v", err)
	}
}

func TestCloseWhileDialling(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(PoolConfig{Dial: func(ctx context.Context, _ string) (net.Conn, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}})
		c := goCall(t.Context(), p, request("x"))
		synctest.Wait()
		began := time.Now()
		closePool(t, p)
		r := <-c
		wantAfter(t, "closed", began, r.at, 0)
		if !errors.Is(r.err, ErrClosed) {
			t.Errorf("err = %v", r.err)
		}
	})
}

func TestCloseHasALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		parked := make(chan struct{})
		p := NewPool(PoolConfig{Dial: n.dial, Handler: func(context.Context, *Conn, *protocol.Command) *protocol.Command {
			<-parked
			return nil
		}})
		if err := p.Oneway(t.Context(), testAddr, request("x")); err != nil {
			t.Fatal(err)
		}
		far := <-n.peers
		far.mustRead()
		far.write(peerRequest(protocol.GetConsumerRunningInfo, 1))
		if err := p.Oneway(t.Context(), testAddr, request("never read")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		began := time.Now()
		if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("err = %v", err)
		}
		wantAfter(t, "Close", began, time.Now(), 2*time.Second)
		far.waitClosed()
		close(parked)
		closePool(t, p)
	})
}
