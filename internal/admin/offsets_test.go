package admin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
)

// ranges is the rows of a report as "broker/queue min..max messages".
func ranges(o *admin.TopicOffsets) string {
	var list []string
	for _, q := range o.Queues {
		list = append(list, fmt.Sprintf("%s/%d %s..%s %s", q.Broker, q.QueueID, text(q.Min), text(q.Max), text(q.Messages)))
	}
	return strings.Join(list, ", ")
}

func TestTopicOffsets(t *testing.T) {
	r := newRig(t)
	topic := r.Topic(2)
	mqs := r.queues(topic)
	r.fill(mqs[0], 3)
	got, err := r.a.TopicOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if got.Partial || got.Unknown != 0 || text(got.Messages) != "3" || len(got.Queues) != len(mqs) {
		t.Fatalf("got %+v", got)
	}
	first, second := got.Queues[0], got.Queues[1]
	if text(first.Min) != "0" || text(first.Max) != "3" || first.LastStored == nil || time.Since(*first.LastStored).Abs() > time.Minute {
		t.Errorf("a queue with messages: %+v", first)
	}
	if text(second.Messages) != "0" || second.LastStored != nil {
		t.Errorf("an empty queue: %+v", second)
	}
}

func TestTopicOffsetsAfterRetention(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(2)
		mqs := r.queues(topic)
		r.fill(mqs[1], 10)
		r.fill(mqs[3], 4)
		if err := r.Sandbox().AdvanceMinOffset(mqs[1], 7); err != nil {
			t.Fatal(err)
		}
		r.Sandbox().SetPerm(topic, protocol.PermWrite) // a queue that may not be read has messages all the same
		got, err := r.a.TopicOffsets(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if s := ranges(got); s != "broker-a/0 0..0 0, broker-a/1 7..10 3, broker-b/0 0..0 0, broker-b/1 0..4 4" || text(got.Messages) != "7" {
			t.Errorf("%s, together %s", s, text(got.Messages))
		}
	})
}

func TestTopicOffsetsWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 3, func(t *testing.T, r *rig) {
		topic := r.Topic(64) // more than are asked for at a time
		r.fill(r.queues(topic)[0], 2)
		r.hang("broker-b")
		began := time.Now()
		got, err := r.a.TopicOffsets(within(t, 2*time.Second), topic)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("took %v, want the deadline", took)
		}
		if !got.Partial || got.Unknown != 64 || len(got.Queues) != 192 || text(got.Messages) != "2" {
			t.Errorf("partial %v, %d unknown of %d, %s messages", got.Partial, got.Unknown, len(got.Queues), text(got.Messages))
		}
		if len(got.Failures) != 1 || !errors.Is(got.Failures[0], remoting.ErrTimeout) || !strings.Contains(got.Failures[0].Error(), "broker-b") {
			t.Errorf("failures %v", got.Failures)
		}
		for _, q := range got.Queues {
			if (q.Error != "") != (q.Broker == "broker-b") || (q.Max == nil) != (q.Broker == "broker-b") {
				t.Fatalf("row %+v", q)
			}
		}
		if !strings.Contains(toJSON(t, got), `"min":null,"max":null,"messages":null,"last_stored":null`) {
			t.Error("what is unknown is not null")
		}
	})
}

func TestTopicOffsetsQueueByQueue(t *testing.T) {
	for name, spoil := range map[string]func(*sandbox.Control){
		"unsupported": func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeRequestCodeNotSupported, "no") },
		"exception":   func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeSystemError, "java.lang.NullPointerException") },
		"cut":         func(ctl *sandbox.Control) { ctl.Rewrite(func(c *protocol.Command) { c.Body = c.Body[:len(c.Body)/2] }) },
		"empty": func(ctl *sandbox.Control) {
			ctl.Rewrite(func(c *protocol.Command) { c.Body = []byte(`{"offsetTable":{}}`) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			virtual(t, 1, func(t *testing.T, r *rig) {
				topic := r.Topic(2)
				r.fill(r.queues(topic)[1], 5)
				r.Sandbox().On(protocol.GetTopicStatsInfo, spoil)
				got, err := r.a.TopicOffsets(t.Context(), topic)
				if err != nil {
					t.Fatal(err)
				}
				if s := ranges(got); s != "broker-a/0 0..0 0, broker-a/1 0..5 5" || got.Partial {
					t.Errorf("%s, partial %v", s, got.Partial)
				}
			})
		})
	}
}

func TestTopicOffsetsOfABrokerWithoutTheTopic(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		r.Sandbox().On(protocol.GetTopicStatsInfo, func(ctl *sandbox.Control) {
			if ctl.Broker == "broker-b" {
				ctl.Reply(protocol.CodeTopicNotExist, "topic not exist")
			}
		})
		got, err := r.a.TopicOffsets(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if s := ranges(got); s != "broker-a/0 0..0 0, broker-b/0 ?..? ?" || !got.Partial { // 30 and 31 would say 0
			t.Errorf("%s, partial %v", s, got.Partial)
		}
	})
}

func TestTopicOffsetsWithOddNumbers(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(3)
		r.rewrite(protocol.GetTopicStatsInfo, func(resp *protocol.Command) {
			table := protocol.TopicStatsTable{OffsetTable: map[protocol.MessageQueue]protocol.TopicOffset{}}
			for id, o := range []protocol.TopicOffset{{MinOffset: -1, MaxOffset: 1 << 62}, {MaxOffset: 1 << 62}, {MinOffset: 9, MaxOffset: 2}} {
				table.OffsetTable[protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: int32(id)}] = o
			}
			resp.Body = table.Encode()
		})
		got, err := r.a.TopicOffsets(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if s := ranges(got); s != fmt.Sprintf("broker-a/0 0..%d %d, broker-a/1 0..%d %d, broker-a/2 9..9 0", 1<<62, 1<<62, 1<<62, 1<<62) {
			t.Error(s)
		}
		if got.Messages != nil {
			t.Errorf("a sum that no int64 holds is given as %d", *got.Messages)
		}
	})
}

func TestTopicOffsetsJSON(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 1)
		r.fill(r.queues("t")[0], 2)
		got, err := r.a.TopicOffsets(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		got.Queues[0].LastStored = nil
		want := `{"topic":"t","messages":2,"unknown":0,"queues":[{"broker":"broker-a","queue_id":0,"min":0,"max":2,"messages":2,` +
			`"last_stored":null,"note":"","error":""}],"partial":false}`
		if diff := cmp.Diff(want, toJSON(t, got)); diff != "" {
			t.Error(diff)
		}
		_, err = r.a.TopicOffsets(t.Context(), "other")
		oneLine(t, err)
		if !errors.Is(err, client.ErrTopicNotFound) {
			t.Errorf("an unknown topic: %v", err)
		}
	})
}
