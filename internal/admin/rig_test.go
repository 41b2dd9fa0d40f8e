package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// rig is a cluster, a client of it and the Admin under test.
type rig struct {
	*testcluster.Cluster
	t testing.TB
	c *client.Client
	a *admin.Admin
}

func rigOn(t testing.TB, k *testcluster.Cluster) *rig {
	t.Helper()
	c := k.Client()
	return &rig{Cluster: k, t: t, c: c, a: admin.New(c)}
}

// newRig is a rig on the suite's target.
func newRig(t testing.TB) *rig {
	t.Helper()
	return rigOn(t, testcluster.New(t))
}

// virtual runs a test in a bubble, on a sandbox with n brokers and an in-memory network.
func virtual(t *testing.T, n int, test func(t *testing.T, r *rig)) {
	t.Helper()
	virtualOf(t, sandbox.Options{Brokers: n}, test)
}

func virtualOf(t *testing.T, o sandbox.Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, rigOn(t, testcluster.NewSandbox(t, o, true))) })
}

// hang makes a broker's answers never come.
func (r *rig) hang(broker string) {
	r.Sandbox().On(sandbox.AllRequests, func(ctl *sandbox.Control) {
		if ctl.Broker == broker {
			ctl.Drop()
		}
	})
}

// rewrite changes the answers of one request.
func (r *rig) rewrite(code protocol.RequestCode, change func(resp *protocol.Command)) {
	r.Sandbox().On(code, func(ctl *sandbox.Control) { ctl.Rewrite(change) })
}

// within is a context with a time limit.
func within(t testing.TB, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// put sends one message to a queue by hand; props are names and values.
func (r *rig) put(mq protocol.MessageQueue, body string, props ...string) protocol.SendMessageResponse {
	r.t.Helper()
	if _, err := r.c.Route(r.t.Context(), mq.Topic); err != nil {
		r.t.Fatal(err)
	}
	addr, err := r.c.BrokerAddr(mq.BrokerName)
	if err != nil {
		r.t.Fatal(err)
	}
	var p protocol.Properties
	for i := 0; i+1 < len(props); i += 2 {
		p.Set(props[i], props[i+1])
	}
	req := &protocol.SendMessageV2Request{
		A: "test_producer", B: mq.Topic, C: protocol.AutoCreateTopic, D: 4, E: mq.QueueID, G: time.Now().UnixMilli(), I: p.String(),
	}
	var resp protocol.SendMessageResponse
	if _, err := r.c.CallHeader(r.t.Context(), addr, req, []byte(body), &resp); err != nil {
		r.t.Fatalf("send to %s: %v", mq, err)
	}
	return resp
}

// fill puts n messages into a queue.
func (r *rig) fill(mq protocol.MessageQueue, n int) {
	r.t.Helper()
	for i := range n {
		r.put(mq, strconv.Itoa(i))
	}
}

// commit stores a group's offset; a group that is not there yet is created.
func (r *rig) commit(group string, mq protocol.MessageQueue, offset int64) {
	r.t.Helper()
	if _, err := r.c.Route(r.t.Context(), mq.Topic); err != nil {
		r.t.Fatal(err)
	}
	addr, err := r.c.BrokerAddr(mq.BrokerName)
	if err != nil {
		r.t.Fatal(err)
	}
	req := &protocol.UpdateConsumerOffsetRequest{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, CommitOffset: offset}
	_, err = r.c.CallHeader(r.t.Context(), addr, req, nil, nil)
	if errors.Is(err, client.ErrGroupNotFound) {
		create := protocol.NewBodyRequest(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{"groupName":"`+group+`"}`))
		if _, err := r.c.Call(r.t.Context(), addr, create); err != nil {
			r.t.Fatalf("group %s: %v", group, err)
		}
		_, err = r.c.CallHeader(r.t.Context(), addr, req, nil, nil)
	}
	if err != nil {
		r.t.Fatalf("commit %s: %v", mq, err)
	}
}

// queues is the queues of a topic in order.
func (r *rig) queues(topic string) []protocol.MessageQueue {
	r.t.Helper()
	route, err := r.c.FetchRoute(r.t.Context(), topic)
	if err != nil {
		r.t.Fatal(err)
	}
	return route.Subscribe
}

// join makes a member of a group by a heartbeat to one broker, until the client ends.
func (r *rig) join(broker, group string, model protocol.MessageModel, subs ...protocol.SubscriptionData) {
	r.t.Helper()
	beat := protocol.HeartbeatData{ClientID: "member-1", ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: model,
		ConsumeFromWhere: protocol.ConsumeFromLastOffset, SubscriptionDataSet: subs,
	}}}
	addr := r.Sandbox().BrokerAddr(broker)
	if _, err := r.c.Call(r.t.Context(), addr, protocol.NewBodyRequest(protocol.HeartBeat, beat.Encode())); err != nil {
		r.t.Fatalf("heartbeat: %v", err)
	}
}

func subscription(t testing.TB, topic, expression string) protocol.SubscriptionData {
	t.Helper()
	s, err := protocol.NewSubscription(topic, expression, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustRegexp(expr string) *regexp.Regexp { return regexp.MustCompile(expr) }

// p is a pointer to v.
func p[T any](v T) *T { return &v }

// text is a number or "?" for none.
func text(n *int64) string {
	if n == nil {
		return "?"
	}
	return strconv.FormatInt(*n, 10)
}

// oneLine fails the test unless err is one readable line.
func oneLine(t testing.TB, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	if s := err.Error(); s == "" || strings.ContainsAny(s, "\r\n\t") {
		t.Errorf("the error is not one line: %q", s)
	}
}

// toJSON is v as JSON.
func toJSON(t testing.TB, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
