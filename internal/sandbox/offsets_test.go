package sandbox

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func (c *client) offset(h protocol.RequestHeader) int64 {
	c.r.t.Helper()
	resp := c.broker(h, nil)
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	return header[protocol.GetMaxOffsetResponse](c.r.t, resp).Offset
}

func TestQueryOffset(t *testing.T) {
	no := false
	for name, test := range map[string]struct {
		version   int32
		messages  int
		minimum   int64
		committed *int64
		zero      *bool
		want      protocol.ResponseCode
		offset    int64
	}{
		"stored":                          {messages: 1, committed: ptr[int64](42), offset: 42},
		"stored below zero":               {messages: 1, committed: ptr[int64](-1), offset: -1},
		"none, empty queue":               {want: protocol.CodeQueryNotFound},
		"none, first message still there": {messages: 1},
		"none, zero not wanted":           {messages: 1, zero: &no, want: protocol.CodeQueryNotFound},
		"none, zero not wanted on 4.9":    {version: 393, messages: 1, zero: &no},
		"none, first message gone":        {messages: 2, minimum: 1, want: protocol.CodeQueryNotFound},
		"none, everything gone":           {messages: 2, minimum: 2, want: protocol.CodeQueryNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, Version: test.version}, func(t *testing.T, r *rig) {
				c := r.client("c1")
				for range test.messages {
					c.send("orders", 0, "x")
				}
				if err := r.AdvanceMinOffset(mq("orders", 0), test.minimum); err != nil {
					t.Fatal(err)
				}
				if test.committed != nil {
					if err := r.SetOffset("G", mq("orders", 0), *test.committed); err != nil {
						t.Fatal(err)
					}
				}
				resp := c.broker(&protocol.QueryConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", SetZeroIfNotFound: test.zero}, nil)
				wantCode(t, resp, test.want)
				if test.want == protocol.CodeSuccess {
					if got := header[protocol.QueryConsumerOffsetResponse](t, resp).Offset; got != test.offset {
						t.Errorf("offset %d, want %d", got, test.offset)
					}
				}
			})
		})
	}
}

func ptr[T any](v T) *T { return &v }

func TestUpdateOffset(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		commit := &protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", CommitOffset: 1}
		wantCode(t, c.broker(commit, nil), protocol.CodeSubscriptionGroupNotExist)
		c.group("G")
		for _, offset := range []int64{300, -1, math.MaxInt64, 0} {
			wantCode(t, c.broker(&protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", CommitOffset: offset}, nil), protocol.CodeSuccess)
			if got, ok := r.Offset("G", mq("orders", 0)); !ok || got != offset {
				t.Errorf("stored %d, %v; want %d", got, ok, offset)
			}
		}
		wantCode(t, c.broker(&protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "none", CommitOffset: 1}, nil), protocol.CodeTopicNotExist)
		resp := c.bodyOnly(protocol.GetAllConsumerOffset, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		all, err := protocol.DecodeAllConsumerOffset(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]protocol.QueueOffsets{"orders@G": {{QueueID: 0, Offset: 0}}}
		if diff := cmp.Diff(want, all.OffsetTable); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSearchOffset follows the table of protocol facts: store times s0 < s1 = s2 < s3.
func TestSearchOffset(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		start := time.Now().UnixMilli()
		for _, pause := range []time.Duration{0, 100, 0, 100} {
			time.Sleep(pause * time.Millisecond)
			c.send("orders", 0, "x")
		}
		for _, test := range []struct {
			at           int64
			lower, upper int64
		}{
			{-1000, 0, 0}, {-1, 0, 0}, {0, 0, 0}, {50, 1, 0}, {100, 1, 2}, {150, 3, 2}, {200, 3, 3}, {201, 4, 3}, {math.MaxInt64 / 2, 4, 3},
		} {
			h := protocol.SearchOffsetByTimestampRequest{Topic: "orders", Timestamp: start + test.at}
			lower := c.offset(&h)
			h.BoundaryType = "UPPER"
			if upper := c.offset(&h); lower != test.lower || upper != test.upper {
				t.Errorf("at %+d ms: lower %d, upper %d; want %d, %d", test.at, lower, upper, test.lower, test.upper)
			}
		}
		for _, boundary := range []string{"lower", "upper", "nonsense", ""} {
			h := protocol.SearchOffsetByTimestampRequest{Topic: "orders", QueueID: 1, Timestamp: start, BoundaryType: boundary}
			if got := c.offset(&h); got != 0 {
				t.Errorf("empty queue, %q: %d, want 0", boundary, got)
			}
		}
		if err := r.AdvanceMinOffset(mq("orders", 0), 2); err != nil {
			t.Fatal(err)
		}
		h := protocol.SearchOffsetByTimestampRequest{Topic: "orders", Timestamp: start}
		lower := c.offset(&h)
		h.BoundaryType = "upper"
		if upper := c.offset(&h); lower != 2 || upper != 2 {
			t.Errorf("before a risen minimum of 2: lower %d, upper %d", lower, upper)
		}
	})
}

func TestQueueBounds(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		earliest := func(queue int32) int64 {
			t.Helper()
			resp := c.broker(&protocol.GetEarliestMsgStoreTimeRequest{Topic: "orders", QueueID: queue}, nil)
			wantCode(t, resp, protocol.CodeSuccess)
			return header[protocol.GetEarliestMsgStoreTimeResponse](t, resp).Timestamp
		}
		if got := earliest(0); got != -1 {
			t.Errorf("earliest of an empty queue %d, want -1", got)
		}
		first := time.Now()
		c.send("orders", 0, "x")
		time.Sleep(time.Second)
		c.send("orders", 0, "y")
		if got := earliest(0); got != first.UnixMilli() {
			t.Errorf("earliest %d, want %d", got, first.UnixMilli())
		}
		if err := r.AdvanceMinOffset(mq("orders", 0), 1); err != nil {
			t.Fatal(err)
		}
		if got := earliest(0); got != first.Add(time.Second).UnixMilli() {
			t.Errorf("earliest %d after the first is gone", got)
		}
		for _, test := range []struct {
			topic  string
			queue  int32
			lo, hi int64
		}{{"orders", 0, 1, 2}, {"orders", 1, 0, 0}, {"orders", 99, 0, 0}, {"orders", -1, 0, 0}, {"none", 0, 0, 0}} {
			lo := c.offset(&protocol.GetMinOffsetRequest{Topic: test.topic, QueueID: test.queue})
			hi := c.offset(&protocol.GetMaxOffsetRequest{Topic: test.topic, QueueID: test.queue})
			if lo != test.lo || hi != test.hi {
				t.Errorf("%s/%d: %d to %d, want %d to %d", test.topic, test.queue, lo, hi, test.lo, test.hi)
			}
		}
	})
}

func TestC05_OffsetOutsideTheStoredRange(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 3}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for range 200 {
			c.send("orders", 1, "x")
			c.send("orders", 2, "x")
		}
		for queue, minimum := range []int64{2020, 100, 0} {
			if err := r.AdvanceMinOffset(mq("orders", int32(queue)), minimum); err != nil {
				t.Fatal(err)
			}
		}
		for queue, test := range []struct{ committed, next int64 }{{0, 2020}, {0, 100}, {5000, 200}} {
			resp := c.broker(pullRequest("G", "orders", int32(queue), test.committed, "*"), nil)
			wantCode(t, resp, protocol.CodePullOffsetMoved)
			if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != test.next {
				t.Errorf("queue %d: next %d, want %d", queue, h.NextBeginOffset, test.next)
			}
		}
	})
}
