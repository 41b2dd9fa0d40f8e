package sandbox

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// rig is a sandbox on a virtual network.
type rig struct {
	t   *testing.T
	net *faultnet.Network
	*Sandbox
}

// inBubble runs test against a fresh sandbox in virtual time.
func inBubble(t *testing.T, o Options, test func(t *testing.T, r *rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &rig{t: t, net: faultnet.New()}
		o.ListenFunc = r.net.Listen
		s, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		r.Sandbox = s
		t.Cleanup(s.Close)
		test(t, r)
	})
}

// client is a bare connection pool with what brokers have pushed to it.
type client struct {
	r    *rig
	pool *remoting.Pool
	id   string

	mu     sync.Mutex
	pushed []*protocol.Command
	from   *remoting.Conn // of the latest push
}

// client makes one more client; its connections come from an address of its own.
func (r *rig) client(id string) *client {
	c := &client{r: r, id: id}
	c.pool = remoting.NewPool(remoting.PoolConfig{
		Dial: r.net.Dial,
		Handler: func(_ context.Context, from *remoting.Conn, req *protocol.Command) *protocol.Command {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.pushed, c.from = append(c.pushed, req), from
			return nil
		},
	})
	r.t.Cleanup(c.close)
	return c
}

func (c *client) close() {
	if err := c.pool.Close(c.r.t.Context()); err != nil && !errors.Is(err, context.Canceled) {
		c.r.t.Error(err)
	}
}

// pushes counts what was pushed with a code.
func (c *client) pushes(code protocol.RequestCode) int {
	c.r.t.Helper()
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, cmd := range c.pushed {
		if cmd.RequestCode() == code {
			n++
		}
	}
	return n
}

// call sends a request to an address and returns its answer.
func (c *client) call(addr string, req *protocol.Command) *protocol.Command {
	c.r.t.Helper()
	ctx, cancel := context.WithTimeout(c.r.t.Context(), time.Hour)
	defer cancel()
	resp, err := c.pool.Call(ctx, addr, req)
	if err != nil {
		c.r.t.Fatalf("%v: %v", req.RequestCode(), err)
	}
	return resp
}

// broker sends a request to broker-a.
func (c *client) broker(h protocol.RequestHeader, body []byte) *protocol.Command {
	c.r.t.Helper()
	return c.call(c.r.BrokerAddr("broker-a"), protocol.NewRequest(h, body))
}

func (c *client) bodyOnly(code protocol.RequestCode, body []byte) *protocol.Command {
	c.r.t.Helper()
	return c.call(c.r.BrokerAddr("broker-a"), protocol.NewBodyRequest(code, body))
}

// name sends a request to the name server.
func (c *client) name(h protocol.RequestHeader) *protocol.Command {
	c.r.t.Helper()
	return c.call(c.r.NameServers()[0], protocol.NewRequest(h, nil))
}

func wantCode(t *testing.T, resp *protocol.Command, want protocol.ResponseCode) {
	t.Helper()
	if got := resp.ResponseCode(); got != want {
		t.Fatalf("code %v (%s), want %v", got, resp.Remark, want)
	}
}

// header decodes an answer's header.
func header[T any](t *testing.T, resp *protocol.Command) T {
	t.Helper()
	var h T
	if err := resp.DecodeHeader(&h); err != nil {
		t.Fatal(err)
	}
	return h
}

// message is a send of one message with properties given as name, value, ….
func message(topic string, queue int32, body string, properties ...string) (*protocol.SendMessageV2Request, []byte) {
	var p protocol.Properties
	for pair := range slices.Chunk(properties, 2) {
		p.Set(pair[0], pair[1])
	}
	h := &protocol.SendMessageRequest{
		ProducerGroup: "PG", Topic: topic, DefaultTopic: protocol.AutoCreateTopic, DefaultTopicQueueNums: 4, QueueID: queue,
		BornTimestamp: time.Now().UnixMilli(), Properties: p.String(),
	}
	return h.V2(), []byte(body)
}

// send stores a message and returns the answer's header.
func (c *client) send(topic string, queue int32, body string, properties ...string) protocol.SendMessageResponse {
	c.r.t.Helper()
	resp := c.broker(message(topic, queue, body, properties...))
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	return header[protocol.SendMessageResponse](c.r.t, resp)
}

// pullRequest is a pull with its own subscription.
func pullRequest(group, topic string, queue int32, offset int64, tags string) *protocol.PullMessageRequest {
	return &protocol.PullMessageRequest{
		ConsumerGroup: group, Topic: topic, QueueID: queue, QueueOffset: offset, MaxMsgNums: 32,
		SysFlag: protocol.PullSubscription, Subscription: tags, SuspendTimeoutMillis: 15000,
	}
}

// group creates a consumer group at broker-a.
func (c *client) group(name string) {
	c.r.t.Helper()
	wantCode(c.r.t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{"groupName":"`+name+`"}`)), protocol.CodeSuccess)
}

// beat is a heartbeat of one consumer group.
func (c *client) beat(group string, subs ...protocol.SubscriptionData) {
	c.r.t.Helper()
	wantCode(c.r.t, c.bodyOnly(protocol.HeartBeat, c.heartbeat(group, subs...).Encode()), protocol.CodeSuccess)
}

func (c *client) heartbeat(group string, subs ...protocol.SubscriptionData) *protocol.HeartbeatData {
	return &protocol.HeartbeatData{
		ClientID: c.id,
		ConsumerDataSet: []protocol.ConsumerData{{
			GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
			ConsumeFromWhere: protocol.ConsumeFromLastOffset, SubscriptionDataSet: subs,
		}},
	}
}

func subscription(t *testing.T, topic, tags string) protocol.SubscriptionData {
	t.Helper()
	s, err := protocol.NewSubscription(topic, tags, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mq(topic string, queue int32) protocol.MessageQueue {
	return protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: queue}
}

// bodies is the bodies in a pull answer.
func bodies(t *testing.T, resp *protocol.Command) []string {
	t.Helper()
	list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return bodiesOf(list)
}

func bodiesOf(list []protocol.MessageExt) []string {
	var out []string
	for i := range list {
		out = append(out, string(list[i].Body))
	}
	return out
}

// messages is what a queue of broker-a holds.
func (r *rig) messages(topic string, queue int32) []protocol.MessageExt {
	r.t.Helper()
	list, err := r.Messages(mq(topic, queue))
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}
