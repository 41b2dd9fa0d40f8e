package sandbox

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

var maxOffsetOfOrders = &protocol.GetMaxOffsetRequest{Topic: "orders"}

func withFaults(t *testing.T, test func(t *testing.T, r *rig, c *client)) {
	t.Helper()
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) { test(t, r, r.client("c1")) })
}

// tryCall is a call that may fail.
func (c *client) tryCall(h protocol.RequestHeader, limit time.Duration) (*protocol.Command, error) {
	ctx, cancel := context.WithTimeout(c.r.t.Context(), limit)
	defer cancel()
	return c.pool.Call(ctx, c.r.BrokerAddr("broker-a"), protocol.NewRequest(h, nil))
}

func TestFaultReply(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		remove := r.On(protocol.GetMaxOffset, func(ctl *Control) {
			var h protocol.GetMaxOffsetRequest
			if err := ctl.Header(&h); err != nil || h.Topic != "orders" || ctl.Broker != "broker-a" || ctl.Client == "" {
				t.Errorf("control %+v, header %+v, %v", ctl, h, err)
			}
			ctl.Reply(protocol.CodeSystemBusy, "later")
		})
		for range 3 { // it stays by itself
			resp := c.broker(maxOffsetOfOrders, nil)
			wantCode(t, resp, protocol.CodeSystemBusy)
			if resp.Remark != "later" {
				t.Errorf("remark %q", resp.Remark)
			}
		}
		wantCode(t, c.broker(&protocol.GetMinOffsetRequest{Topic: "orders"}, nil), protocol.CodeSuccess)
		remove()
		wantCode(t, c.broker(maxOffsetOfOrders, nil), protocol.CodeSuccess)
		if got := r.Counts()[protocol.GetMaxOffset]; got != 4 {
			t.Errorf("counted %d requests, want 4", got)
		}
	})
}

func TestFaultLifetimes(t *testing.T) {
	codes := func(c *client, n int) (out []protocol.ResponseCode) {
		for range n {
			out = append(out, c.broker(maxOffsetOfOrders, nil).ResponseCode())
		}
		return out
	}
	busy, ok := protocol.CodeSystemBusy, protocol.CodeSuccess
	for name, test := range map[string]struct {
		fn   func(n int, ctl *Control) // n counts its calls from 1
		want []protocol.ResponseCode
	}{
		"once":         {func(_ int, ctl *Control) { ctl.Reply(busy, ""); ctl.Once() }, []protocol.ResponseCode{busy, ok, ok}},
		"times":        {func(_ int, ctl *Control) { ctl.Reply(busy, ""); ctl.Times(2) }, []protocol.ResponseCode{busy, busy, ok}},
		"keep":         {func(_ int, ctl *Control) { ctl.Times(1); ctl.Reply(busy, ""); ctl.Keep() }, []protocol.ResponseCode{busy, busy, busy}},
		"looks only":   {func(_ int, ctl *Control) { ctl.Once() }, []protocol.ResponseCode{ok, ok, ok}},
		"observe":      {func(_ int, ctl *Control) { ctl.Reply(busy, ""); ctl.Once(); ctl.Observe() }, []protocol.ResponseCode{ok, ok, ok}},
		"second only":  {func(n int, ctl *Control) { ctl.Once(); choose(n == 2, ctl) }, []protocol.ResponseCode{ok, busy, ok}},
		"panics, once": {func(int, *Control) { panic("bug") }, []protocol.ResponseCode{protocol.CodeSystemError, ok, ok}},
	} {
		t.Run(name, func(t *testing.T) {
			withFaults(t, func(t *testing.T, r *rig, c *client) {
				n := 0
				r.On(protocol.GetMaxOffset, func(ctl *Control) { n++; test.fn(n, ctl) })
				if diff := cmp.Diff(test.want, codes(c, 3)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func choose(act bool, ctl *Control) {
	if act {
		ctl.Reply(protocol.CodeSystemBusy, "")
	}
}

func TestFaultDelays(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		// The answer was made before the send, and comes after it.
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.Delay(2 * time.Second); ctl.Once() })
		late := c.start(maxOffsetOfOrders)
		c.send("orders", 0, "x")
		resp := wantAnswer(t, late, protocol.CodeSuccess, 2*time.Second)
		if got := header[protocol.GetMaxOffsetResponse](t, resp).Offset; got != 0 {
			t.Errorf("offset %d in a delayed answer, want 0", got)
		}
		// The request is handled after the send.
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.Wait(2 * time.Second); ctl.Once() })
		late = c.start(maxOffsetOfOrders)
		c.send("orders", 0, "x")
		resp = wantAnswer(t, late, protocol.CodeSuccess, 2*time.Second)
		if got := header[protocol.GetMaxOffsetResponse](t, resp).Offset; got != 2 {
			t.Errorf("offset %d after a wait, want 2", got)
		}
		r.On(protocol.GetMaxOffset, func(ctl *Control) {
			ctl.Wait(time.Second)
			ctl.Delay(time.Second)
			ctl.Reply(protocol.CodeSystemBusy, "")
		})
		wantAnswer(t, c.start(maxOffsetOfOrders), protocol.CodeSystemBusy, 2*time.Second)
	})
}

// TestC07_PullAnsweredLate is the arrangement of a reset that races a pull in flight.
func TestC07_PullAnsweredLate(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		r.On(protocol.PullMessage, func(ctl *Control) { ctl.Delay(2 * time.Second); ctl.Once() })
		held := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 15*time.Second))
		time.Sleep(time.Second)
		c.send("orders", 0, "x")
		wantAnswer(t, held, protocol.CodeSuccess, 3*time.Second)
	})
}

func TestFaultDrops(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		c.group("G")
		r.On(protocol.UpdateConsumerOffset, func(ctl *Control) { ctl.Drop(); ctl.Once() })
		commit := &protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", CommitOffset: 5}
		if _, err := c.tryCall(commit, time.Second); !errors.Is(err, remoting.ErrTimeout) {
			t.Errorf("a dropped request: %v", err)
		}
		if _, ok := r.Offset("G", mq("orders", 0)); ok {
			t.Error("a dropped request was handled")
		}
		r.On(protocol.UpdateConsumerOffset, func(ctl *Control) { ctl.DropAnswer(); ctl.Once() })
		if _, err := c.tryCall(commit, time.Second); !errors.Is(err, remoting.ErrTimeout) {
			t.Errorf("a dropped answer: %v", err)
		}
		if got, _ := r.Offset("G", mq("orders", 0)); got != 5 {
			t.Errorf("stored %d: a request whose answer is lost must be handled", got)
		}
	})
}

func TestFaultBreaksConnection(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.Close(); ctl.Once() })
		if _, err := c.tryCall(maxOffsetOfOrders, time.Second); !errors.Is(err, remoting.ErrDisconnected) {
			t.Errorf("closed: %v", err)
		}
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.BadFrame(); ctl.Once() })
		if _, err := c.tryCall(maxOffsetOfOrders, time.Second); !errors.Is(err, protocol.ErrBadHeader) {
			t.Errorf("bad frame: %v", err)
		}
		// A request that waits when its connection ends is not handled.
		r.On(protocol.UpdateConsumerOffset, func(ctl *Control) { ctl.Wait(time.Minute) })
		c.start(&protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", CommitOffset: 5})
		c.pool.Forget(r.BrokerAddr("broker-a"))
		time.Sleep(2 * time.Minute)
		if _, ok := r.Offset("G", mq("orders", 0)); ok {
			t.Error("handled after its connection had ended")
		}
		wantCode(t, c.broker(maxOffsetOfOrders, nil), protocol.CodeSuccess)
	})
}

func TestFaultRewrites(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		r.On(protocol.SendMessageV2, func(ctl *Control) {
			ctl.Rewrite(func(resp *protocol.Command) { resp.Ext[0].Value = "no"; resp.Remark = "odd" })
			ctl.Once()
		})
		resp := c.broker(message("orders", 0, "x"))
		if v, _ := resp.Ext.Get("TRACE_ON"); v != "no" || resp.Remark != "odd" {
			t.Errorf("ext %v, remark %q", resp.Ext, resp.Remark)
		}
		resp = c.broker(message("orders", 0, "x"))
		if v, _ := resp.Ext.Get("TRACE_ON"); v != "true" {
			t.Errorf("the next answer has TRACE_ON=%q: the change went into what answers share", v)
		}
	})
}

func TestFaultsAddUp(t *testing.T) {
	withFaults(t, func(t *testing.T, r *rig, c *client) {
		r.On(AllRequests, func(ctl *Control) { ctl.Delay(time.Second) })
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.Delay(time.Second) })
		asked := 0
		r.On(protocol.GetMaxOffset, func(ctl *Control) { ctl.Reply(protocol.CodeSystemBusy, "") })
		r.On(protocol.GetMaxOffset, func(*Control) { asked++ })
		wantAnswer(t, c.start(maxOffsetOfOrders), protocol.CodeSystemBusy, 2*time.Second)
		if asked != 0 {
			t.Error("a fault was asked after another had answered")
		}
		r.ClearFaults()
		wantAnswer(t, c.start(maxOffsetOfOrders), protocol.CodeSuccess, 0)
	})
}

func TestParseFault(t *testing.T) {
	pulls := []protocol.RequestCode{protocol.PullMessage, protocol.LitePullMessage}
	for text, want := range map[string]Fault{
		"pull:delay=300ms":             {Codes: pulls, Delay: 300 * time.Millisecond},
		"send:error=2":                 {Codes: []protocol.RequestCode{10, 310, 320}, Error: protocol.CodeSystemBusy},
		"commit:drop":                  {Codes: []protocol.RequestCode{15}, Drop: true},
		"query-offset:error=1,times=3": {Codes: []protocol.RequestCode{14}, Error: 1, Times: 3},
		"heartbeat:close":              {Codes: []protocol.RequestCode{34}, Close: true},
		"route:badframe":               {Codes: []protocol.RequestCode{105}, BadFrame: true},
		"pull:p=0.1,drop":              {Codes: pulls, Probability: 0.1, Drop: true},
		"*:delay=20ms":                 {Codes: []protocol.RequestCode{AllRequests}, Delay: 20 * time.Millisecond},
		"PULL_MESSAGE:lose":            {Codes: []protocol.RequestCode{11}, Lose: true},
		"heart_beat:wait=1s":           {Codes: []protocol.RequestCode{34}, Wait: time.Second},
		"9999:error=SYSTEM_ERROR":      {Codes: []protocol.RequestCode{9999}, Error: 1},
		"lock:error=1,remark=no,topic=t,group=g,broker=broker-b": {
			Codes: []protocol.RequestCode{41}, Error: 1, Remark: "no", Topic: "t", Group: "g", Broker: "broker-b",
		},
	} {
		got, err := ParseFault(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
	for _, text := range []string{
		"", "pull", "pull:", ":drop", "nonsense:drop", "pull:nonsense", "pull:delay", "pull:delay=-1s", "pull:delay=fast", "pull:error=0", "pull:error=none",
		"pull:times=0,drop", "pull:times=x,drop", "pull:p=0,drop", "pull:p=2,drop", "pull:p=NaN,drop", "pull:times=3", "pull:drop=1", "-5:drop",
	} {
		if f, err := ParseFault(text); !errors.Is(err, ErrFaultText) {
			t.Errorf("%q: %+v, %v", text, f, err)
		}
	}
}

func TestInjectedFaults(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}, {Name: "other", Queues: 1}}, Brokers: 2}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		inject := func(text string) (remove func()) {
			t.Helper()
			f, err := ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			return r.Inject(f)
		}
		offset := func(topic string) protocol.ResponseCode {
			return c.broker(&protocol.GetMaxOffsetRequest{Topic: topic}, nil).ResponseCode()
		}
		remove := inject("max-offset:error=2,topic=orders")
		if a, b := offset("orders"), offset("other"); a != protocol.CodeSystemBusy || b != protocol.CodeSuccess {
			t.Errorf("by topic: %v, %v", a, b)
		}
		remove()
		remove = inject("max-offset:error=2,broker=broker-b")
		if got := offset("orders"); got != protocol.CodeSuccess {
			t.Errorf("by broker: %v", got)
		}
		wantCode(t, c.call(r.BrokerAddr("broker-b"), protocol.NewRequest(maxOffsetOfOrders, nil)), protocol.CodeSystemBusy)
		remove()
		// Both kinds of pull share the three times.
		inject("pull:error=2,times=3")
		var got []protocol.ResponseCode
		for range 2 {
			h := pullRequest("G", "orders", 0, 0, "*")
			lite := protocol.LitePullMessageRequest(*h)
			got = append(got, c.broker(h, nil).ResponseCode(), c.broker(&lite, nil).ResponseCode())
		}
		busy := protocol.CodeSystemBusy
		if want := []protocol.ResponseCode{busy, busy, busy, protocol.CodePullNotFound}; !slices.Equal(got, want) {
			t.Errorf("three times: %v", got)
		}
		remove = inject("min-offset:p=0.25,error=2")
		failed := 0
		for range 400 {
			if c.broker(&protocol.GetMinOffsetRequest{Topic: "orders"}, nil).ResponseCode() == busy {
				failed++
			}
		}
		if failed < 70 || failed > 130 {
			t.Errorf("%d of 400 failed, want about 100", failed)
		}
		remove()
		inject("heartbeat:close")
		if _, err := c.tryCall(maxOffsetOfOrders, time.Second); err != nil {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.pool.Call(ctx, r.BrokerAddr("broker-a"), protocol.NewBodyRequest(protocol.HeartBeat, c.heartbeat("G").Encode()))
		if !errors.Is(err, remoting.ErrDisconnected) {
			t.Errorf("heartbeat: %v", err)
		}
		synctest.Wait()
		if len(r.Members("G")) != 0 {
			t.Error("the heartbeat was handled")
		}
	})
}
