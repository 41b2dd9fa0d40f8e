package remoting

import (
	"context"
	"testing"
	"testing/synctest"

	"mqctl/internal/protocol"
)

// peerRequest is a request that a broker sends, with the given opaque.
func peerRequest(code protocol.RequestCode, opaque int32) *protocol.Command {
	req := protocol.NewBodyRequest(code, nil)
	req.Opaque = opaque
	return req
}

func TestPeerRequestIsToldByTheFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		handled := make(chan *protocol.Command, 1)
		p := NewPool(PoolConfig{Dial: n.dial, Handler: func(_ context.Context, from *Conn, req *protocol.Command) *protocol.Command {
			if from.Addr() != testAddr || from.ID() != 1 {
				t.Errorf("request from connection %d to %s", from.ID(), from.Addr())
			}
			handled <- req
			return answerTo(req, "status")
		}})
		c := goCall(t.Context(), p, request("mine"))
		far := <-n.peers
		mine := far.mustRead()
		far.write(peerRequest(protocol.GetConsumerRunningInfo, mine.Opaque)) // the broker's number equals ours
		if req := <-handled; req.RequestCode() != protocol.GetConsumerRunningInfo {
			t.Errorf("handler got %v", req.RequestCode())
		}
		resp := far.mustRead()
		if !resp.IsResponse() || resp.Opaque != mine.Opaque || string(resp.Body) != "status" {
			t.Errorf("the broker's request was answered with %+v", resp)
		}
		far.write(answerTo(mine, "mine"))
		wantBody(t, <-c, "mine")
		closePool(t, p)
	})
}

func TestParkedHandlerBlocksNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		parked := make(chan struct{})
		p := NewPool(PoolConfig{Dial: n.dial, Handler: func(_ context.Context, _ *Conn, req *protocol.Command) *protocol.Command {
			<-parked
			return answerTo(req, "done")
		}})
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		mine := far.mustRead()
		answers := make(chan int32)
		go func() {
			for cmd := far.readFrame(); cmd != nil; cmd = far.readFrame() {
				answers <- cmd.Code
			}
			close(answers)
		}()
		far.write(peerRequest(protocol.GetConsumerRunningInfo, 1))
		synctest.Wait() // the worker has taken it
		for i := range int32(inboxSize) {
			far.write(peerRequest(protocol.GetConsumerRunningInfo, 2+i))
		}
		far.write(answerTo(mine, "x"))
		wantBody(t, <-c, "x")
		far.write(peerRequest(protocol.GetConsumerRunningInfo, 9999))
		if code := <-answers; code != int32(protocol.CodeSystemBusy) {
			t.Errorf("one request too many was answered with %d, want SYSTEM_BUSY", code)
		}
		close(parked)
		for range inboxSize + 1 {
			if code := <-answers; code != int32(protocol.CodeSuccess) {
				t.Errorf("a waiting request was answered with %d", code)
			}
		}
		closePool(t, p)
		if _, more := <-answers; more {
			t.Error("a request was answered twice")
		}
	})
}

func TestHandlerAnswers(t *testing.T) {
	handler := func(_ context.Context, _ *Conn, req *protocol.Command) *protocol.Command {
		switch req.RequestCode() {
		case protocol.ConsumeMessageDirectly:
			panic("boom")
		case protocol.ResetConsumerClientOffset:
			return nil
		}
		// A handler that forgets opaque and flag still answers the right request.
		return &protocol.Command{Code: int32(protocol.CodeNoPermission)}
	}
	inBubble(t, PoolConfig{Handler: handler}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		mine := far.mustRead()
		oneway := peerRequest(protocol.NotifyConsumerIDsChanged, 7)
		oneway.SetOneway()
		panicking := peerRequest(protocol.ConsumeMessageDirectly, 8)
		panicking.SetOneway()
		far.write(oneway, panicking, peerRequest(protocol.ResetConsumerClientOffset, 9),
			peerRequest(protocol.ConsumeMessageDirectly, 10), peerRequest(protocol.GetConsumerRunningInfo, 11))
		for _, want := range []struct {
			opaque int32
			code   protocol.ResponseCode
		}{{10, protocol.CodeSystemError}, {11, protocol.CodeNoPermission}} {
			got := far.mustRead()
			if !got.IsResponse() || got.Opaque != want.opaque || got.ResponseCode() != want.code {
				t.Errorf("answer %v to %d, want %v to %d", got.ResponseCode(), got.Opaque, want.code, want.opaque)
			}
		}
		far.write(answerTo(mine, "x"))
		wantBody(t, <-c, "x")
	})
}

func TestWithoutHandlerRequestsAreRefused(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		if err := p.Oneway(t.Context(), testAddr, request("x")); err != nil {
			t.Fatal(err)
		}
		far := <-n.peers
		if cmd := far.mustRead(); !cmd.IsOneway() {
			t.Errorf("flag %d is not one-way", cmd.Flag)
		}
		oneway := peerRequest(protocol.NotifyConsumerIDsChanged, 7)
		oneway.SetOneway()
		far.write(oneway, peerRequest(protocol.GetConsumerRunningInfo, 8))
		if got := far.mustRead(); got.Opaque != 8 || got.ResponseCode() != protocol.CodeRequestCodeNotSupported {
			t.Errorf("answer %v to %d", got.ResponseCode(), got.Opaque)
		}
	})
}

func TestHandlerContextEndsWithTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		ended := make(chan error, 1)
		p := NewPool(PoolConfig{Dial: n.dial, Handler: func(ctx context.Context, _ *Conn, _ *protocol.Command) *protocol.Command {
			<-ctx.Done()
			ended <- ctx.Err()
			return nil
		}})
		ctx, cancel := context.WithCancel(t.Context())
		if err := p.Oneway(ctx, testAddr, request("x")); err != nil {
			t.Fatal(err)
		}
		cancel() // the context of the first caller has no say in it
		far := <-n.peers
		far.mustRead()
		far.write(peerRequest(protocol.GetConsumerRunningInfo, 1))
		synctest.Wait()
		if len(ended) != 0 {
			t.Error("the handler's context ended while the connection was alive")
		}
		if err := far.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err == nil {
			t.Error("no error in the handler's context")
		}
		closePool(t, p)
	})
}

func TestHeaderEncodingFollowsThePeer(t *testing.T) {
	old, current := int32(binaryVersion-1), int32(protocol.CurrentVersion)
	for _, test := range []struct {
		name     string
		cfg      PoolConfig
		version  int32
		code     protocol.RequestCode
		wantLast protocol.SerializeType
	}{
		{"modern server", PoolConfig{}, current, protocol.HeartBeat, protocol.SerializeRocketMQ},
		{"server before 4.0", PoolConfig{}, old, protocol.HeartBeat, protocol.SerializeJSON},
		{"first version of 4.0", PoolConfig{}, old + 1, protocol.HeartBeat, protocol.SerializeRocketMQ},
		{"JSON only", PoolConfig{JSONOnly: true}, current, protocol.HeartBeat, protocol.SerializeJSON},
		{"code beyond 16 bits", PoolConfig{}, current, protocol.PopMessage, protocol.SerializeJSON},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, test.cfg, func(t *testing.T, p *Pool, n *pipeNet) {
				first := goCall(t.Context(), p, request("a"))
				far := <-n.peers
				req := far.mustRead()
				if req.Serialize != protocol.SerializeJSON {
					t.Errorf("the first request has the header %v, want JSON", req.Serialize)
				}
				answer := answerTo(req, "a")
				answer.Version = test.version
				far.write(answer)
				wantBody(t, <-first, "a")
				last := goCall(t.Context(), p, protocol.NewBodyRequest(test.code, []byte("b")))
				req = far.mustRead()
				if req.Serialize != test.wantLast || req.RequestCode() != test.code {
					t.Errorf("%v with header %v, want %v with %v", req.RequestCode(), req.Serialize, test.code, test.wantLast)
				}
				far.write(answerTo(req, "b"))
				wantBody(t, <-last, "b")
			})
		})
	}
}
