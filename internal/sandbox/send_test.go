package sandbox

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func TestSendAndPull(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		sent := c.send("orders", 1, "one", "TAGS", "TagA", "KEYS", "k1 k2")
		if sent.QueueID != 1 || sent.QueueOffset != 0 || len(sent.TransactionID) != 32 || sent.MsgRegion != region {
			t.Errorf("answer %+v", sent)
		}
		c.send("orders", 1, "two")
		resp := c.broker(pullRequest("G", "orders", 1, 0, "*"), nil)
		wantCode(t, resp, protocol.CodeSuccess)
		zero := int32(0)
		want := protocol.PullMessageResponse{NextBeginOffset: 2, MaxOffset: 2, TopicSysFlag: &zero, GroupSysFlag: &zero}
		if diff := cmp.Diff(want, header[protocol.PullMessageResponse](t, resp)); diff != "" {
			t.Error(diff)
		}
		if resp.Remark != "FOUND" || resp.Version != protocol.CurrentVersion {
			t.Errorf("remark %q, version %d", resp.Remark, resp.Version)
		}
		if diff := cmp.Diff([]string{"one", "two"}, bodies(t, resp)); diff != "" {
			t.Error(diff)
		}
		m := r.messages("orders", 1)[0]
		if m.OffsetID() != sent.MsgID || m.UniqueID() != sent.TransactionID || m.Tags() != "TagA" || m.Keys() != "k1 k2" {
			t.Errorf("stored %+v with %v", m, m.Properties())
		}
		if m.Property("CLUSTER") != "DefaultCluster" || m.Property("TRACE_ON") != "true" || m.Property("MSG_REGION") != region {
			t.Errorf("properties %v", m.Properties())
		}
		if m.StoreHost.String() != r.BrokerAddr("broker-a") || !m.BornHost.IsValid() || m.BodyCRC != protocol.BodyCRC([]byte("one")) {
			t.Errorf("stored %+v", m)
		}
	})
}

// TestBrokerOwnsSomeProperties: what a producer says about cluster, region and trace does not count.
func TestBrokerOwnsSomeProperties(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		r.client("c1").send("orders", 0, "x", "CLUSTER", "mine", "TRACE_ON", "false", "MSG_REGION", "mars", "color", "red", "UNIQ_KEY", "U")
		got := map[string]string{}
		for _, p := range r.messages("orders", 0)[0].Properties() {
			got[p.Name] = p.Value
		}
		want := map[string]string{"CLUSTER": "DefaultCluster", "TRACE_ON": "true", "MSG_REGION": region, "color": "red", "UNIQ_KEY": "U"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSendCreatesTopic(t *testing.T) {
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		wantCode(t, c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "fresh"}), protocol.CodeTopicNotExist)
		c.send("fresh", -1, "x")
		resp := c.name(&protocol.GetRouteInfoByTopicRequest{Topic: "fresh"})
		wantCode(t, resp, protocol.CodeSuccess)
		route, err := protocol.DecodeTopicRouteData(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		want := []protocol.QueueData{{BrokerName: "broker-a", Perm: 6, ReadQueueNums: 4, WriteQueueNums: 4}}
		if diff := cmp.Diff(want, route.QueueDatas); diff != "" {
			t.Error(diff)
		}
	})
}

func TestSendRefused(t *testing.T) {
	long := strings.Repeat("x", 128)
	for name, test := range map[string]struct {
		topic string
		queue int32
		body  string
		props []string
		want  protocol.ResponseCode
	}{
		"unknown topic":     {topic: "fresh", body: "x", want: protocol.CodeTopicNotExist},
		"queue too high":    {topic: "orders", queue: 2, body: "x", want: protocol.CodeInvalidParameter},
		"bad topic name":    {topic: "no/slash", body: "x", want: protocol.CodeInvalidParameter},
		"topic too long":    {topic: long, body: "x", want: protocol.CodeInvalidParameter},
		"system topic":      {topic: protocol.ScheduleTopic, body: "x", want: protocol.CodeNoPermission},
		"empty body":        {topic: "orders", want: protocol.CodeSystemError},
		"bad delay level":   {topic: "orders", body: "x", props: []string{"DELAY", "soon"}, want: protocol.CodeSystemError},
		"large body":        {topic: "orders", body: long, want: protocol.CodeMessageIllegal},
		"large properties":  {topic: "orders", body: "x", props: []string{"a", strings.Repeat("y", 32767)}, want: protocol.CodeMessageIllegal},
		"group not created": {topic: "%RETRY%none", body: "x", want: protocol.CodeSubscriptionGroupNotExist},
	} {
		t.Run(name, func(t *testing.T) {
			o := Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}, NoAutoCreateTopics: true, NoAutoCreateGroups: true, MaxMessageSize: 100}
			inBubble(t, o, func(t *testing.T, r *rig) {
				c := r.client("c1")
				resp := c.broker(message(test.topic, test.queue, test.body, test.props...))
				wantCode(t, resp, test.want)
				fields := 2
				if test.want == protocol.CodeSystemError {
					fields = 0 // there a real broker fails with an exception
				}
				if len(resp.Ext) != fields {
					t.Errorf("ext fields %v, want %d of TRACE_ON and MSG_REGION", resp.Ext, fields)
				}
			})
		})
	}
}

func TestSendMissingFields(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		full := protocol.ExtFields{{Key: "a", Value: "PG"}, {Key: "b", Value: "orders"}, {Key: "e", Value: "0"}, {Key: "f", Value: "0"}, {Key: "g", Value: "1"}, {Key: "h", Value: "0"}}
		for i, field := range full {
			cmd := protocol.NewBodyRequest(protocol.SendMessageV2, []byte("x"))
			cmd.Ext = append(append(cmd.Ext, full[:i]...), full[i+1:]...)
			want := protocol.CodeSystemError
			if field.Key == "a" {
				want = protocol.CodeSuccess // a real broker does not need it either
			}
			wantCode(t, c.call(r.BrokerAddr("broker-a"), cmd), want)
		}
		cmd := protocol.NewBodyRequest(protocol.SendMessageV2, []byte("x"))
		cmd.Ext = append(cmd.Ext, full...)
		cmd.Ext[2].Value = "99999999999"
		wantCode(t, c.call(r.BrokerAddr("broker-a"), cmd), protocol.CodeSystemError)
	})
}

func TestSendBatch(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 2}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		body, err := protocol.EncodeBatch([]protocol.Message{
			{Body: []byte("a"), Flag: 7, Properties: protocol.Properties{{Name: "TAGS", Value: "TagC"}, {Name: "UNIQ_KEY", Value: "U1"}}}, {Body: []byte("b")},
		})
		if err != nil {
			t.Fatal(err)
		}
		h, _ := message("orders", 1, "", "UNIQ_KEY", "BATCH")
		h.M = true
		batch := protocol.SendBatchMessageRequest(*h)
		resp := c.broker(&batch, body)
		wantCode(t, resp, protocol.CodeSuccess)
		sent := header[protocol.SendMessageResponse](t, resp)
		stored := r.messages("orders", 1)
		if len(stored) != 2 || sent.MsgID != stored[0].OffsetID()+","+stored[1].OffsetID() || sent.TransactionID != "BATCH" {
			t.Fatalf("answer %+v, stored %d", sent, len(stored))
		}
		if diff := cmp.Diff(protocol.Properties{{Name: "TAGS", Value: "TagC"}, {Name: "UNIQ_KEY", Value: "U1"}}, stored[0].Properties()); diff != "" {
			t.Error(diff)
		}
		if stored[0].Flag != 7 || len(stored[1].Properties()) != 0 {
			t.Errorf("flag %d, properties of the second %v", stored[0].Flag, stored[1].Properties())
		}
		for name, bad := range map[string][]byte{"cut": body[:len(body)-1], "empty": nil, "garbage": []byte("garbage that is long enough for one")} {
			if got := c.broker(&batch, bad).ResponseCode(); got != protocol.CodeSystemError {
				t.Errorf("%s: code %v", name, got)
			}
		}
		h, _ = message("%RETRY%G", 0, "")
		batch = protocol.SendBatchMessageRequest(*h)
		wantCode(t, c.broker(&batch, body), protocol.CodeMessageIllegal)
	})
}

func TestHalfMessageStaysHidden(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		h, body := message("orders", 0, "half", "TRAN_MSG", "true", "PGROUP", "PG", "UNIQ_KEY", "U1")
		h.F = protocol.FlagTransPrepared
		wantCode(t, c.broker(h, body), protocol.CodeSuccess)
		if n := len(r.messages("orders", 0)); n != 0 {
			t.Errorf("%d messages in the real topic", n)
		}
		m := r.messages(protocol.HalfTopic, 0)[0]
		if m.SysFlag != 0 || m.Property("REAL_TOPIC") != "orders" || m.Property("REAL_QID") != "0" || m.Property("__transactionId__") != "U1" {
			t.Errorf("half message %+v with %v", m, m.Properties())
		}
	})
}
