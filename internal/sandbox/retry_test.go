package sandbox

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// arrival waits for the message at an offset of a queue and returns it with the time since began.
func (c *client) arrival(topic string, offset int64, began time.Time) (protocol.MessageExt, time.Duration) {
	c.r.t.Helper()
	for range 1000 {
		resp := c.broker(suspended(pullRequest("probe", topic, 0, offset, "*"), time.Minute), nil)
		if resp.ResponseCode() == protocol.CodeSuccess {
			list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
			if err != nil {
				c.r.t.Fatal(err)
			}
			return list[0], time.Since(began)
		}
	}
	c.r.t.Fatalf("nothing arrived in %s", topic)
	return protocol.MessageExt{}, 0
}

func TestDelayLevels(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		offset := int64(0)
		for _, test := range []struct {
			level string
			want  time.Duration
		}{{"1", time.Second}, {"2", 5 * time.Second}, {"3", 10 * time.Second}, {"14", 10 * time.Minute}, {"18", 2 * time.Hour}, {"99", 2 * time.Hour}} {
			began := time.Now()
			sent := c.send("orders", 0, "level "+test.level, "DELAY", test.level, "TAGS", "TagA")
			if sent.QueueID != 0 {
				t.Errorf("level %s: queue %d in the answer, want the one that was asked for", test.level, sent.QueueID)
			}
			m, took := c.arrival("orders", offset, began)
			offset++
			if took != test.want {
				t.Errorf("level %s: delivered after %v, want %v", test.level, took, test.want)
			}
			if m.StoreTimestamp != began.Add(test.want).UnixMilli() || m.BornTimestamp != began.UnixMilli() || m.UniqueID() != sent.TransactionID {
				t.Errorf("level %s: delivered %+v", test.level, m)
			}
			if m.Property("REAL_TOPIC") != "orders" || m.Property("REAL_QID") != "0" || m.Property("DELAY") == "" {
				t.Errorf("level %s: properties %v", test.level, m.Properties())
			}
		}
		waiting := r.messages(protocol.ScheduleTopic, 17)
		if len(waiting) != 2 || waiting[1].Property("DELAY") != "18" {
			t.Errorf("level 18 holds %d messages", len(waiting))
		}
	})
}

func TestDelaySurvivesStop(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		began := time.Now()
		c.send("orders", 0, "late", "DELAY", "2")
		c.send("orders", 0, "on time", "DELAY", "3")
		if err := r.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(8 * time.Second)
		if n := len(r.messages("orders", 0)); n != 0 {
			t.Errorf("%d messages were delivered by a stopped broker", n)
		}
		if err := r.StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if m, took := c.arrival("orders", 0, began); string(m.Body) != "late" || took != 8*time.Second {
			t.Errorf("%q after %v", m.Body, took)
		}
		if m, took := c.arrival("orders", 1, began); string(m.Body) != "on time" || took != 10*time.Second {
			t.Errorf("%q after %v", m.Body, took)
		}
	})
}

func TestSendBack(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		sent := c.send("orders", 0, "again", "TAGS", "TagA")
		m := r.messages("orders", 0)[0]
		three := int32(3)
		topic := protocol.RetryTopic("G")
		for try := range int64(3) {
			began := time.Now()
			back := &protocol.ConsumerSendMsgBackRequest{Offset: m.CommitLogOffset, Group: "G", OriginTopic: "orders", MaxReconsumeTimes: &three}
			wantCode(t, c.broker(back, nil), protocol.CodeSuccess)
			var took time.Duration
			m, took = c.arrival(topic, try, began)
			if want := delayTable[3+try]; took != want {
				t.Errorf("try %d after %v, want %v", try, took, want)
			}
			want := map[string]string{
				"RETRY_TOPIC": "orders", "ORIGIN_MESSAGE_ID": sent.MsgID, "UNIQ_KEY": sent.TransactionID, "TAGS": "TagA",
				"WAIT": "false", "DELAY": fmt.Sprint(3 + try), "REAL_TOPIC": topic, "REAL_QID": "0",
				"CLUSTER": "DefaultCluster", "MSG_REGION": region, "TRACE_ON": "true",
			}
			got := map[string]string{}
			for _, p := range m.Properties() {
				got[p.Name] = p.Value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("try %d: %s", try, diff)
			}
			if m.ReconsumeTimes != int32(try+1) || string(m.Body) != "again" {
				t.Errorf("try %d: %d times, body %q", try, m.ReconsumeTimes, m.Body)
			}
		}
		began := time.Now()
		wantCode(t, c.broker(&protocol.ConsumerSendMsgBackRequest{Offset: m.CommitLogOffset, Group: "G", OriginTopic: "orders", MaxReconsumeTimes: &three}, nil), protocol.CodeSuccess)
		dead, took := c.arrival(protocol.DLQTopic("G"), 0, began)
		if took != 0 || dead.ReconsumeTimes != 4 || dead.Property("RETRY_TOPIC") != "orders" {
			t.Errorf("dead letter after %v: %+v", took, dead)
		}
	})
}

func TestSendBackCases(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "x")
		c.send("orders", 0, "y")
		list := r.messages("orders", 0)
		back := func(offset int64, level int32, want protocol.ResponseCode) {
			t.Helper()
			wantCode(t, c.broker(&protocol.ConsumerSendMsgBackRequest{Offset: offset, Group: "G", DelayLevel: level, OriginTopic: "orders"}, nil), want)
		}
		back(list[0].CommitLogOffset+1, 0, protocol.CodeSystemError)
		back(-1, 0, protocol.CodeSystemError)
		back(1<<40, 0, protocol.CodeSystemError)
		back(list[0].CommitLogOffset, protocol.DelayLevelDLQ, protocol.CodeSuccess)
		if n := len(r.messages(protocol.DLQTopic("G"), 0)); n != 1 {
			t.Errorf("%d dead letters, want 1", n)
		}
		began := time.Now()
		back(list[1].CommitLogOffset, 1, protocol.CodeSuccess)
		if _, took := c.arrival(protocol.RetryTopic("G"), 0, began); took != time.Second {
			t.Errorf("explicit level 1 took %v", took)
		}
		cfg := protocol.NewSubscriptionGroupConfig("G")
		cfg.RetryQueueNums = 0
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, cfg.Encode()), protocol.CodeSuccess)
		stored := r.Writes().Messages
		back(list[0].CommitLogOffset, 0, protocol.CodeSuccess)
		if n := r.Writes().Messages - stored; n != 0 {
			t.Errorf("%d messages stored for a group without retry queues", n)
		}
	})
}

// TestSendToRetryTopic is what a client does when its send-back failed.
func TestSendToRetryTopic(t *testing.T) {
	limit := int32(3)
	three := &limit
	for name, test := range map[string]struct {
		version   int32
		tries     int32
		most      *int32
		locked    bool
		delivered string
	}{
		"tries left":            {tries: 3, most: three, delivered: "%RETRY%G"},
		"used up":               {tries: 4, most: three, delivered: "%DLQ%G"},
		"used up on 4.9":        {version: 393, tries: 3, most: three, delivered: "%DLQ%G"},
		"the group's own limit": {tries: 17, delivered: "%DLQ%G"},
		"below the group's own": {tries: 16, delivered: "%RETRY%G"},
		"an orderly group":      {tries: 1, most: three, locked: true, delivered: "%DLQ%G"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{Version: test.version}, func(t *testing.T, r *rig) {
				c := r.client("c1")
				if test.locked {
					c.lock(protocol.LockBatchMQ, mq("orders", 0))
				}
				h, body := message("%RETRY%G", 0, "x", "DELAY", "3", "RETRY_TOPIC", "orders")
				h.J, h.L = test.tries, test.most
				began := time.Now()
				wantCode(t, c.broker(h, body), protocol.CodeSuccess)
				m, took := c.arrival(test.delivered, 0, began)
				want := 10 * time.Second
				if protocol.IsDLQTopic(test.delivered) {
					want = 0
				}
				if want == 0 && m.Property("DELAY") != "-1" {
					t.Errorf("DELAY is %q, a real broker leaves -1", m.Property("DELAY"))
				}
				if took != want || m.ReconsumeTimes != test.tries || m.Property("RETRY_TOPIC") != "orders" {
					t.Errorf("after %v, want %v: %+v", took, want, m)
				}
			})
		})
	}
}
