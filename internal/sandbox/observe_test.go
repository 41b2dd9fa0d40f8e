package sandbox

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// seen collects changes in a short form.
type seen struct {
	mu   sync.Mutex
	list []string
}

func (s *seen) note(c *Change) {
	kind := [...]string{"stored", "sent back", "committed", "locked", "refused", "unlocked", "lost"}[c.Kind]
	line := fmt.Sprintf("%s %s@%d %s%s by %v", kind, c.Queue, c.Offset, c.Group, c.LockID, c.Request)
	if c.Oneway {
		line += " one-way"
	}
	if c.Message != nil {
		line += fmt.Sprintf(": %s in %s", c.Message.Body, c.Message.Topic)
	}
	if (c.Client == "") != (c.Request == 0) || c.Broker != "broker-a" {
		line += fmt.Sprintf(" from %q at %s", c.Client, c.Broker)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, line)
}

// take is what was seen since the last call.
func (s *seen) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.list
	s.list = nil
	return list
}

func TestObserve(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		a, b := r.client("a"), r.client("b")
		a.group("G")
		var s seen
		remove := r.Observe(s.note)
		want := func(what string, lines ...string) {
			t.Helper()
			r.Held() // the sandbox's goroutine is through with what it had
			if diff := cmp.Diff(lines, s.take()); diff != "" {
				t.Errorf("%s:\n%s", what, diff)
			}
		}
		a.send("orders", 1, "x")
		want("a send", "stored orders/broker-a/1@0  by SEND_MESSAGE_V2: x in orders")

		commit := &protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", QueueID: 1, CommitOffset: 1}
		a.broker(commit, nil)
		want("a commit", "committed orders/broker-a/1@1 G by UPDATE_CONSUMER_OFFSET")
		if err := a.pool.Oneway(t.Context(), r.BrokerAddr("broker-a"), protocol.NewRequest(commit, nil)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
		want("a one-way commit", "committed orders/broker-a/1@1 G by UPDATE_CONSUMER_OFFSET one-way")
		pull := pullRequest("G", "orders", 1, 0, "*")
		pull.SysFlag |= protocol.PullCommitOffset
		pull.CommitOffset = 7
		a.broker(pull, nil)
		want("a pull that commits", "committed orders/broker-a/1@7 G by PULL_MESSAGE")
		if err := r.SetOffset("G", mq("orders", 1), 3); err != nil {
			t.Fatal(err)
		}
		want("a method", "committed orders/broker-a/1@3 G by 0")

		a.lock(protocol.LockBatchMQ, mq("orders", 0))
		b.lock(protocol.LockBatchMQ, mq("orders", 0))
		b.lock(protocol.UnlockBatchMQ, mq("orders", 0)) // not its own
		a.lock(protocol.UnlockBatchMQ, mq("orders", 0))
		want("locks", "locked orders/broker-a/0@0 Ga by LOCK_BATCH_MQ", "refused orders/broker-a/0@0 Gb by LOCK_BATCH_MQ",
			"unlocked orders/broker-a/0@0 Ga by UNLOCK_BATCH_MQ")
		b.lock(protocol.LockBatchMQ, mq("orders", 0), mq("orders", 1))
		s.take()
		if err := r.LoseLock("G", mq("orders", 0), "c"); err != nil {
			t.Fatal(err)
		}
		want("a lost lock", "lost orders/broker-a/0@0 Gb by 0", "locked orders/broker-a/0@0 Gc by 0")
		if err := r.MoveBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		want("a restart", "lost orders/broker-a/0@0 Gc by 0", "lost orders/broker-a/1@0 Gb by 0")

		remove()
		a.send("orders", 1, "y")
		want("nobody looks any more")
	})
}

// A message that is handed back is told where it came from, once it is stored; when its delay is over it is stored again.
func TestObserveSendBack(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("a")
		c.beat("G", subscription(t, "orders", "*"))
		c.send("orders", 0, "x")
		m := r.messages("orders", 0)[0]
		var s seen
		r.Observe(s.note)
		back := &protocol.ConsumerSendMsgBackRequest{Offset: m.CommitLogOffset, Group: "G", DelayLevel: 1, OriginTopic: "orders"}
		wantCode(t, c.broker(back, nil), protocol.CodeSuccess)
		time.Sleep(2 * time.Second)
		back.DelayLevel = -1
		wantCode(t, c.broker(back, nil), protocol.CodeSuccess)
		back.Offset = 1 << 40
		c.broker(back, nil)
		r.Held()
		got := s.take()
		want := []string{
			"stored SCHEDULE_TOPIC_XXXX/broker-a/0@0  by CONSUMER_SEND_MSG_BACK: x in SCHEDULE_TOPIC_XXXX",
			"sent back orders/broker-a/0@0 G by CONSUMER_SEND_MSG_BACK: x in SCHEDULE_TOPIC_XXXX",
			"stored %RETRY%G/broker-a/0@0  by 0: x in %RETRY%G",
			"stored %DLQ%G/broker-a/0@0  by CONSUMER_SEND_MSG_BACK: x in %DLQ%G",
			"sent back orders/broker-a/0@0 G by CONSUMER_SEND_MSG_BACK: x in %DLQ%G",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s\n%s", diff, strings.Join(got, "\n"))
		}
	})
}

func TestPushReset(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		a, b := r.client("a"), r.client("b")
		a.beat("G", subscription(t, "orders", "*"))
		b.beat("G", subscription(t, "orders", "*"))
		for _, group := range []string{"G", "nobody"} {
			if err := r.PushReset(group, mq("orders", 0), 5); err != nil {
				t.Fatal(err)
			}
		}
		if n, m := a.pushes(protocol.ResetConsumerClientOffset), b.pushes(protocol.ResetConsumerClientOffset); n != 1 || m != 1 {
			t.Fatalf("pushed %d times to one and %d to the other", n, m)
		}
		cmd := a.pushed[len(a.pushed)-1]
		h := header[protocol.ResetConsumerClientOffsetRequest](t, cmd)
		body, err := protocol.DecodeResetOffsetBody(cmd.Body)
		if err != nil || h.Group != "G" || h.Topic != "orders" || body.OffsetTable[mq("orders", 0)] != 5 {
			t.Errorf("pushed %+v %+v: %v", h, body, err)
		}
		if _, ok := r.Offset("G", mq("orders", 0)); ok {
			t.Error("the broker has stored an offset")
		}
		if err := r.PushReset("G", mq("no_such", 0), 5); err == nil {
			t.Error("no error for a queue that does not exist")
		}
	})
}
