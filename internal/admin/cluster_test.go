package admin_test

import (
	"errors"
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

func TestCluster(t *testing.T) {
	r := newRig(t)
	rows, err := r.a.Cluster(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		t.Fatal("no rows")
	}
	for _, row := range rows {
		if row.Cluster == "" || row.Broker == "" || row.ID == nil || row.Addr == "" || row.Role == "" || row.Error != "" {
			t.Errorf("incomplete row %+v", row)
		}
	}
}

func TestC01_ClusterKeysBareOrQuoted(t *testing.T) {
	const name = `c{0:"x",1:}`
	body := `{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"127.0.0.1:10911",1:"[::1]:10921"},"brokerName":"broker-a","cluster":"c{0:\"x\",1:}","enableActingMaster":false}},` +
		`"clusterAddrTable":{"c{0:\"x\",1:}":["broker-a","broker-gone"]}}`
	want := []admin.Replica{
		{Cluster: name, Broker: "broker-a", ID: p(int64(0)), Role: admin.RoleMaster, Addr: "127.0.0.1:10911"},
		{Cluster: name, Broker: "broker-a", ID: p(int64(1)), Role: admin.RoleSlave, Addr: "[::1]:10921"},
		{Cluster: name, Broker: "broker-gone", Error: "the name server knows no address"},
	}
	quoted := strings.NewReplacer(`{0:"127`, `{"0":"127`, `,1:"[`, `,"1":"[`).Replace(body)
	if quoted == body {
		t.Fatal("nothing was quoted")
	}
	for kind, text := range map[string]string{"bare": body, "quoted": quoted} {
		t.Run(kind, func(t *testing.T) {
			virtual(t, 1, func(t *testing.T, r *rig) {
				r.rewrite(protocol.GetBrokerClusterInfo, func(resp *protocol.Command) { resp.Body = []byte(text) })
				rows, err := r.a.Cluster(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, rows); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

func TestNameServerTrouble(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.rewrite(protocol.GetBrokerClusterInfo, func(resp *protocol.Command) { resp.Body = []byte("{\n\"brokerAddrTable\":") })
		_, err := r.a.Cluster(t.Context())
		oneLine(t, err)
		if !errors.Is(err, protocol.ErrBadBody) {
			t.Errorf("a bad body gives %v", err)
		}
		r.Sandbox().ClearFaults()
		r.Sandbox().On(sandbox.AllRequests, func(ctl *sandbox.Control) {
			if ctl.Broker == "" {
				ctl.Drop()
			}
		})
		began := time.Now()
		_, err = r.a.Cluster(within(t, 2*time.Second))
		oneLine(t, err)
		if !errors.Is(err, remoting.ErrTimeout) || time.Since(began) != 2*time.Second {
			t.Errorf("a silent name server gives %v after %v", err, time.Since(began))
		}
	})
}

func TestTopicsByKind(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		for _, name := range []string{"orders", "orders_v2", protocol.RetryTopic("g"), protocol.DLQTopic("g")} {
			r.CreateTopic(name, 1)
		}
		names := func(o admin.TopicOptions) map[string]string {
			rows, err := r.a.Topics(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for i, row := range rows {
				if i > 0 && rows[i-1].Topic >= row.Topic {
					t.Errorf("%s is not sorted or twice", row.Topic)
				}
				got[row.Topic] = row.Kind
			}
			return got
		}
		plain := map[string]string{"orders": admin.KindNormal, "orders_v2": admin.KindNormal}
		if diff := cmp.Diff(plain, names(admin.TopicOptions{})); diff != "" {
			t.Error(diff)
		}
		retry := names(admin.TopicOptions{Retry: true})
		if retry[protocol.RetryTopic("g")] != admin.KindRetry || retry[protocol.DLQTopic("g")] != admin.KindDLQ || len(retry) != 4 {
			t.Errorf("with retry topics: %v", retry)
		}
		system := names(admin.TopicOptions{System: true})
		for _, name := range []string{protocol.AutoCreateTopic, "broker-a", "DefaultCluster"} {
			if system[name] != admin.KindSystem {
				t.Errorf("%s is %q, want a system topic; all: %v", name, system[name], system)
			}
		}
		if got := names(admin.TopicOptions{Regex: mustRegexp("_v2$"), System: true, Retry: true}); len(got) != 1 || got["orders_v2"] == "" {
			t.Errorf("by expression: %v", got)
		}
	})
}

func TestRoute(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(3)
		r.Sandbox().SetPerm(topic, protocol.PermRead)
		route, err := r.a.Route(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		want := &admin.TopicRoute{Topic: topic, Brokers: []admin.RouteBroker{
			{Cluster: "DefaultCluster", Broker: "broker-a", Addr: r.Sandbox().BrokerAddr("broker-a"), ReadQueues: 3, WriteQueues: 3, Perm: "R--"},
			{Cluster: "DefaultCluster", Broker: "broker-b", Addr: r.Sandbox().BrokerAddr("broker-b"), ReadQueues: 3, WriteQueues: 3, Perm: "R--"},
		}}
		if diff := cmp.Diff(want, route); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnknownTopicIsOneLineAndTold(t *testing.T) {
	r := newRig(t)
	name := r.Name("t")
	_, err := r.a.Route(t.Context(), name)
	oneLine(t, err)
	if !errors.Is(err, client.ErrTopicNotFound) || !strings.Contains(err.Error(), name) {
		t.Errorf("got %v", err)
	}
	_, err = r.a.Route(t.Context(), "no topic")
	oneLine(t, err)
	if !errors.Is(err, client.ErrInvalidName) {
		t.Errorf("got %v", err)
	}
}

func TestSlaveIsReadWhileTheMasterIsAway(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		r.fill(r.queues(topic)[0], 2)
		r.rewrite(protocol.GetRouteInfoByTopic, func(resp *protocol.Command) {
			resp.Body = []byte(strings.Replace(string(resp.Body), `"brokerAddrs":{"0":`, `"brokerAddrs":{"1":`, 1))
		})
		got, err := r.a.TopicOffsets(t.Context(), topic)
		if err != nil {
			t.Fatal(err)
		}
		if q := got.Queues[0]; text(q.Max) != "2" || !strings.Contains(q.Note, "replica 1") || got.Partial {
			t.Errorf("got %+v", got)
		}
	})
}

func TestRouteOfNewTopic(t *testing.T) {
	r := newRig(t)
	topic := r.Topic(2)
	route, err := r.a.Route(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	if len(route.Brokers) == 0 || route.Brokers[0].ReadQueues != 2 || route.Brokers[0].Perm != "RW-" {
		t.Errorf("got %+v", route)
	}
	rows, err := r.a.Topics(t.Context(), admin.TopicOptions{Regex: mustRegexp("^" + topic + "$")})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1 || rows[0].Kind != admin.KindNormal {
		t.Errorf("topics: %+v", rows)
	}
}
