package client_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// sqlMessages are the properties of the messages "0", "1", … that conditions are tried on.
var sqlMessages = [][]string{
	{},
	{"a", "5", "b", "7", "s", "abc", "TAGS", "TagA", "KEYS", "k1 k2"},
	{"a", "5.0", "b", "5", "s", "it's", "yes", "TRUE"},
	{"a", "x", "yes", "no", "s", "ä"},
	{"a", "-3", "yes", "true", "TAGS", "TagB"},
	{"a", "3000000000", "s", "b"},
	{"b", " 7 ", "_c$1", "0x1p3"},
}

const (
	everything = "0 1 2 3 4 5 6"
	refused    = "refused by CHECK_CLIENT_CONFIG; pulls do not filter by it"
)

// sqlAnswers are conditions and the messages that brokers deliver for them.
var sqlAnswers = map[string]string{
	// numbers
	"a = 5": "1", "a <> 5": "4", "a > 4": "1", "a > 4.0": "1 2 5", "a > 2999999999": "5", "a < 0": "4", "a = -3": "4", "a = '5'": "1", "a = '5.0'": "2",
	"a = 5L": "1", "a >= 5e0 AND a < 5.5": "1 2", "a > b": "", "b >= a": "1 2", "_c$1 = 8.0": "6", "_c$1 = 8": "", "b = 7.0": "1 6", "b = 7": "1",
	"a BETWEEN -3 AND 5": "1 4", "a NOT BETWEEN 0 AND 4": "1 4", "a BETWEEN 5 AND 1": refused, "a BETWEEN 5 AND -1": "", "a > 0.0": refused,
	"a = 9223372036854775808": refused, "s > 'a'": refused,
	// missing properties
	"a = b": "0", "a <> b": "1 2 3 4 5", "gone = away": everything, "a = gone": "0 6", "a <> gone": "1 2 3 4 5", "a IS NULL": "0 6", "a IS NOT NULL": "1 2 3 4 5",
	"a = NULL": refused, "UNIQ_KEY IS NULL": "",
	// truth
	"TRUE": everything, "FALSE": "", "NULL": "", "yes": "", "NOT yes": "2 3 4", "yes = TRUE": "2 4", "yes = FALSE": "3", "TRUE = yes": "", "yes <> TRUE": "3",
	"a > 4 OR TRUE": "0 1 4 6", "TRUE OR a > 4": everything, "a > 4 OR b = 7": "1", "NOT a = 5": "", "NOT (a = 5)": "4", "NOT a > 5": refused, "5": refused,
	"'a' = 'a' AND 1 < 2.5 AND NOT FALSE": everything,
	// texts
	"s IN ('abc', 'b')": "1 5", "s NOT IN ('abc', 'b')": "2 3", "s = 'it''s'": "2", "s = 'ä'": "3", "b IN (' 7 ')": "6", "a IN (5)": refused,
	"s CONTAINS 'b'": "1 5", "s NOT CONTAINS 'b'": "2 3", "NOT (s CONTAINS 'b')": "0 2 3 4 6", "s STARTSWITH 'it'": "2", "s ENDSWITH '''s'": "2", "s CONTAINS ''": "",
	"TAGS = 'TagA'": "1", "TAGS IS NOT NULL AND a < 0": "4", "KEYS CONTAINS 'k2'": "1", "A = 5": "", "contains = 1": refused,
	"MSG_REGION = 'DefaultRegion' AND CLUSTER IS NOT NULL AND TRACE_ON = TRUE AND a = 5": "1",
	// comments, and what is not looked at
	"a = 5 -- five": "1", "a /* five */ = 5": "1", "a = --5": "1", "a = 5 'it''s": "1", "a LIKE '5'": "", "a = 5 a = 6": "1", "a = 007": "", "a + 1 = 6": "",
	"a = 5 AND b > 6 AND s IN ('abc') AND NOT (TAGS = 'TagB') AND (yes = TRUE OR yes IS NULL)": "1",
	// no conditions
	"a != 5": refused, "a = \"5\"": refused, "a.b = 5": refused, "a = 'x": refused, "(a = 5": refused, "a == 5": refused, "a = 5 AND": refused, "a = 5 @": refused,
	"ä = 5": refused, strings.Repeat("(", 5000) + "a = 5" + strings.Repeat(")", 5000): refused,
}

// sqlTopic is a topic with the messages in one queue, and the address of its broker.
func sqlTopic(t *testing.T, k *testcluster.Cluster) (c *client.Client, mq protocol.MessageQueue, addr string) {
	t.Helper()
	c = k.Client()
	mq = queues(t, c, k.Topic(1))[0]
	addr, err := c.BrokerAddr(mq.BrokerName)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkSQL(t, c, addr, protocol.ExpressionSQL92, "TRUE"); err != nil {
		t.Skip("requires a broker that filters by SQL92 (enablePropertyFilter=true): ", err)
	}
	putSQLMessages(t, c, mq)
	return c, mq, addr
}

// checkSQL is what the broker says of a condition.
func checkSQL(t *testing.T, c *client.Client, addr, kind, condition string) error {
	t.Helper()
	body := &protocol.CheckClientConfigBody{ClientID: "suite", Group: "suite", SubscriptionData: protocol.SubscriptionData{
		Topic: "suite", ExpressionType: kind, SubString: condition,
	}}
	_, err := c.Call(t.Context(), addr, protocol.NewBodyRequest(protocol.CheckClientConfig, body.Encode()))
	return err
}

// newer is what brokers before 5.1.3 take for names, and properties that 4.9 brokers do not set.
var newer = regexp.MustCompile(`(?i)CONTAINS|STARTSWITH|ENDSWITH|MSG_REGION|UNIQ_KEY`)

// isUnknown reports whether the condition is about something that the broker does not have.
func isUnknown(t *testing.T, c *client.Client, addr, condition string) bool {
	t.Helper()
	return newer.MatchString(condition) && checkSQL(t, c, addr, protocol.ExpressionSQL92, "contains = 1") == nil
}

func putSQLMessages(t *testing.T, c *client.Client, mq protocol.MessageQueue) {
	t.Helper()
	for i, p := range sqlMessages {
		put(t, c, mq, fmt.Sprint(i), p...)
	}
}

// pullSQL is what a pull of the queue's beginning delivers, as names in order.
func pullSQL(t *testing.T, c *client.Client, addr string, mq protocol.MessageQueue, h protocol.PullMessageRequest) (string, error) {
	t.Helper()
	h.Topic, h.QueueID, h.MaxMsgNums = mq.Topic, mq.QueueID, 32
	resp, err := c.Call(t.Context(), addr, protocol.NewRequest(&h, nil))
	switch code, ok := client.CodeOf(err); {
	case ok && code == protocol.CodePullRetryImmediately: // nothing matches
	case err != nil:
		return "", err
	}
	var next protocol.PullMessageResponse
	if err := resp.DecodeHeader(&next); err != nil || next.NextBeginOffset != int64(len(sqlMessages)) {
		t.Errorf("%s: the next offset is %d (%v), want %d", h.Subscription, next.NextBeginOffset, err, len(sqlMessages))
	}
	list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range list {
		names = append(names, string(m.Body))
	}
	return strings.Join(names, " "), nil
}

func TestSQLOfPulls(t *testing.T) {
	k := testcluster.New(t)
	c, mq, addr := sqlTopic(t, k)
	group := k.Group()
	for condition, want := range sqlAnswers {
		if isUnknown(t, c, addr, condition) {
			continue
		}
		wantCode := protocol.CodeSuccess
		if want == refused {
			want, wantCode = everything, protocol.CodeSubscriptionParseFailed
		}
		err := checkSQL(t, c, addr, protocol.ExpressionSQL92, condition)
		if code, _ := client.CodeOf(err); code != wantCode {
			t.Errorf("%.80s: the check answers %v, want %v", condition, err, wantCode)
		}
		got, err := pullSQL(t, c, addr, mq, protocol.PullMessageRequest{
			ConsumerGroup: group, SysFlag: protocol.PullSubscription, Subscription: condition, ExpressionType: protocol.ExpressionSQL92,
		})
		if err != nil || got != want {
			t.Errorf("%.80s: pulls bring %q, %v, want %q", condition, got, err, want)
		}
	}
}

// TestSQLOfHeartbeats has brokers filter by what heartbeats have told them.
func TestSQLOfHeartbeats(t *testing.T) {
	k := testcluster.New(t)
	c, mq, addr := sqlTopic(t, k)
	group := k.Group()
	// The steps follow each other in one group.
	for i, step := range []struct {
		kind, condition string
		version         int64 // of the heartbeat's subscription
		pull            int64 // version that the pull asks for
		want            string
		code            protocol.ResponseCode
	}{
		{"SQL92", "a =", 1, 1, "", protocol.CodeFilterDataNotExist},
		{"SQL92", "a = 5", 2, 2, "1", 0},
		{"SQL92", "a = -3", 2, 2, "1", 0}, // not newer
		{"SQL92", "a = -3", 3, 0, "4", 0},
		{"SQL92", "a = -3", 3, 4, "", protocol.CodeSubscriptionNotLatest},
		{"SQL92", "a = ", 5, 5, "", protocol.CodeFilterDataNotExist},
		{"SQL92", "a = 5", 6, 6, "1", 0},
		{"sql92", "a = 5", 7, 7, "", protocol.CodeFilterDataNotExist},
		{"SQL92", "", 8, 8, "", protocol.CodeFilterDataNotExist},
		{"SQL92", "s IN ('abc', 'b')", 9, 9, "1 5", 0},
		{"TAG", "*", 10, 10, everything, 0},
	} {
		sub := protocol.SubscriptionData{
			Topic: mq.Topic, ExpressionType: step.kind, SubString: step.condition, SubVersion: step.version, CodeSet: []int32{}, TagsSet: []string{},
		}
		beat := &protocol.HeartbeatData{ClientID: group, ConsumerDataSet: []protocol.ConsumerData{{
			GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, SubscriptionDataSet: []protocol.SubscriptionData{sub},
		}}}
		if _, err := c.Call(t.Context(), addr, protocol.NewBodyRequest(protocol.HeartBeat, beat.Encode())); err != nil {
			t.Fatal(err)
		}
		got, err := pullSQL(t, c, addr, mq, protocol.PullMessageRequest{ConsumerGroup: group, SubVersion: step.pull})
		if code, _ := client.CodeOf(err); code != step.code || got != step.want {
			t.Errorf("step %d, %s %q: %q, %v, want %q, %v", i, step.kind, step.condition, got, err, step.want, step.code)
		}
	}
	for name, test := range map[string]struct {
		kind, condition, want string
		code                  protocol.ResponseCode
	}{
		"empty":        {"SQL92", "", "", protocol.CodeSubscriptionParseFailed},
		"unknown kind": {"sql92", "a = 5", everything, 0},
	} {
		got, err := pullSQL(t, c, addr, mq, protocol.PullMessageRequest{
			ConsumerGroup: group, SysFlag: protocol.PullSubscription, Subscription: test.condition, ExpressionType: test.kind,
		})
		if code, _ := client.CodeOf(err); code != test.code || got != test.want {
			t.Errorf("%s: %q, %v, want %q, %v", name, got, err, test.want, test.code)
		}
	}
	err := checkSQL(t, c, addr, "sql92", "a = 5")
	if code, _ := client.CodeOf(err); code != protocol.CodeSubscriptionParseFailed {
		t.Errorf("a check of an unknown kind: %v", err)
	}
}

func TestSQLOfPushConsumers(t *testing.T) {
	k := testcluster.New(t)
	c, mq, addr := sqlTopic(t, k)
	// Each condition takes the last message below, so that a consumer that has got it has been through all others.
	conditions := map[string]string{
		"a = 5": "1", "a > 4.0": "1 2 5", "s IN ('abc', 'b') AND a IS NOT NULL": "1 5", "TAGS = 'TagA' OR yes = TRUE": "1 2 4", "TRUE": everything,
		"a BETWEEN 1 AND 6 OR b = 7.0": "1 6", "s STARTSWITH 'a' OR s NOT CONTAINS 'b'": "1 2 3", "NOT (s ENDSWITH 'b')": "0 1 2 3 4 6", "yes IS NOT NULL": "2 3 4",
	}
	type consumer struct {
		in   inbox
		push *client.PushConsumer
	}
	consumers := map[string]*consumer{}
	for condition := range conditions {
		if isUnknown(t, c, addr, condition) {
			continue
		}
		x := &consumer{}
		x.push = consume(t, c, k.Group(), mq.Topic, x.in.handle, func(cfg *client.ConsumerConfig) {
			cfg.Subscriptions[0].SQL, cfg.Subscriptions[0].Expression = true, condition
		})
		consumers[condition] = x
	}
	count := func(condition string) int { return len(strings.Fields(conditions[condition])) }
	for condition, x := range consumers {
		testcluster.Eventually(t, patience, "messages for "+condition, func() bool { return x.in.count() >= count(condition) })
	}
	putSQLMessages(t, c, mq) // these wake pulls that are held
	put(t, c, mq, "last", "a", "5", "b", "7", "s", "abc", "TAGS", "TagA", "yes", "TRUE")
	for condition, x := range consumers {
		testcluster.Eventually(t, patience, "the last message for "+condition, func() bool { return slices.Contains(x.in.all(), "last") })
		closeNow(t, x.push)
		got := x.in.all()
		slices.Sort(got)
		want := append(strings.Fields(conditions[condition]+" "+conditions[condition]), "last")
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", condition, got, want)
		}
	}
}

func TestSQLThatIsNone(t *testing.T) {
	k := testcluster.New(t)
	c, mq, _ := sqlTopic(t, k)
	_, err := c.StartPushConsumer(t.Context(), client.ConsumerConfig{
		Group: k.Group(), Subscriptions: []client.Subscription{{Topic: mq.Topic, Expression: "a == 5", SQL: true}}, Handler: new(inbox).handle,
	})
	if code, _ := client.CodeOf(err); code != protocol.CodeSubscriptionParseFailed {
		t.Errorf("%v, want %v", err, protocol.CodeSubscriptionParseFailed)
	}
}
