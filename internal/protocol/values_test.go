package protocol

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ptr[T any](v T) *T { return &v }

// TestFixtureHeaders pins which wire name goes into which field: a round trip cannot see two names exchanged.
func TestFixtureHeaders(t *testing.T) {
	for name, want := range map[string]struct{ request, response any }{
		"pull_11_longpoll_woken": {&PullMessageRequest{
			ConsumerGroup: "CG_proto", Topic: "PT_a", QueueOffset: 8, MaxMsgNums: 32, SysFlag: PullSuspend | PullSubscription,
			SuspendTimeoutMillis: 15000, Subscription: "*", ExpressionType: "TAG",
		}, &PullMessageResponse{NextBeginOffset: 9, MaxOffset: 9, TopicSysFlag: ptr[int32](0), GroupSysFlag: ptr[int32](0)}},
		"send_10_json": {&SendMessageRequest{
			ProducerGroup: "PG_proto", Topic: "PT_a", DefaultTopic: "TBW102", DefaultTopicQueueNums: 4, BornTimestamp: 1796040850405,
			Properties: "TAGS\x01TagA\x02",
		}, &SendMessageResponse{
			MsgID: "7F00000100002A9F0000000028E70048", QueueOffset: 2, MsgRegion: "DefaultRegion", TraceOn: ptr(true),
			TransactionID: "FD0000000000000000000000000000020AEE5FFD2B2797F893EC0000",
		}},
		"end_transaction_37_oneway_from_check": {&EndTransactionRequest{
			ProducerGroup: "PG_tx", TranStateTableOffset: 3, CommitLogOffset: 1985641637, CommitOrRollback: FlagTransCommit, FromTransactionCheck: true,
			MsgID: "7F0000010001C2E4A5F1000200000003", TransactionID: "7F0000010001C2E4A5F1000200000003", Topic: "PT_trans",
		}, nil},
		"send_back_36": {&ConsumerSendMsgBackRequest{
			Offset: 686072848, Group: "CG_sb", OriginMsgID: "7F0000010001C2E4A5F1000000000001", OriginTopic: "PT_a",
			MaxReconsumeTimes: ptr[int32](16), BrokerName: "broker-a",
		}, nil},
		"search_offset_29": {
			&SearchOffsetByTimestampRequest{Topic: "PT_a", Timestamp: 1796040850412, BoundaryType: BoundaryUpper},
			&SearchOffsetByTimestampResponse{Offset: 2},
		},
		"query_message_12": {
			&QueryMessageRequest{Topic: "PT_a", Key: "k1", MaxNum: 8, EndTimestamp: 1796040992548},
			&QueryMessageResponse{IndexLastUpdateTimestamp: 1796040991605, IndexLastUpdatePhyOffset: 1763607372},
		},
		"create_topic_17": {&UpdateAndCreateTopicRequest{
			Topic: "PT_a", DefaultTopic: "TBW102", ReadQueueNums: 2, WriteQueueNums: 2, Perm: PermRead | PermWrite, TopicFilterType: TopicFilterSingleTag,
		}, nil},
		"update_offset_15": {&UpdateConsumerOffsetRequest{ConsumerGroup: "CG_proto", Topic: "PT_a", CommitOffset: 3}, nil},
		"unregister_35":    {&UnregisterClientRequest{ClientID: "192.0.2.9@200#1", ConsumerGroup: "CG_hb"}, nil},
		"heartbeat_34":     {nil, &HeartBeatResponse{SupportHeartbeatV2: true, SubChange: true}},
	} {
		request, response := fixture(t, name)
		checkDecoded(t, name, request, want.request)
		checkDecoded(t, name, response, want.response)
	}
}

func checkDecoded(t *testing.T, name string, c *Command, want any) {
	t.Helper()
	if want == nil {
		return
	}
	got := reflect.New(reflect.TypeOf(want).Elem()).Interface()
	if err := c.DecodeHeader(got); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
}

// TestDecodeHeaderClears: a struct that is used again must not keep what the last header had.
func TestDecodeHeaderClears(t *testing.T) {
	request, response := fixture(t, "pull_11_found")
	dirty := &PullMessageRequest{MaxMsgBytes: 9, LiteTopic: "dirty", RequestSource: ptr[int32](9)}
	if err := request.DecodeHeader(dirty); err != nil || dirty.MaxMsgBytes != 0 || dirty.LiteTopic != "" || dirty.RequestSource != nil {
		t.Errorf("%+v, %v", dirty, err)
	}
	moved := &PullMessageResponse{OffsetDelta: ptr[int64](9)}
	if err := response.DecodeHeader(moved); err != nil || moved.OffsetDelta != nil || moved.NextBeginOffset != 8 {
		t.Errorf("%+v, %v", moved, err)
	}
}

// TestFixtureBodies pins which JSON name goes into which field.
func TestFixtureBodies(t *testing.T) {
	a := func(id int32) MessageQueue { return MessageQueue{Topic: "PT_a", BrokerName: "broker-a", QueueID: id} }
	subscription := func(topic, expression string, version int64, tags []string, codes []int32) SubscriptionData {
		return SubscriptionData{Topic: topic, SubString: expression, SubVersion: version, ExpressionType: "TAG", TagsSet: tags, CodeSet: codes}
	}
	none, noCodes := []string{}, []int32{}
	request, _ := fixture(t, "heartbeat_34")
	lock, _ := fixture(t, "lock_41")
	assignment, _ := fixture(t, "query_assignment_400")
	for _, c := range []struct {
		body   []byte
		decode func([]byte) (encoder, error)
		want   encoder
	}{
		{lastBody(t, "topic_stats_202"), decoderOf(DecodeTopicStatsTable), &TopicStatsTable{OffsetTable: map[MessageQueue]TopicOffset{
			a(0): {LastUpdateTimestamp: 1796040889576, MaxOffset: 9}, a(1): {LastUpdateTimestamp: 1796040851052, MaxOffset: 4},
		}}},
		{lastBody(t, "consume_stats_208"), decoderOf(DecodeConsumeStats), &ConsumeStats{OffsetTable: map[MessageQueue]OffsetWrapper{
			a(0): {BrokerOffset: 9, PullOffset: 9}, a(1): {BrokerOffset: 4, PullOffset: 4},
		}}},
		{lastBody(t, "route_105_unquoted_int_keys"), decoderOf(DecodeTopicRouteData), &TopicRouteData{
			BrokerDatas: []BrokerData{{
				BrokerAddrs: map[int64]string{MasterID: "127.0.0.1:29911", 1: "127.0.0.1:29921"}, BrokerName: "fake-a", Cluster: "FakeC",
			}},
			FilterServerTable: map[string][]string{},
			QueueDatas:        []QueueData{{BrokerName: "fake-a", Perm: 6, ReadQueueNums: 2, WriteQueueNums: 2}},
		}},
		{lastBody(t, "consumer_connection_203"), decoderOf(DecodeConsumerConnection), &ConsumerConnection{
			ConnectionSet: []Connection{
				{ClientAddr: "127.0.0.1:37910", ClientID: "192.0.2.9@200#1", Language: "GO", Version: 513},
				{ClientAddr: "127.0.0.1:37906", ClientID: "192.0.2.9@100#1", Language: "GO", Version: 513},
			},
			ConsumeFromWhere: ConsumeFromFirstOffset, ConsumeType: ConsumePassively, MessageModel: Clustering,
			SubscriptionTable: map[string]SubscriptionData{
				"PT_a":         subscription("PT_a", "TagA || TagB", 1796040938178, []string{"TagA", "TagB"}, []int32{2598919, 2598920}),
				"%RETRY%CG_hb": subscription("%RETRY%CG_hb", "*", 1796040938178, none, noCodes),
			},
		}},
		{request.Body, decoderOf(DecodeHeartbeatData), &HeartbeatData{
			ClientID: "192.0.2.9@100#1", ProducerDataSet: []ProducerData{{GroupName: "PG_proto"}},
			ConsumerDataSet: []ConsumerData{{
				GroupName: "CG_hb", ConsumeType: ConsumePassively, MessageModel: Clustering, ConsumeFromWhere: ConsumeFromFirstOffset,
				SubscriptionDataSet: []SubscriptionData{
					subscription("PT_a", "*", 1796040938107, none, noCodes), subscription("%RETRY%CG_hb", "*", 1796040938107, none, noCodes),
				},
			}},
		}},
		{lock.Body, decoderOf(DecodeLockBatchBody), &LockBatchBody{ConsumerGroup: "CG_hb", ClientID: "192.0.2.9@100#1", MQSet: []MessageQueue{a(0), a(1)}}},
		{assignment.Body, decoderOf(DecodeQueryAssignmentBody), &QueryAssignmentBody{
			Topic: "PT_a", ConsumerGroup: "CG_hb", ClientID: "192.0.2.9@100#1", StrategyName: "AVG", MessageModel: Clustering,
		}},
		{[]byte(`{"consumeTimeSpanSet":[{"messageQueue":{"topic":"T"},"minTimeStamp":1,"maxTimeStamp":2,"consumeTimeStamp":3,"delayTime":4,"minTimeStampStr":"x"}]}`),
			decoderOf(DecodeConsumeTimeSpans), &ConsumeTimeSpans{ConsumeTimeSpanSet: []ConsumeTimeSpan{
				{MessageQueue: MessageQueue{Topic: "T"}, MinTimestamp: 1, MaxTimestamp: 2, ConsumeTimestamp: 3, DelayTime: 4},
			}}},
		{[]byte(`{"order":true,"autoCommit":false,"consumeResult":"CR_LATER","remark":"r","spentTimeMills":5}`),
			decoderOf(DecodeConsumeMessageDirectlyResult), &ConsumeMessageDirectlyResult{Order: true, ConsumeResult: ConsumeResultLater, Remark: "r", SpentTimeMills: 5}},
		{[]byte(`{"dataVersion":{"counter":1,"stateVersion":2,"timestamp":3},"groupTopicMap":{"G":["T"]},"offsetTable":{"T@G":{0:4,1:2}},"pullOffsetTable":{"T@G":{"0":5}}}`),
			decoderOf(DecodeAllConsumerOffset), &AllConsumerOffset{
				DataVersion: DataVersion{Counter: 1, StateVersion: 2, Timestamp: 3}, GroupTopicMap: map[string][]string{"G": {"T"}},
				OffsetTable: map[string]QueueOffsets{"T@G": {{0, 4}, {1, 2}}}, PullOffsetTable: map[string]QueueOffsets{"T@G": {{0, 5}}},
			}},
		{[]byte(`{"group":"G","topic":"T","readable":true}`), decoderOf(DecodeGroupForbidden), &GroupForbidden{Group: "G", Topic: "T", Readable: true}},
	} {
		got, err := c.decode(c.body)
		if err != nil {
			t.Errorf("%T: %v", c.want, err)
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%T (-want +got):\n%s", c.want, d)
		}
		if back, err := c.decode(got.Encode()); err != nil || !cmp.Equal(back, got) {
			t.Errorf("%T: a round trip gives %+v, %v", c.want, back, err)
		}
	}
}

func TestRunningInfoOfJavaClient(t *testing.T) {
	info, err := DecodeConsumerRunningInfo(lastBody(t, "running_info_307_java_client"))
	if err != nil {
		t.Fatal(err)
	}
	q := info.MQTable[MessageQueue{Topic: "PT_jcli", BrokerName: "broker-a", QueueID: 3}]
	want := ProcessQueueInfo{
		CommitOffset: 2, LastConsumeTimestamp: 1796041769885, LastLockTimestamp: 1796041769281, LastPullTimestamp: 1796041769893, Locked: true,
	}
	if d := cmp.Diff(want, q); d != "" {
		t.Errorf("queue 3 (-want +got):\n%s", d)
	}
	if info.Properties[PropClientVersion] != "V5_5_0" || info.Properties[PropConsumeOrderly] != "true" || len(info.SubscriptionSet) == 0 {
		t.Errorf("properties %v, subscriptions %v", info.Properties, info.SubscriptionSet)
	}
}

func TestC22_EmptyBody(t *testing.T) {
	var body []byte
	for i, text := range []string{"before", "", "after"} {
		body = AppendMessage(body, &MessageExt{Topic: "T", QueueOffset: int64(i), Body: []byte(text)})
	}
	got, err := DecodeMessages(body, DecodeOptions{})
	if err != nil || len(got) != 3 {
		t.Fatalf("%d messages, %v", len(got), err)
	}
	if m := got[1]; m.Body == nil || len(m.Body) != 0 || m.BodyErr != nil || m.QueueOffset != 1 || string(got[2].Body) != "after" {
		t.Errorf("empty message %+v", m)
	}
}

func TestSendHeaderVersions(t *testing.T) {
	v1 := &SendMessageRequest{
		ProducerGroup: "g", Topic: "t", DefaultTopic: "d", DefaultTopicQueueNums: 1, QueueID: 2, SysFlag: 3, BornTimestamp: 4, Flag: 5,
		Properties: "p", ReconsumeTimes: 6, UnitMode: true, MaxReconsumeTimes: ptr[int32](7), Batch: true, BrokerName: "b",
	}
	v2 := v1.V2()
	want := &SendMessageV2Request{A: "g", B: "t", C: "d", D: 1, E: 2, F: 3, G: 4, H: 5, I: "p", J: 6, K: true, L: ptr[int32](7), M: true, N: "b"}
	if d := cmp.Diff(want, v2); d != "" {
		t.Errorf("V2 (-want +got):\n%s", d)
	}
	if d := cmp.Diff(v1, v2.V1()); d != "" {
		t.Errorf("V1 (-want +got):\n%s", d)
	}
}

func TestMissingRequiredFields(t *testing.T) {
	c := &Command{Ext: ExtFields{{"queueId", "1"}}}
	for _, h := range []any{
		&PullMessageResponse{}, &QueryConsumerOffsetResponse{}, &GetMaxOffsetResponse{}, &GetMinOffsetResponse{}, &GetEarliestMsgStoreTimeResponse{},
		&SearchOffsetByTimestampResponse{}, &SendMessageResponse{}, &UpdateConsumerOffsetRequest{}, &EndTransactionRequest{}, &CheckTransactionStateRequest{},
	} {
		if err := c.DecodeHeader(h); err == nil {
			t.Errorf("%T is happy without its fields: %+v", h, h)
		}
	}
	if err := (&Command{}).DecodeHeader(&PullRefusal{}); err != nil {
		t.Error(err)
	}
}
