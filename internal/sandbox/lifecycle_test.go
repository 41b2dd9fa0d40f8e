package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

func TestC03_BrokerMoves(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 4}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		sub := subscription(t, "orders", "*")
		c.beat("G", sub)
		c.send("orders", 0, "before")
		c.lock(protocol.LockBatchMQ, mq("orders", 0))
		if err := r.SetOffset("G", mq("orders", 0), 1); err != nil {
			t.Fatal(err)
		}
		held := c.start(suspended(pullRequest("G", "orders", 0, 1, "*"), 15*time.Second))
		old := r.BrokerAddr("broker-a")
		if err := r.MoveBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if a := <-held; a.err == nil {
			t.Error("the parked pull was answered")
		}
		moved := r.BrokerAddr("broker-a")
		route, err := protocol.DecodeTopicRouteData(c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}).Body)
		if err != nil || moved == old || route.BrokerDatas[0].BrokerAddrs[0] != moved {
			t.Errorf("moved from %s to %s, route %+v, %v", old, moved, route, err)
		}
		if _, err := r.net.Dial(t.Context(), old); err == nil {
			t.Error("somebody still listens on the old address")
		}
		if len(r.Members("G")) != 0 || r.LockHolder("G", mq("orders", 0)) != "" || r.Held() != 0 {
			t.Error("members, locks or parked pulls survived")
		}
		c.send("orders", 0, "after")
		if diff := cmp.Diff([]string{"before", "after"}, bodiesOf(r.messages("orders", 0))); diff != "" {
			t.Error(diff)
		}
		if got, _ := r.Offset("G", mq("orders", 0)); got != 1 {
			t.Errorf("stored offset %d, want 1", got)
		}
		c.beat("G", sub)
		if diff := cmp.Diff([]string{"c1"}, r.memberIDs("G")); diff != "" {
			t.Error(diff)
		}
	})
}

func TestStopAndStart(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}, Brokers: 2}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "x")
		addr := r.BrokerAddr("broker-a")
		for range 2 { // the second time does nothing
			if err := r.StopBroker("broker-a"); err != nil {
				t.Fatal(err)
			}
		}
		route, err := protocol.DecodeTopicRouteData(c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}).Body)
		if err != nil || len(route.BrokerDatas) != 1 || route.BrokerDatas[0].BrokerName != "broker-b" {
			t.Errorf("route %+v, %v", route, err)
		}
		if r.BrokerAddr("broker-a") != addr {
			t.Error("a stopped broker has lost its address")
		}
		for range 2 {
			if err := r.StartBroker("broker-a"); err != nil {
				t.Fatal(err)
			}
		}
		if got := r.BrokerAddr("broker-a"); got != addr {
			t.Errorf("restarted on %s, want %s", got, addr)
		}
		c.send("orders", 0, "y")
		if n := len(r.messages("orders", 0)); n != 2 {
			t.Errorf("%d messages, want 2", n)
		}
		if err := r.StopNameServer(); err != nil {
			t.Fatal(err)
		}
		if _, err := r.net.Dial(t.Context(), r.NameServers()[0]); err == nil {
			t.Error("the name server still listens")
		}
		if err := r.StartNameServer(); err != nil {
			t.Fatal(err)
		}
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}), protocol.CodeSuccess)
		for _, err := range []error{r.StopBroker("none"), r.StartBroker("none"), r.MoveBroker("none"), r.AdvanceMinOffset(protocol.MessageQueue{BrokerName: "none"}, 1)} {
			if !errors.Is(err, ErrNoBroker) {
				t.Errorf("unknown broker: %v", err)
			}
		}
		if err := r.AdvanceMinOffset(mq("none", 0), 1); !errors.Is(err, ErrNoQueue) {
			t.Errorf("unknown topic: %v", err)
		}
		if err := r.AdvanceMinOffset(mq("orders", 1), 1); !errors.Is(err, ErrNoQueue) {
			t.Errorf("unknown queue: %v", err)
		}
	})
}

func TestClosedSandbox(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		r.Close()
		r.Close()
		for name, err := range map[string]error{
			"StopBroker": r.StopBroker("broker-a"), "StartBroker": r.StartBroker("broker-a"), "MoveBroker": r.MoveBroker("broker-a"),
			"StopNameServer": r.StopNameServer(), "StartNameServer": r.StartNameServer(),
			"SetOffset": r.SetOffset("G", mq("orders", 0), 1), "LoseLock": r.LoseLock("G", mq("orders", 0), ""),
			"CreateTopic": r.CreateTopic(TopicSpec{Name: "more"}),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		r.On(AllRequests, func(*Control) {})()
		if len(r.Counts()) != 0 || r.Held() != 0 || r.Members("G") != nil {
			t.Error("a closed sandbox counts")
		}
	})
}

// TestMemoryIsBounded stores far more than may be kept.
func TestMemoryIsBounded(t *testing.T) {
	const limit = 1 << 20
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}, MaxMemory: limit}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 1, "the only one")
		c.send("orders", 0, "delayed", "DELAY", "18")
		body := strings.Repeat("x", 1000)
		for i := range 5000 {
			c.send("orders", 0, fmt.Sprintf("%d %s", i, body), "KEYS", fmt.Sprint("k", i))
		}
		r.do(func() {
			if got := r.brokers[0].memory(); got > limit {
				t.Errorf("%d bytes, the limit is %d", got, limit)
			}
		})
		lo, hi, err := r.Bounds(mq("orders", 0))
		if err != nil || hi != 5000 || lo < 4000 || lo > 4800 {
			t.Errorf("queue holds %d to %d, %v", lo, hi, err)
		}
		list := r.messages("orders", 0)
		if int64(len(list)) != hi-lo || list[0].QueueOffset != lo || !strings.HasPrefix(string(list[0].Body), fmt.Sprint(lo, " ")) {
			t.Errorf("%d messages, the first %+v", len(list), list[0].QueueOffset)
		}
		if lo, hi, err := r.Bounds(mq("orders", 1)); err != nil || lo != 1 || hi != 1 {
			t.Errorf("the quiet queue holds %d to %d, %v", lo, hi, err)
		}
		wantCode(t, c.broker(pullRequest("G", "orders", 0, 0, "*"), nil), protocol.CodePullOffsetMoved)
		query := func(key string) protocol.ResponseCode {
			return c.broker(&protocol.QueryMessageRequest{Topic: "orders", Key: key, MaxNum: 1, EndTimestamp: 1 << 60}, nil).ResponseCode()
		}
		if old, young := query("k0"), query("k4999"); old != protocol.CodeQueryNotFound || young != protocol.CodeSuccess {
			t.Errorf("query of an old key: %v, of a young one: %v", old, young)
		}
		time.Sleep(3 * time.Hour) // the delayed message is gone; nothing may trip over it
		if got := len(r.messages("orders", 0)); int64(got) != hi-lo {
			t.Errorf("%d messages after the delay, want %d", got, hi-lo)
		}
	})
}

func TestConnectionLimit(t *testing.T) {
	inBubble(t, Options{MaxConns: 2}, func(t *testing.T, r *rig) {
		for _, id := range []string{"c1", "c2"} {
			r.client(id).bodyOnly(protocol.GetBrokerRuntimeInfo, nil)
		}
		c := r.client("c3")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.pool.Call(ctx, r.BrokerAddr("broker-a"), protocol.NewBodyRequest(protocol.GetBrokerRuntimeInfo, nil))
		if !errors.Is(err, remoting.ErrDisconnected) {
			t.Errorf("third connection: %v", err)
		}
		r.client("c4").call(r.NameServers()[0], protocol.NewBodyRequest(protocol.GetBrokerClusterInfo, nil))
	})
}

// TestG28_LoopbackOnly opens real listeners.
func TestG28_LoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", "192.0.2.1:9876", "[::]:0", "example.com:9876", "nonsense", "127.0.0.1"} {
		for _, o := range []Options{{Listen: addr}, {BrokerListen: addr}} {
			s, err := New(o)
			if err == nil {
				s.Close()
				t.Errorf("%+v was accepted", o)
				continue
			}
			if !errors.Is(err, ErrOptions) {
				t.Errorf("%+v: %v", o, err)
			}
		}
	}
	s, err := New(Options{Listen: ":0", Brokers: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, addr := range []string{s.NameServers()[0], s.BrokerAddr("broker-a"), s.BrokerAddr("broker-b")} {
		if at, err := netip.ParseAddrPort(addr); err != nil || !at.Addr().IsLoopback() || at.Port() == 0 {
			t.Errorf("listens on %s, %v", addr, err)
		}
	}
	if s.BrokerAddr("none") != "" {
		t.Error("an unknown broker has an address")
	}
}

func TestRemoteOnRequest(t *testing.T) {
	s, err := New(Options{Listen: "0.0.0.0:0", BrokerListen: "0.0.0.0:0", AllowRemote: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if at := netip.MustParseAddrPort(s.BrokerAddr("broker-a")); !at.Addr().IsLoopback() {
		t.Errorf("advertises %v: nobody can dial an unspecified address", at)
	}
}

func TestBrokerPorts(t *testing.T) {
	inBubble(t, Options{Listen: ":9876", BrokerListen: ":10911", Brokers: 28}, func(t *testing.T, r *rig) {
		if got := r.NameServers()[0]; got != "127.0.0.1:9876" {
			t.Errorf("name server on %s", got)
		}
		for name, want := range map[string]string{"broker-a": "127.0.0.1:10911", "broker-b": "127.0.0.1:10921", "broker-z": "127.0.0.1:11161", "broker-ab": "127.0.0.1:11181"} {
			if got := r.BrokerAddr(name); got != want {
				t.Errorf("%s on %s, want %s", name, got, want)
			}
		}
	})
}

func TestBadOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"brokers": {Brokers: -1}, "many brokers": {Brokers: 1000}, "topic name": {Topics: []TopicSpec{{Name: "a b"}}},
		"queues": {Topics: []TopicSpec{{Name: "a", Queues: -1}}}, "memory": {MaxMemory: -1}, "message size": {MaxMessageSize: 1 << 30},
	} {
		if s, err := New(o); !errors.Is(err, ErrOptions) {
			s.Close()
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestPortTaken(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if s, err := New(Options{BrokerListen: l.Addr().String()}); err == nil {
		s.Close()
		t.Error("two listeners on one port")
	}
}

// TestG13_PeerThatNeverReads fills the answers of one connection; it is cut, and the others go on.
func TestG13_PeerThatNeverReads(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, strings.Repeat("x", 1<<20))
		nc, err := r.net.Dial(t.Context(), r.BrokerAddr("broker-a"))
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		frame, err := protocol.AppendFrame(nil, protocol.NewRequest(pullRequest("G", "orders", 0, 0, "*"), nil))
		if err != nil {
			t.Fatal(err)
		}
		for range 200 {
			if _, err := nc.Write(frame); err != nil {
				break // cut
			}
			synctest.Wait()
		}
		time.Sleep(20 * time.Second)
		c.send("orders", 0, "others go on")
		r.do(func() {
			if n := len(r.peers); n != 1 {
				t.Errorf("%d connections, want the healthy one only", n)
			}
		})
	})
}

func TestRestartOverTCP(t *testing.T) {
	s, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	addr, ns := s.BrokerAddr("broker-a"), s.NameServers()[0]
	nc, err := net.Dial("tcp", addr) // an open connection leaves the port in use for a while
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, step := range []func() error{
		func() error { return s.StopBroker("broker-a") }, func() error { return s.StartBroker("broker-a") }, s.StopNameServer, s.StartNameServer,
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.BrokerAddr("broker-a"); got != addr {
		t.Errorf("restarted on %s, want %s", got, addr)
	}
	for _, addr := range []string{addr, ns} {
		nc, err := net.Dial("tcp", addr)
		if err != nil {
			t.Error(err)
			continue
		}
		nc.Close()
	}
	if err := s.MoveBroker("broker-a"); err != nil || s.BrokerAddr("broker-a") == addr {
		t.Errorf("moved to %s, %v", s.BrokerAddr("broker-a"), err)
	}
}

// TestC22_AppendedAsItIs stores what no send would be allowed to.
func TestC22_AppendedAsItIs(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "before")
		host := netip.MustParseAddrPort("[2001:db8::1]:4711")
		offset, err := r.Append(mq("orders", 0), protocol.MessageExt{BornHost: host, Flag: 5})
		if err != nil || offset != 1 {
			t.Errorf("offset %d, %v", offset, err)
		}
		c.send("orders", 0, "after")
		resp := c.broker(pullRequest("G", "orders", 0, 0, "*"), nil)
		if diff := cmp.Diff([]string{"before", "", "after"}, bodies(t, resp)); diff != "" {
			t.Error(diff)
		}
		if m := r.messages("orders", 0)[1]; m.BornHost != host || m.Flag != 5 || m.SysFlag&protocol.FlagBornHostV6 == 0 {
			t.Errorf("stored %+v", m)
		}
		if _, err := r.Append(mq("orders", 1), protocol.MessageExt{}); !errors.Is(err, ErrNoQueue) {
			t.Errorf("unknown queue: %v", err)
		}
	})
}
