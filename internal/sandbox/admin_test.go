package sandbox

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func TestTopicLife(t *testing.T) {
	inBubble(t, Options{Brokers: 2}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		create := &protocol.UpdateAndCreateTopicRequest{Topic: "orders", DefaultTopic: "TBW102", ReadQueueNums: 2, WriteQueueNums: 3, Perm: 6, Attributes: "+message.type=FIFO"}
		wantCode(t, c.broker(create, nil), protocol.CodeSuccess)
		resp := c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"})
		wantCode(t, resp, protocol.CodeSuccess)
		got, err := protocol.DecodeTopicRouteData(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := &protocol.TopicRouteData{
			BrokerDatas: []protocol.BrokerData{{
				BrokerName: "broker-a", Cluster: "DefaultCluster", BrokerAddrs: map[int64]string{0: r.BrokerAddr("broker-a")},
			}},
			QueueDatas:        []protocol.QueueData{{BrokerName: "broker-a", Perm: 6, ReadQueueNums: 2, WriteQueueNums: 3}},
			FilterServerTable: map[string][]string{},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		resp = c.broker(&protocol.GetTopicConfigRequest{Topic: "orders"}, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		cfg, err := protocol.DecodeTopicConfig(resp.Body)
		if err != nil || cfg.Attributes["message.type"] != "FIFO" || cfg.WriteQueueNums != 3 {
			t.Errorf("config %+v, %v", cfg, err)
		}
		c.send("orders", 2, "x")
		wantCode(t, c.broker(&protocol.DeleteTopicInBrokerRequest{Topic: "orders"}, nil), protocol.CodeSuccess)
		wantCode(t, c.broker(&protocol.DeleteTopicInBrokerRequest{Topic: "orders"}, nil), protocol.CodeSuccess)
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}), protocol.CodeTopicNotExist)
		wantCode(t, c.broker(create, nil), protocol.CodeSuccess)
		if n := len(r.messages("orders", 2)); n != 0 {
			t.Errorf("the new topic has %d old messages", n)
		}
	})
}

func TestTopicRefused(t *testing.T) {
	inBubble(t, Options{MaxTopics: 20}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for name, test := range map[string]struct {
			h    protocol.UpdateAndCreateTopicRequest
			want protocol.ResponseCode
		}{
			"bad name":      {protocol.UpdateAndCreateTopicRequest{Topic: "a b", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6}, protocol.CodeInvalidParameter},
			"no topic":      {protocol.UpdateAndCreateTopicRequest{Topic: "", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6}, protocol.CodeSystemError},
			"blank":         {protocol.UpdateAndCreateTopicRequest{Topic: " ", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6}, protocol.CodeInvalidParameter},
			"system":        {protocol.UpdateAndCreateTopicRequest{Topic: "TBW102", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6}, protocol.CodeInvalidParameter},
			"negative":      {protocol.UpdateAndCreateTopicRequest{Topic: "t", ReadQueueNums: -1, WriteQueueNums: -1, Perm: 6}, protocol.CodeSuccess},
			"huge":          {protocol.UpdateAndCreateTopicRequest{Topic: "t", ReadQueueNums: 1 << 30, WriteQueueNums: 1, Perm: 6}, protocol.CodeSystemError},
			"bad attribute": {protocol.UpdateAndCreateTopicRequest{Topic: "t", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6, Attributes: "+nonsense=1"}, protocol.CodeSystemError},
			"bad sign":      {protocol.UpdateAndCreateTopicRequest{Topic: "t", ReadQueueNums: 1, WriteQueueNums: 1, Perm: 6, Attributes: "*message.type=1"}, protocol.CodeSystemError},
		} {
			if got := c.broker(&test.h, nil); got.ResponseCode() != test.want {
				t.Errorf("%s: %v (%s), want %v", name, got.ResponseCode(), got.Remark, test.want)
			}
		}
		wantCode(t, c.broker(&protocol.GetTopicStatsInfoRequest{Topic: "t"}, nil), protocol.CodeSuccess)
		refused := false
		for i := range 20 {
			name := "t" + strings.Repeat("x", i)
			refused = refused || c.broker(message(name, 0, "x")).ResponseCode() == protocol.CodeTopicNotExist
		}
		r.do(func() {
			if n := len(r.brokers[0].topics); !refused || n != 20 {
				t.Errorf("%d topics, refused %v; want no more than 20", n, refused)
			}
		})
		wantCode(t, c.broker(&protocol.DeleteTopicInBrokerRequest{Topic: "TBW102"}, nil), protocol.CodeInvalidParameter)
	})
}

func TestNameServer(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}, Brokers: 2}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		list, err := protocol.DecodeTopicList(c.call(r.NameServers()[0], protocol.NewBodyRequest(protocol.GetAllTopicListFromNameServer, nil)).Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"orders", "TBW102", "broker-a", "broker-b", "DefaultCluster", "SCHEDULE_TOPIC_XXXX"} {
			if !slices.Contains(list.TopicList, name) {
				t.Errorf("topic %s is not listed in %v", name, list.TopicList)
			}
		}
		byCluster, err := protocol.DecodeTopicList(c.name(&protocol.GetTopicsByClusterRequest{Cluster: "DefaultCluster"}).Body)
		if err != nil || !slices.Contains(byCluster.TopicList, "orders") {
			t.Errorf("%v, %v", byCluster, err)
		}
		info, err := protocol.DecodeClusterInfo(c.call(r.NameServers()[0], protocol.NewBodyRequest(protocol.GetBrokerClusterInfo, nil)).Body)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string][]string{"DefaultCluster": {"broker-a", "broker-b"}}, info.ClusterAddrTable); diff != "" {
			t.Error(diff)
		}
		setting := func(code protocol.RequestCode, fields ...string) *protocol.Command {
			cmd := protocol.NewBodyRequest(code, nil)
			for pair := range slices.Chunk(fields, 2) {
				cmd.Ext.Add(pair[0], pair[1])
			}
			return c.call(r.NameServers()[0], cmd)
		}
		wantCode(t, setting(protocol.GetKVConfig, "namespace", "ORDER_TOPIC_CONFIG", "key", "orders"), protocol.CodeQueryNotFound)
		wantCode(t, setting(protocol.GetKVListByNamespace, "namespace", "ORDER_TOPIC_CONFIG"), protocol.CodeQueryNotFound)
		wantCode(t, setting(protocol.PutKVConfig, "namespace", "ORDER_TOPIC_CONFIG", "key", "orders", "value", "broker-a:4"), protocol.CodeSuccess)
		if v, _ := setting(protocol.GetKVConfig, "namespace", "ORDER_TOPIC_CONFIG", "key", "orders").Ext.Get("value"); v != "broker-a:4" {
			t.Errorf("value %q", v)
		}
		wantCode(t, setting(protocol.GetKVListByNamespace, "namespace", "ORDER_TOPIC_CONFIG"), protocol.CodeSuccess)
		route, err := protocol.DecodeTopicRouteData(c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "orders"}).Body)
		if err != nil || route.OrderTopicConf != "broker-a:4" {
			t.Errorf("%+v, %v", route, err)
		}
		wantCode(t, setting(protocol.DeleteKVConfig, "namespace", "ORDER_TOPIC_CONFIG", "key", "orders"), protocol.CodeSuccess)
		wantCode(t, setting(protocol.DeleteKVConfig, "namespace", "none", "key", "orders"), protocol.CodeSuccess)
	})
}

// TestC01_BareIntegerKeys: the name server answers old requests with keys that are no strings.
func TestC01_BareIntegerKeys(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}, Cluster: "c{0:"}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for _, test := range []struct {
			version  int32
			standard bool
			bare     bool
		}{{317, false, true}, {400, false, true}, {317, true, false}, {401, false, false}, {513, false, false}} {
			req := protocol.NewRequest(&protocol.GetRouteInfoByTopicRequest{Topic: "orders", AcceptStandardJSONOnly: test.standard}, nil)
			req.Version = test.version
			body := string(c.call(r.NameServers()[0], req).Body)
			if bare := strings.Contains(body, `"brokerAddrs":{0:`); bare != test.bare {
				t.Errorf("version %d, standard %v: %s", test.version, test.standard, body)
			}
			route, err := protocol.DecodeTopicRouteData([]byte(body))
			if err != nil || route.BrokerDatas[0].BrokerAddrs[0] != r.BrokerAddr("broker-a") || route.BrokerDatas[0].Cluster != "c{0:" {
				t.Errorf("%+v, %v", route, err)
			}
		}
	})
}

func TestDeleteRouteOnly(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		ask := &protocol.GetRouteInfoByTopicRequest{Topic: "orders"}
		wantCode(t, c.name(&protocol.DeleteTopicInNamesrvRequest{Topic: "orders"}), protocol.CodeSuccess)
		wantCode(t, c.name(ask), protocol.CodeTopicNotExist)
		time.Sleep(30 * time.Second) // the broker registers again
		wantCode(t, c.name(ask), protocol.CodeSuccess)
		r.SetUnroutedTopic("orders", true)
		wantCode(t, c.name(ask), protocol.CodeTopicNotExist)
		r.SetUnroutedTopic("orders", false)
		wantCode(t, c.name(ask), protocol.CodeSuccess)
	})
}

func TestC15_RetryTopicWithoutRoute(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}, NoAutoCreateTopics: true}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "TBW102"}), protocol.CodeTopicNotExist)
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "%RETRY%G"}), protocol.CodeTopicNotExist)
		c.beat("G", subscription(t, "orders", "*"))
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "%RETRY%G"}), protocol.CodeSuccess)
	})
}

func TestStats(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		var stored []int64
		for range 3 {
			stored = append(stored, time.Now().UnixMilli())
			c.send("orders", 0, "x")
			time.Sleep(time.Second)
		}
		resp := c.broker(&protocol.GetTopicStatsInfoRequest{Topic: "orders"}, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		table, err := protocol.DecodeTopicStatsTable(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		wantStats := map[protocol.MessageQueue]protocol.TopicOffset{
			mq("orders", 0): {MaxOffset: 3, LastUpdateTimestamp: stored[2]}, mq("orders", 1): {},
		}
		if diff := cmp.Diff(wantStats, table.OffsetTable); diff != "" {
			t.Error(diff)
		}
		wantCode(t, c.broker(&protocol.GetTopicStatsInfoRequest{Topic: "none"}, nil), protocol.CodeTopicNotExist)

		progress := func(topic string) map[protocol.MessageQueue]protocol.OffsetWrapper {
			t.Helper()
			resp := c.broker(&protocol.GetConsumeStatsRequest{ConsumerGroup: "G", Topic: topic}, nil)
			wantCode(t, resp, protocol.CodeSuccess)
			stats, err := protocol.DecodeConsumeStats(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return stats.OffsetTable
		}
		if got := progress(""); len(got) != 0 {
			t.Errorf("a group without offsets has %v", got)
		}
		if err := r.SetOffset("G", mq("orders", 0), 2); err != nil {
			t.Fatal(err)
		}
		h := pullRequest("G", "orders", 0, 2, "*")
		wantCode(t, c.broker(h, nil), protocol.CodeSuccess)
		want := map[protocol.MessageQueue]protocol.OffsetWrapper{
			mq("orders", 0): {BrokerOffset: 3, ConsumerOffset: 2, LastTimestamp: stored[1], PullOffset: 3}, mq("orders", 1): {},
		}
		for _, topic := range []string{"", "orders"} {
			if diff := cmp.Diff(want, progress(topic)); diff != "" {
				t.Errorf("topic %q: %s", topic, diff)
			}
		}
		if got := progress("none"); len(got) != 0 {
			t.Errorf("an unknown topic has %v", got)
		}
		resp = c.broker(&protocol.QueryTopicConsumeByWhoRequest{Topic: "orders"}, nil)
		list, err := protocol.DecodeGroupList(resp.Body)
		if err != nil || !slices.Equal(list.GroupList, []string{"G"}) {
			t.Errorf("%v, %v", list, err)
		}
	})
}

func TestGroupConfigs(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{"groupName":"G","retryMaxTimes":5}`)), protocol.CodeSuccess)
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{"groupName":"no/slash"}`)), protocol.CodeInvalidParameter)
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{`)), protocol.CodeSystemError)
		groups := func() map[string]protocol.SubscriptionGroupConfig {
			t.Helper()
			resp := c.bodyOnly(protocol.GetAllSubscriptionGroupConfig, nil)
			wantCode(t, resp, protocol.CodeSuccess)
			all, err := protocol.DecodeAllSubscriptionGroupConfig(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			if h := header[protocol.GetAllSubscriptionGroupConfigResponse](t, resp); int(*h.TotalGroupNum) != len(all.SubscriptionGroupTable) {
				t.Errorf("total %d of %d", *h.TotalGroupNum, len(all.SubscriptionGroupTable))
			}
			return all.SubscriptionGroupTable
		}
		if g, ok := groups()["G"]; !ok || g.RetryMaxTimes != 5 || g.RetryQueueNums != 1 || !g.ConsumeEnable || g.ConsumeTimeoutMinute != 15 {
			t.Errorf("group %+v, %v", g, ok)
		}
		if err := r.SetOffset("G", mq("TBW102", 0), 5); err != nil {
			t.Fatal(err)
		}
		wantCode(t, c.broker(&protocol.DeleteSubscriptionGroupRequest{GroupName: "G"}, nil), protocol.CodeSuccess)
		wantCode(t, c.broker(&protocol.DeleteSubscriptionGroupRequest{GroupName: "none"}, nil), protocol.CodeSuccess)
		if _, ok := groups()["G"]; ok {
			t.Error("the group is still there")
		}
		if _, ok := r.Offset("G", mq("TBW102", 0)); !ok {
			t.Error("its offsets are gone")
		}
		wantCode(t, c.broker(&protocol.DeleteSubscriptionGroupRequest{GroupName: "G", CleanOffset: true}, nil), protocol.CodeSuccess)
		if _, ok := r.Offset("G", mq("TBW102", 0)); ok {
			t.Error("its offsets are still there")
		}
	})
}

func TestBrokerDescribesItself(t *testing.T) {
	inBubble(t, Options{Version: 433}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		resp := c.bodyOnly(protocol.GetBrokerRuntimeInfo, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		if resp.Version != 433 {
			t.Errorf("version %d in the answer", resp.Version)
		}
		table, err := protocol.DecodeKVTable(resp.Body)
		if err != nil || table.Table["brokerVersionDesc"] != "V5_1_0" || len(strings.Fields(table.Table["putTps"])) != 3 {
			t.Errorf("%v, %v", table, err)
		}
		resp = c.bodyOnly(protocol.GetBrokerConfig, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		settings, err := protocol.DecodeBrokerConfig(resp.Body)
		if name, _ := settings.Get("brokerName"); err != nil || name != "broker-a" {
			t.Errorf("%v, %v", settings, err)
		}
		resp = c.bodyOnly(protocol.GetAllTopicConfig, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		if all, err := protocol.DecodeAllTopicConfig(resp.Body); err != nil || all.TopicConfigTable["TBW102"].Perm != 7 {
			t.Errorf("%v, %v", all, err)
		}
		check := protocol.CheckClientConfigBody{ClientID: "c1", Group: "G", SubscriptionData: subscription(t, "orders", "a")}
		wantCode(t, c.bodyOnly(protocol.CheckClientConfig, check.Encode()), protocol.CodeSuccess)
		for condition, want := range map[string]protocol.ResponseCode{"a = 1": protocol.CodeSuccess, "a =": protocol.CodeSubscriptionParseFailed} {
			check.SubscriptionData.ExpressionType, check.SubscriptionData.SubString = "SQL92", condition
			wantCode(t, c.bodyOnly(protocol.CheckClientConfig, check.Encode()), want)
		}
	})
}

func TestQueryMessages(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}, {Name: "other", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		start := time.Now()
		sent := c.send("orders", 0, "first", "KEYS", "k1 k2")
		time.Sleep(time.Minute)
		c.send("orders", 1, "second", "KEYS", "k2")
		c.send("other", 0, "elsewhere", "KEYS", "k2")
		c.send("orders", 0, "same hash", "KEYS", "BB")
		query := func(key string, most int32, from, to time.Time, unique bool) []string {
			t.Helper()
			h := &protocol.QueryMessageRequest{Topic: "orders", Key: key, MaxNum: most, BeginTimestamp: from.UnixMilli(), EndTimestamp: to.UnixMilli(), UniqueKeyQuery: unique}
			resp := c.broker(h, nil)
			if resp.ResponseCode() == protocol.CodeQueryNotFound {
				return nil
			}
			wantCode(t, resp, protocol.CodeSuccess)
			return bodies(t, resp)
		}
		end := time.Now()
		for name, test := range map[string]struct{ got, want []string }{
			"one key":              {query("k1", 32, start, end, false), []string{"first"}},
			"two messages":         {query("k2", 32, start, end, false), []string{"first", "second"}},
			"the newest":           {query("k2", 1, start, end, false), []string{"second"}},
			"a later time":         {query("k2", 32, start.Add(time.Second), end, false), []string{"second"}},
			"an earlier time":      {query("k2", 32, start, start, false), []string{"first"}},
			"none":                 {query("k3", 32, start, end, false), nil},
			"at most none":         {query("k2", 0, start, end, false), nil},
			"unique id":            {query(sent.TransactionID, 0, start, end, true), []string{"first"}},
			"unique id as a key":   {query(sent.TransactionID, 1, start, end, false), []string{"first"}},
			"another key's hash":   {query("Aa", 32, start, end, false), []string{"same hash"}},
			"in another topic too": {query("elsewhere", 32, start, end, false), nil},
		} {
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
		}
		_, offset, err := protocol.DecodeOffsetID(sent.MsgID)
		if err != nil {
			t.Fatal(err)
		}
		resp := c.broker(&protocol.ViewMessageByIDRequest{Offset: offset}, nil)
		wantCode(t, resp, protocol.CodeSuccess)
		if got := bodies(t, resp); !slices.Equal(got, []string{"first"}) {
			t.Errorf("view: %v", got)
		}
		for _, bad := range []int64{offset + 1, -1, 1 << 50} {
			wantCode(t, c.broker(&protocol.ViewMessageByIDRequest{Offset: bad}, nil), protocol.CodeSystemError)
		}
	})
}

// TestG24_ReadingLeavesNoTrace runs every request that only asks.
func TestG24_ReadingLeavesNoTrace(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		c.send("orders", 0, "x", "KEYS", "k")
		c.beat("G", subscription(t, "orders", "*"))
		before := r.Writes()
		for _, h := range []protocol.RequestHeader{
			&protocol.QueryMessageRequest{Topic: "orders", Key: "k", MaxNum: 1, EndTimestamp: 1 << 60}, &protocol.ViewMessageByIDRequest{},
			&protocol.QueryConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders"}, &protocol.GetMaxOffsetRequest{Topic: "orders"},
			&protocol.GetMinOffsetRequest{Topic: "orders"}, &protocol.SearchOffsetByTimestampRequest{Topic: "orders"},
			&protocol.GetEarliestMsgStoreTimeRequest{Topic: "orders"}, &protocol.GetConsumerListByGroupRequest{ConsumerGroup: "G"},
			&protocol.GetTopicStatsInfoRequest{Topic: "orders"}, &protocol.GetConsumeStatsRequest{ConsumerGroup: "G", Topic: "orders"},
			&protocol.GetConsumerConnectionListRequest{ConsumerGroup: "G"}, &protocol.QueryTopicConsumeByWhoRequest{Topic: "orders"},
			pullRequest("TOOLS_CONSUMER", "orders", 0, 0, "*"),
		} {
			wantCode(t, c.broker(h, nil), protocol.CodeSuccess)
		}
		if diff := cmp.Diff(before, r.Writes()); diff != "" {
			t.Error(diff)
		}
	})
}
