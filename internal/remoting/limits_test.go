package remoting

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/protocol"
)

// wantLost checks that a call failed because the connection was lost, for a reason that holds the text.
func wantLost(t *testing.T, err error, text string) {
	t.Helper()
	if !errors.Is(err, ErrDisconnected) || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), testAddr) {
		t.Errorf("err = %v, want a lost connection to %s: %q", err, testAddr, text)
	}
}

func TestPeerThatNeverReadsIsCut(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		began := time.Now()
		var calls []<-chan result
		for range 3 {
			calls = append(calls, goCall(t.Context(), p, request("x")))
		}
		<-n.peers
		for _, c := range calls {
			r := <-c
			wantLost(t, r.err, "the peer stopped reading")
			wantAfter(t, "cut", began, r.at, DefaultWriteTimeout)
		}
	})
}

func TestSlowReaderOfLargeFrameIsNotCut(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		body := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
		c := goCall(t.Context(), p, protocol.NewBodyRequest(protocol.SendMessage, body))
		far := <-n.peers
		chunk := make([]byte, 256<<10)
		began := time.Now()
		for got := 0; got < len(body); { // 17 s in all, but some of it all the time
			time.Sleep(1300 * time.Millisecond)
			n, err := far.Read(chunk)
			if err != nil {
				t.Fatalf("cut after %v and %d bytes: %v", time.Since(began), got, err)
			}
			got += n
		}
		if waited := time.Since(began); waited < DefaultWriteTimeout {
			t.Fatalf("the test took only %v", waited)
		}
		go far.waitClosed()
		p.Forget(testAddr)
		if r := <-c; !errors.Is(r.err, ErrForgotten) {
			t.Error(r.err)
		}
	})
}

func TestIdleConnectionIsClosed(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		far.write(answerTo(far.mustRead(), "x"))
		wantBody(t, <-c, "x")
		time.Sleep(100 * time.Second)
		if err := p.Oneway(t.Context(), testAddr, request("traffic")); err != nil {
			t.Fatal(err)
		}
		far.mustRead()
		began := time.Now()
		far.waitClosed()
		wantAfter(t, "idle close", began, time.Now(), DefaultIdleTimeout)
		if addrs := p.Addrs(); len(addrs) != 0 {
			t.Errorf("still connected to %v", addrs)
		}
		c = goCall(t.Context(), p, request("y"))
		go (<-n.peers).answerAll()
		wantBody(t, <-c, "y")
	})
}

func TestSilentConnectionIsGivenUp(t *testing.T) {
	for _, test := range []struct {
		name    string
		limit   time.Duration
		traffic bool
		given   bool
	}{
		{"nothing arrived", 3 * time.Second, false, true},
		{"something else arrived", 3 * time.Second, true, false},
		{"too short to tell", time.Second, false, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
				poll := goCall(t.Context(), p, request("poll"))
				far := <-n.peers
				req := far.mustRead()
				ctx, cancel := context.WithTimeout(t.Context(), test.limit)
				defer cancel()
				c := goCall(ctx, p, request("lost"))
				far.mustRead()
				if test.traffic {
					far.write(peerRequest(protocol.NotifyConsumerIDsChanged, 1))
					far.mustRead()
				}
				if r := <-c; !errors.Is(r.err, ErrTimeout) {
					t.Errorf("err = %v, want ErrTimeout", r.err)
				}
				synctest.Wait()
				if given := len(p.Addrs()) == 0; given != test.given {
					t.Errorf("connection given up: %v, want %v", given, test.given)
				}
				if test.given {
					r := <-poll
					wantLost(t, r.err, "nothing arrived for 3s")
					return
				}
				far.write(answerTo(req, "poll"))
				wantBody(t, <-poll, "poll")
			})
		})
	}
}

func TestSilenceIsSeenByStartToo(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		ended := make(chan error, 2)
		p.Start(t.Context(), testAddr, request("a"), 3*time.Second, func(_ *protocol.Command, err error) { ended <- err })
		p.Start(t.Context(), testAddr, request("b"), time.Hour, func(_ *protocol.Command, err error) { ended <- err })
		(<-n.peers).waitClosed()
		if err := <-ended; !errors.Is(err, ErrTimeout) {
			t.Errorf("first: %v", err)
		}
		wantLost(t, <-ended, "nothing arrived")
	})
}

func TestQueuedFramesLeaveInOneWrite(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		first := goCall(t.Context(), p, request("first"))
		far := <-n.peers
		synctest.Wait() // the writer is blocked: nobody reads
		var calls []<-chan result
		for i := range 64 {
			calls = append(calls, goCall(t.Context(), p, request(fmt.Sprint(i))))
		}
		synctest.Wait()
		go far.answerAll()
		wantBody(t, <-first, "first")
		for i, c := range calls {
			wantBody(t, <-c, fmt.Sprint(i))
		}
		s, _ := p.Stats(testAddr)
		if s.Writes != 2 || s.FramesOut != 65 || s.FramesIn != 65 {
			t.Errorf("%d writes for %d frames out and %d in, want 2 for 65 and 65", s.Writes, s.FramesOut, s.FramesIn)
		}
	})
}

// sink takes every write at once, as a socket with an empty buffer does.
type sink struct{ net.Conn }

func (sink) Write(p []byte) (int, error) { return len(p), nil }

// A writer that ran as soon as it was woken would find one frame each time.
func TestWriterLetsReadySendersGoFirst(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	inBubble(t, PoolConfig{Dial: func(context.Context, string) (net.Conn, error) {
		near, _ := net.Pipe()
		return sink{near}, nil
	}}, func(t *testing.T, p *Pool, _ *pipeNet) {
		const senders = 64
		if err := p.Oneway(t.Context(), testAddr, request("x")); err != nil {
			t.Error(err)
		}
		synctest.Wait() // the writer waits
		for range senders {
			go func() {
				if err := p.Oneway(t.Context(), testAddr, request("x")); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		if s, _ := p.Stats(testAddr); s.FramesOut != senders+1 || s.Writes > 8 {
			t.Errorf("%d writes for %d frames of %d senders that were ready at once", s.Writes, s.FramesOut, senders)
		}
	})
}

func TestSendersWaitForRoom(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		body := make([]byte, 1<<20)
		big := protocol.NewBodyRequest(protocol.SendMessage, body)
		for range 1 + maxQueued/len(body) { // one with the writer, the rest waiting for it
			if err := p.Oneway(t.Context(), testAddr, big); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		far := <-n.peers
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		r := <-goCall(ctx, p, request("x"))
		wantAfter(t, "deadline", began, r.at, 2*time.Second)
		if !errors.Is(r.err, ErrTimeout) || !strings.Contains(r.err.Error(), "too much is queued") {
			t.Errorf("err = %v", r.err)
		}
		began = time.Now()
		ended := make(chan error, 1)
		p.Start(t.Context(), testAddr, request("x"), time.Second, func(_ *protocol.Command, err error) { ended <- err })
		if err := <-ended; !errors.Is(err, ErrTimeout) {
			t.Errorf("start: %v", err)
		}
		wantAfter(t, "limit", began, time.Now(), time.Second)
		c := goCall(t.Context(), p, request("y"))
		synctest.Wait()
		go far.answerAll()
		wantBody(t, <-c, "y")
	})
}

func TestFrameBeyondTheLimitStaysHere(t *testing.T) {
	inBubble(t, PoolConfig{MaxFrame: 4096}, func(t *testing.T, p *Pool, n *pipeNet) {
		for _, body := range []int{4096 - 60, 4097, 1 << 20} {
			_, err := p.Call(t.Context(), testAddr, protocol.NewBodyRequest(protocol.SendMessage, make([]byte, body)))
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("body of %d bytes: %v, want ErrTooLarge", body, err)
			}
		}
		c := goCall(t.Context(), p, request("fits"))
		go (<-n.peers).answerAll()
		wantBody(t, <-c, "fits")
		if s, _ := p.Stats(testAddr); s.FramesOut != 1 {
			t.Errorf("%d frames left, want 1", s.FramesOut)
		}
	})
}

// A sender of large batches keeps its buffer between them, and gives it back when it is done with them.
func TestBuffersOfLargeBatchesAreKeptForAWhile(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		go func() { (<-n.peers).waitClosed() }()
		kept := func(size int) int {
			if err := p.Oneway(t.Context(), testAddr, protocol.NewBodyRequest(protocol.SendMessage, make([]byte, size))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			p.mu.Lock()
			c := p.slots[testAddr].conn
			p.mu.Unlock()
			c.out.mu.Lock()
			defer c.out.mu.Unlock()
			return cap(c.out.pending) + cap(c.out.spare)
		}
		for range 3 {
			if got := kept(2 << 20); got < 2<<20 {
				t.Errorf("%d bytes kept between large batches", got)
			}
		}
		for range calmWrites {
			kept(10)
		}
		if got := kept(10); got > 2*keptBuffer {
			t.Errorf("%d bytes kept long after the last large batch", got)
		}
	})
}

func TestBurstMemoryGoesBack(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		go func() { (<-n.peers).waitClosed() }()
		if err := p.Oneway(t.Context(), testAddr, protocol.NewBodyRequest(protocol.SendMessage, make([]byte, 8<<20))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		p.mu.Lock()
		c := p.slots[testAddr].conn
		p.mu.Unlock()
		c.out.mu.Lock()
		defer c.out.mu.Unlock()
		if kept := cap(c.out.pending) + cap(c.out.spare); kept > 2*keptBuffer {
			t.Errorf("%d bytes kept after a burst", kept)
		}
	})
}
