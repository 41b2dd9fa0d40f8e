package sandbox

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// TestPullOffsets asks for every kind of offset of a queue that holds 100 to 199, and of an empty one.
func TestPullOffsets(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 3}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for i := range 200 {
			c.send("orders", 0, fmt.Sprint(i))
		}
		if err := r.AdvanceMinOffset(mq("orders", 0), 100); err != nil {
			t.Fatal(err)
		}
		if err := r.AdvanceMinOffset(mq("orders", 2), 2020); err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			queue  int32
			offset int64
			code   protocol.ResponseCode
			remark string
			next   int64
			first  string
		}{
			{0, 100, protocol.CodeSuccess, "FOUND", 132, "100"},
			{0, 190, protocol.CodeSuccess, "FOUND", 200, "190"},
			{0, 200, protocol.CodePullNotFound, "OFFSET_OVERFLOW_ONE", 200, ""},
			{0, 201, protocol.CodePullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 200, ""},
			{0, math.MaxInt64, protocol.CodePullOffsetMoved, "OFFSET_OVERFLOW_BADLY", 200, ""},
			{0, 99, protocol.CodePullOffsetMoved, "OFFSET_TOO_SMALL", 100, ""},
			{0, -1, protocol.CodePullOffsetMoved, "OFFSET_TOO_SMALL", 100, ""},
			{0, math.MinInt64, protocol.CodePullOffsetMoved, "OFFSET_TOO_SMALL", 100, ""},
			{1, 0, protocol.CodePullNotFound, "NO_MESSAGE_IN_QUEUE", 0, ""},
			{1, 5, protocol.CodePullOffsetMoved, "NO_MESSAGE_IN_QUEUE", 0, ""},
			{1, -5, protocol.CodePullOffsetMoved, "NO_MESSAGE_IN_QUEUE", 0, ""},
			{2, 0, protocol.CodePullOffsetMoved, "OFFSET_TOO_SMALL", 2020, ""},
			{2, 2020, protocol.CodePullNotFound, "OFFSET_OVERFLOW_ONE", 2020, ""},
		} {
			resp := c.broker(pullRequest("G", "orders", test.queue, test.offset, "*"), nil)
			h := header[protocol.PullMessageResponse](t, resp)
			first := ""
			if list := bodies(t, resp); len(list) > 0 {
				first = list[0]
			}
			if resp.ResponseCode() != test.code || resp.Remark != test.remark || h.NextBeginOffset != test.next || first != test.first {
				t.Errorf("queue %d at %d: %v %s, next %d, first %q; want %+v", test.queue, test.offset, resp.ResponseCode(), resp.Remark, h.NextBeginOffset, first, test)
			}
		}
	})
}

func TestPullLimits(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for range 40 {
			c.send("orders", 0, "x")
			c.send("orders", 1, strings.Repeat("y", 100<<10))
		}
		for _, test := range []struct {
			queue, most int32
			want        int
		}{{0, 32, 32}, {0, math.MaxInt32, 32}, {0, 1, 1}, {0, 0, 1}, {0, -1, 1}, {0, math.MinInt32, 1}, {1, 32, 2}} {
			h := pullRequest("G", "orders", test.queue, 0, "*")
			h.MaxMsgNums = test.most
			if got := len(bodies(t, c.broker(h, nil))); got != test.want {
				t.Errorf("queue %d, at most %d: %d messages, want %d", test.queue, test.most, got, test.want)
			}
		}
	})
}

func TestPullRefused(t *testing.T) {
	topics := []TopicSpec{{Name: "orders", Queues: 2}, {Name: "writeonly", Queues: 1}}
	o := Options{Topics: topics, NoAutoCreateGroups: true, NoPropertyFilter: true}
	inBubble(t, o, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for _, g := range []string{"G", "off", "idle"} {
			cfg := protocol.NewSubscriptionGroupConfig(g)
			cfg.ConsumeEnable = g != "off"
			wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, cfg.Encode()), protocol.CodeSuccess)
		}
		r.SetPerm("writeonly", protocol.PermWrite)
		sub := subscription(t, "orders", "TagA")
		c.beat("G", sub)
		c.send("orders", 0, "x", "TAGS", "TagA")
		own := protocol.PullSubscription
		for name, test := range map[string]struct {
			h    protocol.PullMessageRequest
			want protocol.ResponseCode
		}{
			"fine with own subscription":  {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", SysFlag: own}, protocol.CodeSuccess},
			"fine with heartbeat's":       {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", SubVersion: sub.SubVersion}, protocol.CodeSuccess},
			"older version is fine":       {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders"}, protocol.CodeSuccess},
			"newer version":               {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", SubVersion: sub.SubVersion + 1}, protocol.CodeSubscriptionNotLatest},
			"topic not in heartbeat":      {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "TBW102"}, protocol.CodeSubscriptionNotExist},
			"group without members":       {protocol.PullMessageRequest{ConsumerGroup: "idle", Topic: "orders"}, protocol.CodeSubscriptionNotExist},
			"group unknown":               {protocol.PullMessageRequest{ConsumerGroup: "none", Topic: "orders", SysFlag: own}, protocol.CodeSubscriptionGroupNotExist},
			"group may not consume":       {protocol.PullMessageRequest{ConsumerGroup: "off", Topic: "orders", SysFlag: own}, protocol.CodeNoPermission},
			"topic unknown":               {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "none", SysFlag: own}, protocol.CodeTopicNotExist},
			"topic not readable":          {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "writeonly", SysFlag: own}, protocol.CodeNoPermission},
			"queue too high":              {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", QueueID: 2, SysFlag: own}, protocol.CodeInvalidParameter},
			"queue negative":              {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", QueueID: -1, SysFlag: own}, protocol.CodeInvalidParameter},
			"tags without any":            {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", Subscription: "||", SysFlag: own}, protocol.CodeSubscriptionParseFailed},
			"SQL without property filter": {protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", ExpressionType: "SQL92", Subscription: "a = 1", SysFlag: own}, protocol.CodeSystemError},
		} {
			test.h.MaxMsgNums = 32
			test.h.SysFlag |= protocol.PullCommitOffset
			test.h.CommitOffset = 77
			before := r.Writes().Offsets
			resp := c.broker(&test.h, nil)
			if resp.ResponseCode() != test.want {
				t.Errorf("%s: %v (%s), want %v", name, resp.ResponseCode(), resp.Remark, test.want)
			}
			committed := r.Writes().Offsets - before
			if want := test.want == protocol.CodeSuccess; (committed == 1) != want {
				t.Errorf("%s: %d commits; only a pull that is not refused commits", name, committed)
			}
		}
	})
}

func TestC13_TagsWithEqualHash(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for range 100 {
			c.send("orders", 0, "b", "TAGS", "BB")
		}
		c.send("orders", 0, "other", "TAGS", "Cc")
		c.send("orders", 0, "a", "TAGS", "Aa")
		for _, tags := range []string{"Aa", "Aa||CC", " Aa  ||  CC "} {
			got, offset := 0, int64(0)
			for offset < 102 {
				resp := c.broker(pullRequest("G", "orders", 0, offset, tags), nil)
				wantCode(t, resp, protocol.CodeSuccess)
				got += len(bodies(t, resp))
				offset = header[protocol.PullMessageResponse](t, resp).NextBeginOffset
			}
			if got != 101 {
				t.Errorf("%q: %d messages, want the 100 whose tag has the same hash, and one", tags, got)
			}
		}
		for _, tags := range []string{"nothing", "|| ||", " "} {
			resp := c.broker(pullRequest("G", "orders", 0, 0, tags), nil)
			wantCode(t, resp, protocol.CodePullRetryImmediately)
			if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != 102 {
				t.Errorf("%q: next offset %d, want 102: the filtered messages are passed", tags, h.NextBeginOffset)
			}
		}
		sub := subscription(t, "orders", "Aa")
		sub.CodeSet = nil // a broker looks at nothing else
		c.beat("G", sub)
		wantCode(t, c.broker(&protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", MaxMsgNums: 32}, nil), protocol.CodePullRetryImmediately)
	})
}

func TestPullBodyAcrossSegments(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		var want []string
		for i := range 30 {
			body := strings.Repeat(string(rune('a'+i%26)), 8000)
			c.send("orders", 0, body)
			if i%7 == 0 {
				c.send("orders", 1, "gap")
			}
			want = append(want, body)
		}
		var got []string
		for offset := int64(0); offset < 30; {
			resp := c.broker(pullRequest("G", "orders", 0, offset, "*"), nil)
			wantCode(t, resp, protocol.CodeSuccess)
			got = append(got, bodies(t, resp)...)
			offset = header[protocol.PullMessageResponse](t, resp).NextBeginOffset
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		r.do(func() {
			if n := len(r.brokers[0].log.segments); n < 2 {
				t.Errorf("%d segments: the test shows nothing", n)
			}
		})
	})
}

func TestPullBySQL(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for i := range 5 {
			c.send("orders", 0, fmt.Sprint(i), "seq", fmt.Sprint(i), "TAGS", fmt.Sprint("T", i%2))
		}
		own := func(condition string) *protocol.PullMessageRequest {
			h := pullRequest("G", "orders", 0, 0, condition)
			h.ExpressionType = protocol.ExpressionSQL92
			return h
		}
		for condition, want := range map[string][]string{
			"seq BETWEEN 1 AND 3 AND TAGS = 'T1'": {"1", "3"},
			"seq =":                               {"0", "1", "2", "3", "4"}, // not refused, and not filtered
			"seq > 9":                             nil,
		} {
			if diff := cmp.Diff(want, bodies(t, c.broker(own(condition), nil))); diff != "" {
				t.Errorf("%s: %s", condition, diff)
			}
		}
		h := own("seq = 7")
		h.QueueOffset = 5
		held := c.start(suspended(h, 15*time.Second))
		c.send("orders", 0, "6", "seq", "6")
		c.send("orders", 0, "7", "seq", "7")
		if diff := cmp.Diff([]string{"7"}, bodies(t, wantAnswer(t, held, protocol.CodeSuccess, 0))); diff != "" {
			t.Error(diff)
		}
		sub, err := protocol.NewSQLSubscription("orders", "seq = 2", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		c.beat("G", sub)
		byBeat := &protocol.PullMessageRequest{ConsumerGroup: "G", Topic: "orders", MaxMsgNums: 32}
		if diff := cmp.Diff([]string{"2"}, bodies(t, c.broker(byBeat, nil))); diff != "" {
			t.Error(diff)
		}
		sub.SubString = "seq ="
		sub.SubVersion++
		c.beat("G", sub)
		wantCode(t, c.broker(byBeat, nil), protocol.CodeFilterDataNotExist)
	})
}
