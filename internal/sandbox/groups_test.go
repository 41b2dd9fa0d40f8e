package sandbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func (r *rig) memberIDs(group string) []string {
	var ids []string
	for _, m := range r.Members(group) {
		ids = append(ids, m.ClientID)
	}
	return ids
}

func (c *client) consumerList(group string) []string {
	c.r.t.Helper()
	resp := c.broker(&protocol.GetConsumerListByGroupRequest{ConsumerGroup: group}, nil)
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	list, err := protocol.DecodeConsumerList(resp.Body)
	if err != nil {
		c.r.t.Fatal(err)
	}
	return list.ConsumerIDList
}

func TestHeartbeatCreatesGroup(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		wantCode(t, c.broker(&protocol.GetConsumerListByGroupRequest{ConsumerGroup: "G"}, nil), protocol.CodeSystemError)
		wantCode(t, c.broker(&protocol.GetConsumerConnectionListRequest{ConsumerGroup: "G"}, nil), protocol.CodeConsumerNotOnline)
		sub := subscription(t, "orders", "TagA || TagB")
		c.beat("G", sub)
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "%RETRY%G"}), protocol.CodeSuccess)
		if diff := cmp.Diff([]string{"c1"}, c.consumerList("G")); diff != "" {
			t.Error(diff)
		}
		resp := c.broker(&protocol.GetConsumerConnectionListRequest{ConsumerGroup: "G"}, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		got, err := protocol.DecodeConsumerConnection(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := &protocol.ConsumerConnection{
			ConnectionSet:    []protocol.Connection{{ClientAddr: r.Members("G")[0].Addr, ClientID: "c1", Language: "GO", Version: protocol.CurrentVersion}},
			ConsumeFromWhere: protocol.ConsumeFromLastOffset, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering,
			SubscriptionTable: map[string]protocol.SubscriptionData{"orders": sub},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestHeartbeatOfForbiddenGroup(t *testing.T) {
	inBubble(t, Options{NoAutoCreateGroups: true}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.beat("G")
		wantCode(t, c.broker(&protocol.GetConsumerListByGroupRequest{ConsumerGroup: "G"}, nil), protocol.CodeSystemError)
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "%RETRY%G"}), protocol.CodeTopicNotExist)
	})
}

// TestMemberChanges follows one group through everything that must, and must not, make its members divide the queues anew.
func TestMemberChanges(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c1, c2 := r.client("c1"), r.client("c2")
		sub := subscription(t, "orders", "*")
		want := [2]int{}
		step := func(name string, first, second int) {
			t.Helper()
			want[0], want[1] = want[0]+first, want[1]+second
			got := [2]int{c1.pushes(protocol.NotifyConsumerIDsChanged), c2.pushes(protocol.NotifyConsumerIDsChanged)}
			if got != want {
				t.Errorf("%s: notices so far %v, want %v", name, got, want)
				want = got
			}
		}
		c1.beat("G", sub)
		step("first join, told itself", 1, 0)
		c1.beat("G", sub)
		step("the same heartbeat", 0, 0)
		c2.beat("G", sub)
		step("second join", 1, 1)
		sub.SubVersion++
		c1.beat("G", sub)
		step("same expression, higher version", 0, 0)
		changed := subscription(t, "orders", "TagA")
		changed.SubVersion = sub.SubVersion + 1
		c2.beat("G", changed)
		step("another expression", 1, 1)
		c1.beat("G", sub)
		step("another expression of a lower version", 0, 0)
		c1.beat("G", changed, subscription(t, "more", "*"))
		step("one more topic", 1, 1)
		c1.beat("G", changed)
		step("a topic left out", 1, 1)
		wantCode(t, c2.broker(&protocol.UnregisterClientRequest{ClientID: "c2", ConsumerGroup: "G"}, nil), protocol.CodeSuccess)
		step("one leaves", 1, 0)
		c2.beat("G", changed)
		step("comes back", 1, 1)
		c2.pool.Forget(r.BrokerAddr("broker-a"))
		step("its connection ends", 1, 0)
		if diff := cmp.Diff([]string{"c1"}, r.memberIDs("G")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestBroadcastGroupsAreNotNotified(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		data := c.heartbeat("G", subscription(t, "orders", "*"))
		data.ConsumerDataSet[0].MessageModel = protocol.Broadcasting
		wantCode(t, c.bodyOnly(protocol.HeartBeat, data.Encode()), protocol.CodeSuccess)
		if n := c.pushes(protocol.NotifyConsumerIDsChanged); n != 0 {
			t.Errorf("%d notices", n)
		}
	})
}

func TestHeartbeatVersion2(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		beat := func(fingerprint int32, without bool, want bool) {
			t.Helper()
			data := c.heartbeat("G", subscription(t, "orders", "*"))
			data.HeartbeatFingerprint, data.WithoutSub = fingerprint, without
			if without {
				data.ConsumerDataSet[0].SubscriptionDataSet = nil
			}
			resp := c.bodyOnly(protocol.HeartBeat, data.Encode())
			if h := header[protocol.HeartBeatResponse](t, resp); !h.SupportHeartbeatV2 || h.SubChange != want {
				t.Errorf("answer %+v, want a change: %v", h, want)
			}
		}
		beat(0, false, true)
		beat(0, false, true)
		beat(7, false, false)
		beat(7, true, false)
		resp := c.broker(&protocol.GetConsumerConnectionListRequest{ConsumerGroup: "G"}, nil)
		got, err := protocol.DecodeConsumerConnection(resp.Body)
		if err != nil || len(got.SubscriptionTable) != 1 {
			t.Errorf("subscriptions %v, %v: a heartbeat without any must keep them", got, err)
		}
		c.pool.Forget(r.BrokerAddr("broker-a"))
		synctest.Wait()
		beat(7, true, true)
	})
}

// TestSilentClient keeps a connection alive with requests that are no heartbeats.
func TestSilentClient(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}}, func(t *testing.T, r *rig) {
		quiet, watcher := r.client("quiet"), r.client("watcher")
		sub := subscription(t, "orders", "*")
		began := time.Now()
		quiet.beat("G", sub)
		watcher.beat("G", sub)
		for time.Since(began) < 60*time.Second {
			time.Sleep(10 * time.Second)
			watcher.beat("G", sub)
			quiet.broker(&protocol.GetMaxOffsetRequest{Topic: "orders"}, nil)
		}
		quiet.beat("G", sub)
		told := watcher.pushes(protocol.NotifyConsumerIDsChanged)
		for time.Since(began) < 180*time.Second-time.Millisecond {
			time.Sleep(min(10*time.Second, 180*time.Second-time.Millisecond-time.Since(began)))
			watcher.beat("G", sub)
			quiet.broker(&protocol.GetMaxOffsetRequest{Topic: "orders"}, nil)
		}
		if diff := cmp.Diff([]string{"quiet", "watcher"}, r.memberIDs("G")); diff != "" {
			t.Errorf("just before 120 s of silence: %s", diff)
		}
		time.Sleep(time.Millisecond)
		if diff := cmp.Diff([]string{"watcher"}, r.memberIDs("G")); diff != "" {
			t.Errorf("after 120 s of silence: %s", diff)
		}
		if got := watcher.pushes(protocol.NotifyConsumerIDsChanged); got != told+1 {
			t.Errorf("%d notices, want %d", got, told+1)
		}
		if len(quiet.pool.Addrs()) != 0 {
			t.Error("the connection of the silent client is still open")
		}
	})
}

func TestSameClientIDTwice(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		a, b := r.client("same"), r.client("same")
		a.beat("G")
		b.beat("G")
		if diff := cmp.Diff([]string{"same", "same"}, a.consumerList("G")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestProducerConnections(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		ask := &protocol.GetProducerConnectionListRequest{ProducerGroup: "PG"}
		wantCode(t, c.broker(ask, nil), protocol.CodeSystemError)
		data := protocol.HeartbeatData{ClientID: "c1", ProducerDataSet: []protocol.ProducerData{{GroupName: "PG"}}}
		wantCode(t, c.bodyOnly(protocol.HeartBeat, data.Encode()), protocol.CodeSuccess)
		resp := c.broker(ask, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		got, err := protocol.DecodeProducerConnection(resp.Body)
		if err != nil || len(got.ConnectionSet) != 1 || got.ConnectionSet[0].ClientID != "c1" {
			t.Errorf("%+v, %v", got, err)
		}
		wantCode(t, c.broker(&protocol.UnregisterClientRequest{ClientID: "c1", ProducerGroup: "PG"}, nil), protocol.CodeSuccess)
		wantCode(t, c.broker(ask, nil), protocol.CodeSystemError)
	})
}

func (c *client) lock(code protocol.RequestCode, queues ...protocol.MessageQueue) []protocol.MessageQueue {
	c.r.t.Helper()
	body := protocol.LockBatchBody{ClientID: c.id, ConsumerGroup: "G", MQSet: queues}
	resp := c.bodyOnly(code, body.Encode())
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	if code == protocol.UnlockBatchMQ {
		return nil
	}
	granted, err := protocol.DecodeLockBatchResult(resp.Body)
	if err != nil {
		c.r.t.Fatal(err)
	}
	return granted.LockOKMQSet
}

func TestLocks(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c1, c2 := r.client("c1"), r.client("c2")
		q0, q1, elsewhere := mq("orders", 0), mq("orders", 1), protocol.MessageQueue{Topic: "none", BrokerName: "broker-z", QueueID: -3}
		granted := func(c *client, want int, queues ...protocol.MessageQueue) {
			t.Helper()
			if got := c.lock(protocol.LockBatchMQ, queues...); len(got) != want {
				t.Errorf("%s was granted %v, want %d", c.id, got, want)
			}
		}
		granted(c1, 2, q0, elsewhere)
		granted(c2, 1, q0, q1)
		time.Sleep(50 * time.Second)
		granted(c1, 1, q0) // refreshed
		time.Sleep(60 * time.Second)
		granted(c2, 0, q0) // exactly 60 s after the refresh it still holds
		time.Sleep(time.Millisecond)
		granted(c2, 1, q0)
		granted(c1, 0, q0)
		c1.lock(protocol.UnlockBatchMQ, q0) // not its own any more
		if got := r.LockHolder("G", q0); got != "c2" {
			t.Errorf("holder %q, want c2", got)
		}
		c2.lock(protocol.UnlockBatchMQ, q0)
		granted(c1, 1, q0)
		if err := r.LoseLock("G", q0, "somebody"); err != nil {
			t.Fatal(err)
		}
		granted(c1, 0, q0)
		if err := r.LoseLock("G", q0, ""); err != nil {
			t.Fatal(err)
		}
		granted(c2, 1, q0)
	})
}
