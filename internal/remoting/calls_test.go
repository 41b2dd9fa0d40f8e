package remoting

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/protocol"
)

func TestAnswersInAnyOrder(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		var calls []<-chan result
		for i := range 5 {
			calls = append(calls, goCall(t.Context(), p, request(fmt.Sprint("r", i))))
		}
		far := <-n.peers
		var reqs []*protocol.Command
		for range calls {
			reqs = append(reqs, far.mustRead())
		}
		for i := len(reqs) - 1; i >= 0; i-- {
			far.write(answerTo(reqs[i], string(reqs[i].Body)))
		}
		for i, c := range calls {
			wantBody(t, <-c, fmt.Sprint("r", i))
		}
	})
}

func TestLateAnswerIsDropped(t *testing.T) {
	inBubble(t, PoolConfig{SilenceTimeout: -1}, func(t *testing.T, p *Pool, n *pipeNet) {
		began := time.Now()
		first := make(chan result, 1)
		go func() {
			cmd, err := p.CallWithin(t.Context(), testAddr, request("first"), 3*time.Second)
			first <- result{cmd, err, time.Now()}
		}()
		far := <-n.peers
		late := far.mustRead()
		r := <-first
		if !errors.Is(r.err, ErrTimeout) || errors.Is(r.err, context.DeadlineExceeded) {
			t.Errorf("err = %v, want ErrTimeout and no context error", r.err)
		}
		wantAfter(t, "limit", began, r.at, 3*time.Second)
		second := goCall(t.Context(), p, request("second"))
		req := far.mustRead()
		far.write(answerTo(late, "late"), answerTo(req, "second"), answerTo(req, "again"), answerTo(req, "and again"))
		wantBody(t, <-second, "second")
		synctest.Wait()
		if s, _ := p.Stats(testAddr); s.Unmatched != 3 {
			t.Errorf("%d unmatched answers, want 3: one late and two repeated", s.Unmatched)
		}
		third := goCall(t.Context(), p, request("third")) // its waiter is a used one
		far.write(answerTo(far.mustRead(), "third"))
		wantBody(t, <-third, "third")
	})
}

func TestUnknownOpaqueIsDropped(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		req := far.mustRead()
		for _, opaque := range []int32{-1, 0, req.Opaque + 1, math.MaxInt32, math.MinInt32} {
			stray := answerTo(req, "stray")
			stray.Opaque = opaque
			far.write(stray)
		}
		far.write(answerTo(req, "x"))
		wantBody(t, <-c, "x")
	})
}

func TestTimeLimitOfContext(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r := <-goCall(ctx, p, request("x"))
		wantAfter(t, "deadline", began, r.at, 3*time.Second)
		var e *Error
		if !errors.As(r.err, &e) || e.Addr != testAddr || e.Op != "HEART_BEAT" {
			t.Fatalf("err = %#v, want an *Error that names address and request", r.err)
		}
		if !errors.Is(r.err, ErrTimeout) || !errors.Is(r.err, context.DeadlineExceeded) {
			t.Errorf("%v is not both ErrTimeout and DeadlineExceeded", r.err)
		}
		if want := "HEART_BEAT to 10.0.0.1:10911: no answer in 3s"; r.err.Error() != want {
			t.Errorf("err = %q, want %q", r.err, want)
		}
		<-n.peers
	})
}

func TestCancelledCall(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		ctx, cancel := context.WithCancel(t.Context())
		c := goCall(ctx, p, request("x"))
		far := <-n.peers
		req := far.mustRead()
		cancel()
		if r := <-c; !errors.Is(r.err, context.Canceled) || errors.Is(r.err, ErrTimeout) {
			t.Errorf("err = %v, want context.Canceled", r.err)
		}
		if _, err := p.Call(ctx, testAddr, request("y")); !errors.Is(err, context.Canceled) {
			t.Errorf("call with a finished context: %v", err)
		}
		again := goCall(t.Context(), p, request("z"))
		far.write(answerTo(req, "x"))
		if got := far.mustRead(); string(got.Body) != "z" {
			t.Errorf("peer got %q, want z: a finished context sends nothing", got.Body)
		} else {
			far.write(answerTo(got, "z"))
		}
		wantBody(t, <-again, "z")
	})
}

func TestStartHasExactlyOneEnd(t *testing.T) {
	inBubble(t, PoolConfig{SilenceTimeout: -1}, func(t *testing.T, p *Pool, n *pipeNet) {
		began := time.Now()
		const calls = 200
		var mu sync.Mutex
		ends := make([]int, calls)
		for i := range calls {
			limit := time.Duration(1000+i*3) * time.Millisecond
			p.Start(t.Context(), testAddr, request(fmt.Sprint(i)), limit, func(cmd *protocol.Command, err error) {
				mu.Lock()
				defer mu.Unlock()
				ends[i]++
				waited := time.Since(began)
				if i%2 == 0 && (err != nil || string(cmd.Body) != fmt.Sprint(i)) {
					t.Errorf("call %d: %v", i, err)
				}
				if i%2 == 1 && (!errors.Is(err, ErrTimeout) || waited < limit || waited > limit+time.Duration(scanSpacing)) {
					t.Errorf("call %d with limit %v: %v after %v", i, limit, err, waited)
				}
			})
		}
		far := <-n.peers
		for i := range calls {
			if req := far.mustRead(); i%2 == 0 {
				far.write(answerTo(req, string(req.Body)))
			}
		}
		time.Sleep(10 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		for i, n := range ends {
			if n != 1 {
				t.Errorf("call %d ended %d times", i, n)
			}
		}
	})
}

func TestStartWithShorterLimitAfterLongerOne(t *testing.T) {
	inBubble(t, PoolConfig{SilenceTimeout: -1}, func(t *testing.T, p *Pool, n *pipeNet) {
		began := time.Now()
		ended := make(chan time.Duration, 3)
		for _, limit := range []time.Duration{5 * time.Second, 1 * time.Second, 3 * time.Second} {
			p.Start(t.Context(), testAddr, request("x"), limit, func(*protocol.Command, error) { ended <- time.Since(began) })
		}
		go (<-n.peers).waitClosed()
		for _, want := range []time.Duration{1 * time.Second, 3 * time.Second, 5 * time.Second} {
			if got := <-ended; got != want {
				t.Errorf("ended after %v, want %v", got, want)
			}
		}
	})
}

func TestPanicInCallbackSparesTheConnection(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		p.Start(t.Context(), testAddr, request("boom"), time.Second, func(*protocol.Command, error) { panic("boom") })
		go (<-n.peers).answerAll()
		wantBody(t, <-goCall(t.Context(), p, request("x")), "x")
		if len(n.peers) != 0 {
			t.Error("a second connection was made")
		}
	})
}

func TestOpaqueSkipsOpenRequests(t *testing.T) {
	table := calls{open: map[int32]*waiter{}, last: math.MaxInt32 - 1}
	held := map[int32]bool{}
	for range 3 {
		_, opaque, err := table.add(protocol.PullMessage, nil, 0, never, 0)
		if err != nil {
			t.Fatal(err)
		}
		held[opaque] = true
	}
	if !held[math.MaxInt32] || !held[0] || !held[1] {
		t.Fatalf("opaques %v, want the largest and then from 0 on", held)
	}
	table.last = math.MaxInt32 - 1
	_, opaque, err := table.add(protocol.PullMessage, nil, 0, never, 0)
	if err != nil || held[opaque] {
		t.Errorf("opaque %d (%v) was given out twice", opaque, err)
	}
}

func TestRequestIsNotChanged(t *testing.T) {
	inBubble(t, PoolConfig{Prepare: func(_ string, cmd *protocol.Command) error {
		cmd.Ext.Add("Signature", "s")
		return nil
	}}, func(t *testing.T, p *Pool, n *pipeNet) {
		req := request("shared")
		req.Ext = make(protocol.ExtFields, 0, 8)
		var calls []<-chan result
		for range 8 {
			calls = append(calls, goCall(t.Context(), p, req))
		}
		if err := p.Oneway(t.Context(), testAddr, req); err != nil {
			t.Error(err)
		}
		go func() {
			far := <-n.peers
			for cmd := far.readFrame(); cmd != nil; cmd = far.readFrame() {
				if v, _ := cmd.Ext.Get("Signature"); v != "s" || len(cmd.Ext) != 1 {
					t.Errorf("fields %v, want one signature", cmd.Ext)
				}
				if !cmd.IsOneway() {
					far.write(answerTo(cmd, "ok"))
				}
			}
		}()
		for _, c := range calls {
			wantBody(t, <-c, "ok")
		}
		if req.Opaque != 0 || req.Flag != 0 || len(req.Ext) != 0 || req.Ext[:1][0].Key != "" {
			t.Errorf("the caller's request became %+v", req)
		}
	})
}

func TestPrepareFailure(t *testing.T) {
	refuse := errors.New("no secret key")
	inBubble(t, PoolConfig{Prepare: func(string, *protocol.Command) error { return refuse }},
		func(t *testing.T, p *Pool, n *pipeNet) {
			_, err := p.Call(t.Context(), testAddr, request("x"))
			if !errors.Is(err, refuse) || !strings.Contains(err.Error(), testAddr) {
				t.Errorf("err = %v", err)
			}
			if err := p.Oneway(t.Context(), testAddr, request("x")); !errors.Is(err, refuse) {
				t.Errorf("one-way: %v", err)
			}
			if s, _ := p.Stats(testAddr); s.FramesOut != 0 {
				t.Errorf("%d frames left", s.FramesOut)
			}
		})
}
