package sandbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// half sends a half message and returns its END_TRANSACTION.
func (c *client) half(body string, more ...string) *protocol.EndTransactionRequest {
	c.r.t.Helper()
	h, b := message("orders", 0, body, append([]string{"TRAN_MSG", "true", "PGROUP", "PG", "TAGS", "TagA"}, more...)...)
	h.F = protocol.FlagTransPrepared
	resp := c.broker(h, b)
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	sent := header[protocol.SendMessageResponse](c.r.t, resp)
	_, offset, err := protocol.DecodeOffsetID(sent.MsgID)
	if err != nil {
		c.r.t.Fatal(err)
	}
	return &protocol.EndTransactionRequest{
		ProducerGroup: "PG", TranStateTableOffset: sent.QueueOffset, CommitLogOffset: offset, CommitOrRollback: protocol.FlagTransCommit,
		MsgID: sent.TransactionID, Topic: "orders",
	}
}

func (c *client) joinProducers() {
	c.r.t.Helper()
	data := protocol.HeartbeatData{ClientID: c.id, ProducerDataSet: []protocol.ProducerData{{GroupName: "PG"}}}
	wantCode(c.r.t, c.bodyOnly(protocol.HeartBeat, data.Encode()), protocol.CodeSuccess)
}

func TestTransactionOutcomes(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		committed, rolledBack, open := c.half("yes"), c.half("no"), c.half("maybe")
		rolledBack.CommitOrRollback = protocol.FlagTransRollback
		open.CommitOrRollback = 0
		for name, wrong := range map[string]func(h *protocol.EndTransactionRequest){
			"group":  func(h *protocol.EndTransactionRequest) { h.ProducerGroup = "other" },
			"queue":  func(h *protocol.EndTransactionRequest) { h.TranStateTableOffset++ },
			"log":    func(h *protocol.EndTransactionRequest) { h.CommitLogOffset++ },
			"nobody": func(h *protocol.EndTransactionRequest) { h.CommitLogOffset = -1 },
		} {
			h := *committed
			wrong(&h)
			if resp := c.broker(&h, nil); resp.ResponseCode() != protocol.CodeSystemError {
				t.Errorf("wrong %s: %v", name, resp.ResponseCode())
			}
		}
		resp := c.broker(rolledBack, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		if resp.Remark != "not set any response code" {
			t.Errorf("rollback: remark %q", resp.Remark)
		}
		wantCode(t, c.broker(committed, nil), protocol.CodeSuccess)
		unanswered := c.start(open)
		time.Sleep(time.Second)
		if len(unanswered) > 0 {
			t.Error("an unknown outcome was answered")
		}
		list := r.messages("orders", 0)
		if diff := cmp.Diff([]string{"yes"}, bodiesOf(list)); diff != "" {
			t.Fatal(diff)
		}
		m := list[0]
		if m.SysFlag != protocol.FlagTransCommit || m.PreparedTransactionOffset != committed.CommitLogOffset || m.UniqueID() != committed.MsgID {
			t.Errorf("committed %+v", m)
		}
		var names []string
		for _, p := range m.Properties() {
			names = append(names, p.Name)
		}
		want := []string{"TRAN_MSG", "PGROUP", "TAGS", "MSG_REGION", "CLUSTER", "TRACE_ON", "UNIQ_KEY", "__transactionId__"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]string{"1,", "0,"}, bodiesOf(r.messages(protocol.OpHalfTopic, 0))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTransactionCheck(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.joinProducers()
		first := c.half("maybe")
		patient := c.half("later", "CHECK_IMMUNITY_TIME_IN_SECONDS", "45")
		time.Sleep(30*time.Second - time.Millisecond)
		if n := c.pushes(protocol.CheckTransactionState); n != 0 {
			t.Errorf("%d questions before 30 s", n)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		c.mu.Lock()
		asked := c.pushed[len(c.pushed)-1]
		c.mu.Unlock()
		want := readExchange(t, "check_transaction_39").response
		if diff := cmp.Diff(shapeOf(t, want).Ext, shapeOf(t, asked).Ext); diff != "" || asked.Flag != want.Flag {
			t.Errorf("flag %d: %s", asked.Flag, diff)
		}
		q := header[protocol.CheckTransactionStateRequest](t, asked)
		list, err := protocol.DecodeMessages(asked.Body, protocol.DecodeOptions{})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d messages, %v", len(list), err)
		}
		if m := list[0]; q.TranStateTableOffset == first.TranStateTableOffset || q.MsgID != first.MsgID || q.Topic != protocol.HalfTopic ||
			m.Topic != "orders" || string(m.Body) != "maybe" || m.CommitLogOffset != q.CommitLogOffset || m.Property("TRANSACTION_CHECK_TIMES") != "1" {
			t.Errorf("asked %+v about %+v", q, m)
		}
		if n := c.pushes(protocol.CheckTransactionState); n != 1 {
			t.Errorf("%d questions, want 1: the other message is to be left alone for 45 s", n)
		}
		answer := *first
		answer.TranStateTableOffset, answer.CommitLogOffset, answer.FromTransactionCheck = q.TranStateTableOffset, q.CommitLogOffset, true
		wantCode(t, c.broker(&answer, nil), protocol.CodeSuccess)
		time.Sleep(30 * time.Second)
		if n := c.pushes(protocol.CheckTransactionState); n != 2 {
			t.Errorf("%d questions, want one more about %s", n, patient.MsgID)
		}
		if diff := cmp.Diff([]string{"maybe"}, bodiesOf(r.messages("orders", 0))); diff != "" {
			t.Error(diff)
		}
	})
}

func TestTransactionIsGivenUp(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, TransactionCheck: 10 * time.Second}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.half("never")
		c.pool.Forget(r.BrokerAddr("broker-a"))
		time.Sleep(151 * time.Second)
		if n := len(r.messages(protocol.TransCheckMaxTopic, 0)); n != 0 {
			t.Errorf("given up after fewer than 15 checks")
		}
		time.Sleep(10 * time.Second)
		list := r.messages(protocol.TransCheckMaxTopic, 0)
		if len(list) != 1 || list[0].Property("TRANSACTION_CHECK_TIMES") != "15" {
			t.Errorf("given up: %d messages", len(list))
		}
		r.do(func() {
			if len(r.brokers[0].halves) != 0 || r.brokers[0].halfAlarm != nil {
				t.Error("still looked after")
			}
		})
	})
}
