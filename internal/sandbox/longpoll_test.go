package sandbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func suspended(h *protocol.PullMessageRequest, d time.Duration) *protocol.PullMessageRequest {
	h.SysFlag |= protocol.PullSuspend
	h.SuspendTimeoutMillis = d.Milliseconds()
	return h
}

// timed is an answer and how long it took.
type timed struct {
	resp *protocol.Command
	took time.Duration
	err  error
}

// start sends a request to broker-a and returns where its answer will be.
func (c *client) start(h protocol.RequestHeader) <-chan timed {
	out := make(chan timed, 1)
	began := time.Now()
	c.pool.Start(c.r.t.Context(), c.r.BrokerAddr("broker-a"), protocol.NewRequest(h, nil), 0, func(resp *protocol.Command, err error) {
		out <- timed{resp, time.Since(began), err}
	})
	synctest.Wait()
	return out
}

func wantAnswer(t *testing.T, answer <-chan timed, code protocol.ResponseCode, took time.Duration) *protocol.Command {
	t.Helper()
	a := <-answer
	if a.err != nil {
		t.Fatal(a.err)
	}
	wantCode(t, a.resp, code)
	if a.took != took {
		t.Errorf("took %v, want %v", a.took, took)
	}
	return a.resp
}

func TestLongPollWakes(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		held := c.start(suspended(pullRequest("G", "orders", 0, 0, "TagA"), 15*time.Second))
		time.Sleep(3 * time.Second)
		c.send("orders", 1, "another queue", "TAGS", "TagA")
		c.send("orders", 0, "another tag", "TAGS", "TagB")
		synctest.Wait()
		if len(held) > 0 || r.Held() != 1 {
			t.Fatal("woken by a message that it does not want")
		}
		c.send("orders", 0, "wanted", "TAGS", "TagA")
		resp := wantAnswer(t, held, protocol.CodeSuccess, 3*time.Second)
		if diff := cmp.Diff([]string{"wanted"}, bodies(t, resp)); diff != "" {
			t.Error(diff)
		}
		if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != 2 {
			t.Errorf("next offset %d, want 2", h.NextBeginOffset)
		}
	})
}

func TestLongPollExpires(t *testing.T) {
	for name, test := range map[string]struct {
		check time.Duration
		sent  string // tag of a message that comes meanwhile
		code  protocol.ResponseCode
		next  int64
		took  time.Duration
	}{
		"nothing":        {code: protocol.CodePullNotFound, took: 1500 * time.Millisecond},
		"unwanted only":  {sent: "TagB", code: protocol.CodePullRetryImmediately, next: 1, took: 1500 * time.Millisecond},
		"looked at late": {check: 5 * time.Second, code: protocol.CodePullNotFound, took: 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, HoldCheck: test.check}, func(t *testing.T, r *rig) {
				c := r.client("c1")
				held := c.start(suspended(pullRequest("G", "orders", 0, 0, "TagA"), 1500*time.Millisecond))
				if test.sent != "" {
					c.send("orders", 0, "x", "TAGS", test.sent)
				}
				resp := wantAnswer(t, held, test.code, test.took)
				if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != test.next {
					t.Errorf("next offset %d, want %d", h.NextBeginOffset, test.next)
				}
			})
		})
	}
}

func TestLongPollEndsWithItsConnection(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		held := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 15*time.Second))
		c.pool.Forget(r.BrokerAddr("broker-a"))
		if a := <-held; a.err == nil {
			t.Error("answered on a closed connection")
		}
		synctest.Wait()
		if n := r.Held(); n != 0 {
			t.Errorf("%d pulls still parked", n)
		}
		r.do(func() {
			if n := len(r.alarms.heap); n != 0 {
				t.Errorf("%d alarms are left", n)
			}
		})
	})
}

func TestLongPollDoesNotBlockItsConnection(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		first := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 15*time.Second))
		second := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 2*time.Second))
		wantAnswer(t, second, protocol.CodePullNotFound, 2*time.Second)
		c.send("orders", 0, "x")
		wantAnswer(t, first, protocol.CodeSuccess, 2*time.Second)
	})
}

func TestLongPollIsRefusedAfterAChange(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		held := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 15*time.Second))
		cfg := protocol.NewSubscriptionGroupConfig("G")
		cfg.ConsumeEnable = false
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, cfg.Encode()), protocol.CodeSuccess)
		c.send("orders", 0, "x")
		resp := wantAnswer(t, held, protocol.CodeNoPermission, 0)
		if h := header[protocol.PullRefusal](t, resp); h.ForbiddenType != protocol.ForbiddenGroup {
			t.Errorf("forbidden type %d", h.ForbiddenType)
		}
	})
}

func TestLongPollTakesWholeBatch(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		held := c.start(suspended(pullRequest("G", "orders", 0, 0, "*"), 15*time.Second))
		body, err := protocol.EncodeBatch([]protocol.Message{{Body: []byte("a")}, {Body: []byte("b")}, {Body: []byte("c")}})
		if err != nil {
			t.Fatal(err)
		}
		h, _ := message("orders", 0, "")
		batch := protocol.SendBatchMessageRequest(*h)
		wantCode(t, c.broker(&batch, body), protocol.CodeSuccess)
		if diff := cmp.Diff([]string{"a", "b", "c"}, bodies(t, wantAnswer(t, held, protocol.CodeSuccess, 0))); diff != "" {
			t.Error(diff)
		}
	})
}
