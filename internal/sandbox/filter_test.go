package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// ownSQL is a pull that brings a condition.
func ownSQL(condition string) *protocol.PullMessageRequest {
	h := pullRequest("G", "orders", 0, 0, condition)
	h.ExpressionType = protocol.ExpressionSQL92
	return h
}

// beatSQL tells the broker of a condition by heartbeat.
func (c *client) beatSQL(kind, condition string, version int64) {
	sub := subscription(c.r.t, "orders", "")
	sub.ExpressionType, sub.SubString, sub.SubVersion = kind, condition, version
	c.beat("G", sub)
}

func checkSQL(c *client, kind, condition string) *protocol.Command {
	sub := protocol.SubscriptionData{Topic: "orders", ExpressionType: kind, SubString: condition}
	return c.bodyOnly(protocol.CheckClientConfig, (&protocol.CheckClientConfigBody{ClientID: "c1", Group: "G", SubscriptionData: sub}).Encode())
}

// TestSQLSwitchedOff: what a broker with enablePropertyFilter=false says, and when it says something else first.
func TestSQLSwitchedOff(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, NoPropertyFilter: true}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "x", "a", "1")
		byBeat := &protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", MaxMsgNums: 32}
		c.beatSQL("SQL92", "a = 1", 1)
		for what, resp := range map[string]*protocol.Command{
			"by heartbeat": c.broker(byBeat, nil), "own": c.broker(ownSQL("a = 1"), nil), "own, unreadable": c.broker(ownSQL("a ="), nil),
			"check": checkSQL(c, "SQL92", "a = 1"), "check, unreadable": checkSQL(c, "SQL92", "a ="),
		} {
			const remark = "The broker does not support consumer to filter message by SQL92"
			if resp.ResponseCode() != protocol.CodeSystemError || resp.Remark != remark {
				t.Errorf("%s: %v: %q", what, resp.ResponseCode(), resp.Remark)
			}
		}
		wantCode(t, c.broker(ownSQL(""), nil), protocol.CodeSubscriptionParseFailed)
		c.beatSQL("SQL92", "a =", 2)
		wantCode(t, c.broker(byBeat, nil), protocol.CodeFilterDataNotExist)
		c.beatSQL("TAG", "*", 3)
		wantCode(t, c.broker(byBeat, nil), protocol.CodeSuccess)
		wantCode(t, checkSQL(c, "TAG", "a ="), protocol.CodeSuccess)
		settings, err := protocol.DecodeBrokerConfig(c.bodyOnly(protocol.GetBrokerConfig, nil).Body)
		if v, _ := settings.Get("enablePropertyFilter"); err != nil || v != "false" {
			t.Errorf("enablePropertyFilter is %q, %v", v, err)
		}
	})
}

func TestSQLDialects(t *testing.T) {
	for version, want := range map[protocol.MQVersion][]string{version513 - 2: nil, version513: {"x"}, 0: {"x"}} {
		inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, Version: int32(version)}, func(t *testing.T, r *rig) {
			c := r.client("c1")
			c.send("orders", 0, "x", "a", "abc")
			if diff := cmp.Diff(want, bodies(t, c.broker(ownSQL("a CONTAINS 'b'"), nil))); diff != "" {
				t.Errorf("version %d: %s", version, diff)
			}
		})
	}
}

// TestSQLConditionsAreBounded: many and long conditions are all judged, and only so many are kept.
func TestSQLConditionsAreBounded(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for i := range maxConditions + 10 {
			wantCode(t, checkSQL(c, "SQL92", fmt.Sprint("a = ", i)), protocol.CodeSuccess)
		}
		long := "a = 1" + strings.Repeat(" OR a = 1", 2000)
		wantCode(t, checkSQL(c, "SQL92", long), protocol.CodeSuccess)
		wantCode(t, checkSQL(c, "SQL92", long+" OR"), protocol.CodeSubscriptionParseFailed)
		n := 0
		r.Sandbox.do(func() {
			for condition := range r.conditions {
				n++
				if len(condition) > keptCondition {
					t.Errorf("a condition of %d bytes is kept", len(condition))
				}
			}
		})
		if n == 0 || n > maxConditions {
			t.Errorf("%d conditions are kept, at most %d should be", n, maxConditions)
		}
	})
}

// TestHoldEndsAtCheckAfterOthers: with checks, a parked pull that has let messages pass is told of them at the next one.
func TestHoldEndsAtCheckAfterOthers(t *testing.T) {
	for name, test := range map[string]struct {
		check, took time.Duration
		code        protocol.ResponseCode
	}{
		"without checks": {0, 20 * time.Second, protocol.CodePullRetryImmediately},
		"every 5 s":      {5 * time.Second, 5 * time.Second, protocol.CodePullRetryImmediately},
		"every minute":   {time.Minute, time.Minute, protocol.CodePullRetryImmediately},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, HoldCheck: test.check}, func(t *testing.T, r *rig) {
				c := r.client("c1")
				held := c.start(suspended(ownSQL("a = 1"), 20*time.Second))
				c.send("orders", 0, "x", "a", "2")
				c.send("orders", 0, "y")
				resp := wantAnswer(t, held, test.code, test.took)
				if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != 2 {
					t.Errorf("next offset %d, want 2", h.NextBeginOffset)
				}
			})
		})
	}
}
