package sandbox

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

const replica = "broker-a-1"

// withReplica is a broker with one replica, a topic with one message, and a client.
func withReplica(t *testing.T, test func(t *testing.T, r *rig, c *client)) {
	inBubble(t, Options{Replicas: 1, Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "first")
		test(t, r, c)
	})
}

func (c *client) routeAddrs(topic string) map[int64]string {
	c.r.t.Helper()
	resp := c.name(&protocol.GetRouteInfoByTopicRequest{Topic: topic})
	wantCode(c.r.t, resp, protocol.CodeSuccess)
	route, err := protocol.DecodeTopicRouteData(resp.Body)
	if err != nil || len(route.BrokerDatas) != 1 || len(route.QueueDatas) != 1 || route.QueueDatas[0].Perm != 6 {
		c.r.t.Fatalf("route %+v, %v", route, err)
	}
	return route.BrokerDatas[0].BrokerAddrs
}

// at sends a request to a master or a replica.
func (c *client) at(node string, h protocol.RequestHeader) *protocol.Command {
	c.r.t.Helper()
	return c.call(c.r.BrokerAddr(node), protocol.NewRequest(h, nil))
}

func TestRouteOfReplicas(t *testing.T) {
	withReplica(t, func(t *testing.T, r *rig, c *client) {
		master, slave := r.BrokerAddr("broker-a"), r.BrokerAddr(replica)
		if diff := cmp.Diff([]string{"broker-a"}, r.Brokers()); diff != "" {
			t.Error(diff)
		}
		step := func(name string, err error, want map[int64]string) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if diff := cmp.Diff(want, c.routeAddrs("orders")); diff != "" {
				t.Errorf("%s: route\n%s", name, diff)
			}
			info, err := protocol.DecodeClusterInfo(c.call(r.NameServers()[0], protocol.NewBodyRequest(protocol.GetBrokerClusterInfo, nil)).Body)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, info.BrokerAddrTable["broker-a"].BrokerAddrs); diff != "" {
				t.Errorf("%s: cluster\n%s", name, diff)
			}
		}
		step("both run", nil, map[int64]string{0: master, 1: slave})
		step("master away", r.StopBroker("broker-a"), map[int64]string{1: slave})
		step("master back", r.StartBroker("broker-a"), map[int64]string{0: master, 1: slave})
		step("replica away", r.KillBroker(replica), map[int64]string{0: master})
		step("replica back", r.StartBroker(replica), map[int64]string{0: master, 1: slave})
		if err := r.MoveBroker(replica); err != nil {
			t.Fatal(err)
		}
		step("replica moved", nil, map[int64]string{0: master, 1: r.BrokerAddr(replica)})
		for _, name := range []string{"broker-a", replica} {
			if err := r.StopBroker(name); err != nil {
				t.Fatal(err)
			}
		}
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}), protocol.CodeTopicNotExist)
		if err := r.StopBroker("broker-a-2"); !errors.Is(err, ErrNoBroker) {
			t.Errorf("a replica that does not exist: %v", err)
		}
	})
}

// A pull that is parked at a replica is woken by what its master gets; groups have members at each.
func TestReplicaServesReads(t *testing.T) {
	withReplica(t, func(t *testing.T, r *rig, c *client) {
		held := make(chan timed, 1)
		pull := suspended(pullRequest("G", "orders", 0, 1, "*"), time.Minute)
		c.pool.Start(t.Context(), r.BrokerAddr(replica), protocol.NewRequest(pull, nil), 0, func(resp *protocol.Command, err error) {
			held <- timed{resp: resp, err: err}
		})
		synctest.Wait()
		c.send("orders", 0, "second")
		if a := <-held; a.err != nil || len(bodies(t, a.resp)) != 1 {
			t.Errorf("%v %v", a.resp, a.err)
		}
		if err := r.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"first", "second"}, bodies(t, c.at(replica, pullRequest("G", "orders", 0, 0, "*")))); diff != "" {
			t.Error(diff)
		}
		beat := c.heartbeat("G", subscription(t, "orders", "*"))
		wantCode(t, c.call(r.BrokerAddr(replica), protocol.NewBodyRequest(protocol.HeartBeat, beat.Encode())), protocol.CodeSuccess)
		if diff := cmp.Diff([]Member{{Broker: replica, ClientID: "c1", Addr: r.Members("G")[0].Addr}}, r.Members("G")); diff != "" {
			t.Error(diff)
		}
	})
}

// A replica has the offsets that its master had when it asked last. It takes commits, and forgets them when it asks again.
func TestReplicaCopiesOffsets(t *testing.T) {
	withReplica(t, func(t *testing.T, r *rig, c *client) {
		c.group("G")
		stored := func(node string) int64 {
			t.Helper()
			no := false
			resp := c.at(node, &protocol.QueryConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", SetZeroIfNotFound: &no})
			if resp.ResponseCode() == protocol.CodeQueryNotFound {
				return -1
			}
			return header[protocol.QueryConsumerOffsetResponse](t, resp).Offset
		}
		commit := func(node string, offset int64) {
			t.Helper()
			wantCode(t, c.at(node, &protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", CommitOffset: offset}), protocol.CodeSuccess)
		}
		want := func(when string, master, slave int64) {
			t.Helper()
			if a, b := stored("broker-a"), stored(replica); a != master || b != slave {
				t.Errorf("%s: %d at the master, %d at the replica; want %d and %d", when, a, b, master, slave)
			}
		}
		commit("broker-a", 1)
		want("before the first copy", 1, -1)
		time.Sleep(firstSync)
		want("after it", 1, 1)
		commit(replica, 7)
		want("committed at the replica", 1, 7)
		time.Sleep(syncEvery)
		want("copied again", 1, 1)
		if err := r.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		commit(replica, 8)
		time.Sleep(2 * syncEvery)
		if got := stored(replica); got != 8 {
			t.Errorf("%d at the replica while the master is away, want 8", got)
		}
		if err := r.StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(syncEvery)
		want("the master is back", 1, 1)
	})
}

// A suggestion stands in the answers of pulls; the client decides what to make of it.
func TestSuggestedReplica(t *testing.T) {
	withReplica(t, func(t *testing.T, r *rig, c *client) {
		remove := r.On(protocol.PullMessage, func(ctl *Control) {
			if ctl.Broker == "broker-a" {
				ctl.Suggest(1)
			}
		})
		suggested := func(node string) int64 {
			t.Helper()
			return header[protocol.PullMessageResponse](t, c.at(node, pullRequest("G", "orders", 0, 0, "*"))).SuggestWhichBrokerID
		}
		if a, b := suggested("broker-a"), suggested(replica); a != 1 || b != 0 {
			t.Errorf("suggested %d and %d, want 1 and 0", a, b)
		}
		remove()
		if a := suggested("broker-a"); a != 0 {
			t.Errorf("suggested %d, want 0", a)
		}
	})
}

func TestReplicaOptions(t *testing.T) {
	for _, n := range []int{-1, maxReplicas + 1} {
		if _, err := New(Options{Replicas: n}); !errors.Is(err, ErrOptions) {
			t.Errorf("%d replicas: %v", n, err)
		}
	}
	inBubble(t, Options{Replicas: 2, Brokers: 2, Listen: "127.0.0.1:19000", BrokerListen: "127.0.0.1:20000"}, func(t *testing.T, r *rig) {
		for node, want := range map[string]string{
			"broker-a": "127.0.0.1:20000", replica: "127.0.0.1:20001", "broker-a-2": "127.0.0.1:20002", "broker-b-1": "127.0.0.1:20011",
		} {
			if got := r.BrokerAddr(node); got != want {
				t.Errorf("%s listens on %s, want %s", node, got, want)
			}
		}
	})
}
