package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestStrictJSON(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{0:"a",1:"b"}`, `{"0":"a","1":"b"}`},
		{`{"brokerAddrs":{0:"[::1]:10921",-1:"x"}}`, `{"brokerAddrs":{"0":"[::1]:10921","-1":"x"}}`},
		{`{{"brokerName":"b","queueId":0,"topic":"T"}:{"n":1},{}:2}`, `{"{\"brokerName\":\"b\",\"queueId\":0,\"topic\":\"T\"}":{"n":1},"{}":2}`},
		{`{{"topic":"T","queueId":0,"brokerName":"b",}:1}`, `{"{\"brokerName\":\"b\",\"queueId\":0,\"topic\":\"T\"}":1}`},
		{`{{"a\"\\\u0041":"\n'"}:1}`, `{"{\"a\\\"\\\\\\u0041\":\"\\n'\"}":1}`},
		{`[{{"q":0}:[{{"q":1}:{0:NaN}}]}]`, `[{"{\"q\":0}":[{"{\"q\":1}":{"0":null}}]}]`},
		{`{{0:NaN}:1}`, `{"{\"0\":null}":1}`},
		{`[1,2,]`, `[1,2]`},
		{`{"a":1 , }`, `{"a":1}`},
		{" [ NaN , Infinity,\t-Infinity,null,true,false ] \n", `[null,null,null,null,true,false]`},
		{`[0.0,-0,1.5E+10,12345678901234567890123,1e-7]`, `[0.0,-0,1.5E+10,12345678901234567890123,1e-7]`},
		{"[\"a\x01b\tc\"]", `["a\u0001b\u0009c"]`},
		{`["it\'s \' \\\"\/"]`, `["it's ' \\\"\/"]`},
		{"[\"\xff\xfe \u00e9\"]", "[\"\xff\xfe \u00e9\"]"},
		{`"alone"`, `"alone"`},
		{`{"text":"{0:\"x\"},{{}:1},NaN,"}`, `{"text":"{0:\"x\"},{{}:1},NaN,"}`},
	} {
		got, err := StrictJSON([]byte(c.in))
		if err != nil || string(got) != c.want {
			t.Errorf("StrictJSON(%s) = %s, %v, want %s", c.in, got, err, c.want)
		}
		if !json.Valid(got) {
			t.Errorf("%s is no JSON", got)
		}
	}
}

var malformedJSON = []string{
	``, ` `, `{`, `[`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1]`, `[1}`, `[1 2]`, `[,]`, `[1,,2]`, `{,}`, `{:1}`, `{"a" 1}`,
	`{{"a":1:1}`, `{{"a":{}}:1}`, `{{{}:1}:1}`, `{{"a":[]}:1}`, `{[1]:1}`, `{null:1}`, `{true:1}`, `{NaN:1}`,
	`"a`, `"a\`, `"\x"`, `"\u12"`, `"\u12g4"`, `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `0x10`, `nul`, `nan`, `Nan`, `-Inf`,
	`{} {}`, `{}x`, "{}\x00", `tru`, `{"a":undefined}`,
	`{{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,"m":1,"n":1,"o":1,"p":1,"q":1}:1}`,
}

func TestMalformedJSONIsRefused(t *testing.T) {
	for _, in := range malformedJSON {
		if got, err := StrictJSON([]byte(in)); !errors.Is(err, ErrBadBody) {
			t.Errorf("StrictJSON(%q) = %q, %v", in, got, err)
		}
		if got, err := DecodeKVTable([]byte(`{"other":` + in + `}`)); in != "" && err == nil {
			t.Errorf("DecodeKVTable with a value of %q = %v", in, got)
		}
		if got, err := DecodeTopicRouteData([]byte(in)); !errors.Is(err, ErrBadBody) {
			t.Errorf("DecodeTopicRouteData(%q) = %v, %v", in, got, err)
		}
	}
}

// jsonValue draws a value as encoding/json would hold it, and the text of it.
func jsonValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{
		rapid.Just[any](nil),
		rapid.Bool().AsAny(),
		rapid.String().AsAny(),
		rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(jsonText(n)) }),
		rapid.Map(rapid.Float64(), func(f float64) any {
			if math.IsNaN(f) || math.IsInf(f, 0) {
				f = 0
			}
			return json.Number(jsonText(f))
		}),
	}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	inner := jsonValue(depth - 1)
	return rapid.OneOf(append(scalars,
		rapid.SliceOfN(inner, 0, 4).AsAny(),
		rapid.MapOfN(rapid.String(), inner, 0, 4).AsAny())...)
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestStrictJSONKeepsStrictJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := jsonValue(4).Draw(t, "value")
		text := jsonText(v)
		got, err := StrictJSON([]byte(text))
		if err != nil {
			t.Fatalf("StrictJSON(%s): %v", text, err)
		}
		if string(got) != text { // json.Marshal writes compact text, so there is nothing to change
			t.Fatalf("StrictJSON(%s) = %s", text, got)
		}
	})
}

// TestDecodeAgreesWithEncodingJSON compares the typed reader with encoding/json on what both can read.
func TestDecodeAgreesWithEncodingJSON(t *testing.T) {
	text := rapid.String()
	subscription := rapid.Custom(func(t *rapid.T) SubscriptionData {
		return SubscriptionData{
			CodeSet: rapid.SliceOf(rapid.Int32()).Draw(t, "codes"), SubString: text.Draw(t, "expression"),
			SubVersion: rapid.Int64().Draw(t, "version"), TagsSet: rapid.SliceOf(text).Draw(t, "tags"), Topic: text.Draw(t, "topic"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := ConsumerConnection{
			ConnectionSet: rapid.SliceOf(rapid.Custom(func(t *rapid.T) Connection {
				return Connection{ClientID: text.Draw(t, "id"), Version: MQVersion(rapid.Int32().Draw(t, "version"))}
			})).Draw(t, "connections"),
			ConsumeType:       ConsumeType(text.Draw(t, "type")),
			SubscriptionTable: rapid.MapOf(text, subscription).Draw(t, "subscriptions"),
		}
		plain, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range [][]byte{plain, want.Encode()} {
			got, err := DecodeConsumerConnection(b)
			if err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			var other ConsumerConnection
			if err := json.Unmarshal(b, &other); err != nil {
				t.Fatalf("%v in %s", err, b)
			}
			if d := cmp.Diff(&other, got); d != "" {
				t.Fatalf("differs from encoding/json (-json +ours) on %s:\n%s", b, d)
			}
			if d := cmp.Diff(&want, got); d != "" {
				t.Fatalf("differs after a round trip (-was +now):\n%s", d)
			}
		}
	})
}

func TestObjectKeyedMapsRoundTrip(t *testing.T) {
	queue := rapid.Custom(func(t *rapid.T) MessageQueue {
		return MessageQueue{Topic: rapid.String().Draw(t, "topic"), BrokerName: rapid.String().Draw(t, "broker"), QueueID: rapid.Int32().Draw(t, "queue")}
	})
	rapid.Check(t, func(t *rapid.T) {
		offsets := rapid.MapOf(queue, rapid.Int64())
		want := &ConsumerStatus{
			ConsumerTable:     rapid.MapOf(rapid.String(), offsets).Draw(t, "consumers"),
			MessageQueueTable: offsets.Draw(t, "queues"),
		}
		b := want.Encode()
		strict, err := StrictJSON(b)
		if err != nil || !json.Valid(strict) {
			t.Fatalf("StrictJSON(%s) = %s, %v", b, strict, err)
		}
		for _, form := range [][]byte{b, strict} { // objects as keys, and quoted as clients in Go write them
			got, err := DecodeConsumerStatus(form)
			if err != nil {
				t.Fatalf("%v in %s", err, form)
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s (-was +now):\n%s", form, d)
			}
		}
	})
}

func TestDecodeConvertsScalars(t *testing.T) {
	got, err := DecodeHeartbeatData([]byte(`{"clientID":7,"heartbeatFingerprint":"-12","withoutSub":"TRUE","unknown":[{0:[]}],
		"consumerDataSet":[{"unitMode":1,"groupName":null,"subscriptionDataSet":[
			{"codeSet":["2598919",2.0,3e2,""],"subVersion":"9223372036854775807","classFilterMode":0,"tagsSet":[1.50,true,"\u0041\ud83d\ude00"]}]}],7:{},{"k":1}:2,}`))
	if err != nil {
		t.Fatal(err)
	}
	want := &HeartbeatData{
		ClientID: "7", HeartbeatFingerprint: -12, WithoutSub: true,
		ConsumerDataSet: []ConsumerData{{UnitMode: true, SubscriptionDataSet: []SubscriptionData{{
			CodeSet: []int32{2598919, 2, 300, 0}, SubVersion: math.MaxInt64, TagsSet: []string{"1.50", "true", "A😀"},
		}}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestDecodeRefusesWhatDoesNotFit(t *testing.T) {
	for _, in := range []string{
		`{"heartbeatFingerprint":2147483648}`, `{"heartbeatFingerprint":1.5}`, `{"heartbeatFingerprint":true}`, `{"heartbeatFingerprint":"x"}`,
		`{"heartbeatFingerprint":{}}`, `{"heartbeatFingerprint":1e400}`, `{"withoutSub":"yes"}`, `{"withoutSub":2}`, `{"clientID":{}}`, `{"clientID":[]}`,
		`{"consumerDataSet":{}}`, `{"consumerDataSet":"x"}`, `{"consumerDataSet":[1]}`, `[]`, `7`,
	} {
		_, err := DecodeHeartbeatData([]byte(in))
		if !errors.Is(err, ErrBadBody) || !strings.Contains(err.Error(), "heartbeat") {
			t.Errorf("%s: %v", in, err)
		}
	}
	for _, in := range []string{`{"offsetTable":{7:1}}`, `{"offsetTable":{"x":1}}`, `{"offsetTable":{"{\"queueId\":\"x\"}":1}}`, `{"offsetTable":{{"queueId":"x"}:1}}`} {
		if got, err := DecodeResetOffsetBody([]byte(in)); err == nil {
			t.Errorf("%s gives %v", in, got)
		}
	}
	if got, err := DecodeAllConsumerOffset([]byte(`{"offsetTable":{"T@G":{{"a":1}:4}}}`)); err == nil {
		t.Errorf("object as a queue id gives %v", got)
	}
}

func TestC01_BareIntegerMapKeys(t *testing.T) {
	want := map[int64]string{0: "127.0.0.1:10911", 1: "[::1]:10921"}
	for _, keys := range []string{`{0:"127.0.0.1:10911",1:"[::1]:10921"}`, `{"0":"127.0.0.1:10911","1":"[::1]:10921"}`} {
		for _, cluster := range []string{`Default`, `odd{0:"x"},{1:`, `{{0:1}:2}`} {
			name, err := json.Marshal(cluster)
			if err != nil {
				t.Fatal(err)
			}
			broker := `{"brokerAddrs":` + keys + `,"brokerName":"b","cluster":` + string(name) + `}`
			route, err := DecodeTopicRouteData([]byte(`{"brokerDatas":[` + broker + `],"queueDatas":[]}`))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]BrokerData{{BrokerAddrs: want, BrokerName: "b", Cluster: cluster}}, route.BrokerDatas); d != "" {
				t.Errorf("route with %s:\n%s", keys, d)
			}
			for _, again := range [][]byte{route.Encode(), route.EncodeBareKeys()} {
				if back, err := DecodeTopicRouteData(again); err != nil || !cmp.Equal(back.BrokerDatas, route.BrokerDatas) {
					t.Errorf("%s: %v, %v", again, back, err)
				}
			}
			info, err := DecodeClusterInfo([]byte(`{"brokerAddrTable":{"b":` + broker + `},"clusterAddrTable":{` + string(name) + `:["b"]}}`))
			if err != nil || !cmp.Equal(info.BrokerAddrTable["b"].BrokerAddrs, want) || len(info.ClusterAddrTable[cluster]) != 1 {
				t.Errorf("cluster info with %s: %+v, %v", keys, info, err)
			}
		}
	}
}

func TestEncodeLooksLikeJava(t *testing.T) {
	for name, encode := range map[string]func(b []byte) ([]byte, error){
		"route_105_two_replicas_quoted": bodyOf(DecodeTopicRouteData),
		"cluster_106":                   bodyOf(DecodeClusterInfo),
		"consumer_list_38":              bodyOf(DecodeConsumerList),
		"lock_41":                       bodyOf(DecodeLockBatchResult),
		"consume_stats_208":             bodyOf(DecodeConsumeStats),
		"topic_stats_202":               bodyOf(DecodeTopicStatsTable),
		"reset_offset_222":              bodyOf(DecodeResetOffsetBody),
		"producer_connection_204":       bodyOf(DecodeProducerConnection),
	} {
		_, answer := fixture(t, name)
		if got, err := encode(answer.Body); err != nil || !bytes.Equal(got, answer.Body) {
			t.Errorf("%s: %v\n got %s\nwant %s", name, err, got, answer.Body)
		}
	}
	_, bare := fixture(t, "route_105_unquoted_int_keys")
	route, err := DecodeTopicRouteData(bare.Body)
	if err != nil || !bytes.Equal(route.EncodeBareKeys(), bare.Body) {
		t.Errorf("%v\n got %s\nwant %s", err, route.EncodeBareKeys(), bare.Body)
	}
}

func TestResetOffsetForms(t *testing.T) {
	listed, _ := DecodeResetOffsetBody(lastBody(t, "reset_offset_220_list"))
	mapped, err := DecodeResetOffsetBody(lastBody(t, "reset_offset_220_map"))
	if err != nil || len(mapped.OffsetTable) != 4 || !cmp.Equal(listed, mapped) {
		t.Errorf("list form %v, map form %v, %v", listed, mapped, err)
	}
}

func lastBody(tb testing.TB, name string) []byte {
	_, c := fixture(tb, name)
	return c.Body
}

func TestDefaultsOfAbsentFields(t *testing.T) {
	c, err := DecodeSubscriptionGroupConfig([]byte(`{"groupName":"G","retryMaxTimes":3,"groupRetryPolicy":{"type":"CUSTOMIZED",}}`))
	want := NewSubscriptionGroupConfig("G")
	want.RetryMaxTimes = 3
	want.GroupRetryPolicy = `{"type":"CUSTOMIZED",}`
	if err != nil || !cmp.Equal(*c, want) {
		t.Errorf("got %+v, %v", c, err)
	}
	all, err := DecodeAllSubscriptionGroupConfig([]byte(`{"subscriptionGroupTable":{"A":{"retryMaxTimes":0},"B":{}}}`))
	if err != nil || all.SubscriptionGroupTable["A"].RetryMaxTimes != 0 || all.SubscriptionGroupTable["B"].RetryMaxTimes != 16 || !all.SubscriptionGroupTable["A"].ConsumeEnable {
		t.Errorf("got %+v, %v", all, err)
	}
	stats, err := DecodeConsumeStats([]byte(`{"offsetTable":{{"queueId":1}:{"brokerOffset":5},{"queueId":2}:{"pullOffset":4}}}`))
	if err != nil || stats.OffsetTable[MessageQueue{QueueID: 1}] != (OffsetWrapper{BrokerOffset: 5, PullOffset: -1}) || stats.OffsetTable[MessageQueue{QueueID: 2}].PullOffset != 4 {
		t.Errorf("got %+v, %v", stats, err)
	}
}

// allocated is how many bytes f takes from the heap in all, the smallest of a few runs since others allocate too.
func allocated(f func()) uint64 {
	least := uint64(math.MaxUint64)
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		least = min(least, after.TotalAlloc-before.TotalAlloc)
	}
	return least
}

// memoryBombs are small texts that ask for much memory.
func memoryBombs() map[string]string {
	return map[string]string{
		"empty structs":      `{"subscriptionSet":[` + strings.Repeat(`{},`, 12_000) + `]}`,
		"empty maps":         `{"consumerTable":{` + strings.Repeat(`"":{},`, 12_000) + `}}`,
		"equal keys":         `{"offsetTable":{` + strings.Repeat(`{}:0,`, 12_000) + `}}`,
		"unknown equal keys": `{"other":{` + strings.Repeat(`{}:0,`, 12_000) + `}}`,
		"empty strings":      `{"topicList":[` + strings.Repeat(`"",`, 12_000) + `]}`,
		"escaped strings":    `{"topicList":[` + strings.Repeat(`"\n",`, 12_000) + `]}`,
		"repeated field":     `{` + strings.Repeat(`"topicList":["a","b"],`, 10_000) + `}`,
		"control bytes":      `{"a":"` + strings.Repeat("\x01", 100_000) + `"}`,
		"quotes in keys":     `{{"a":"` + strings.Repeat(`\"`, 12_000) + `"}:1}`,
		"deep":               strings.Repeat(`[`, 12_000),
		"deep objects":       strings.Repeat(`{"topicList":`, 12_000),
		"deep keys":          strings.Repeat(`{`, 12_000),
		"deep unknown":       `{"x":` + strings.Repeat(`[`, 12_000) + strings.Repeat(`]`, 12_000) + `}`,
		"many maps":          `{"offsetTable":{` + strings.Repeat(`"a":{0:1},`, 10_000) + `}}`,
		"quoted key objects": `{"offsetTable":{` + strings.Repeat(`"{}":0,`, 10_000) + `}}`,
		"escaped keys":       `{"messageQueueTable":{` + strings.Repeat(`"\u007b}":0,`, 10_000) + `}}`,
	}
}

func TestBodiesStayInTheirMemory(t *testing.T) {
	for name, bomb := range memoryBombs() {
		t.Run(name, func(t *testing.T) {
			text := []byte(bomb)
			boundMemory(t, len(text), memoryFactor, func() { _, _ = StrictJSON(text) })
			for _, d := range bodyDecoders {
				boundMemory(t, len(text), memoryFactor, func() { _, _ = d.decode(text) })
				if t.Failed() {
					t.Fatal(d.name)
				}
			}
		})
	}
}

func TestDepthLimit(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat("[", n) + strings.Repeat("]", n)) }
	if _, err := StrictJSON(nested(maxBodyDepth)); err != nil {
		t.Error(err)
	}
	if _, err := StrictJSON(nested(maxBodyDepth + 1)); !errors.Is(err, ErrBadBody) {
		t.Errorf("got %v", err)
	}
	for _, deep := range [][]byte{nested(1_000_000), bytes.Repeat([]byte(`{"table":`), 1_000_000), bytes.Repeat([]byte(`{`), 1_000_000)} {
		if _, err := StrictJSON(deep); !errors.Is(err, ErrBadBody) {
			t.Errorf("StrictJSON of %.20s…: %v", deep, err)
		}
		if _, err := DecodeKVTable(deep); !errors.Is(err, ErrBadBody) {
			t.Errorf("DecodeKVTable of %.20s…: %v", deep, err)
		}
	}
}

func TestRealBodiesFitTheirMemory(t *testing.T) {
	// The densest bodies that a broker writes: short names, one queue each.
	offsets := &AllConsumerOffset{OffsetTable: map[string]QueueOffsets{}, GroupTopicMap: map[string][]string{}}
	topics := &AllTopicConfig{TopicConfigTable: map[string]TopicConfig{}}
	table := &TopicStatsTable{OffsetTable: map[MessageQueue]TopicOffset{}}
	list := &TopicList{}
	for i := range int32(20_000) {
		name := "t" + jsonText(i)
		offsets.OffsetTable["%RETRY%"+name+"@"+name] = QueueOffsets{{0, 1}}
		offsets.GroupTopicMap[name] = []string{"%RETRY%" + name}
		topics.TopicConfigTable[name] = TopicConfig{TopicName: name}
		table.OffsetTable[MessageQueue{"t", "b", i}] = TopicOffset{}
		list.TopicList = append(list.TopicList, name)
	}
	if _, err := DecodeAllConsumerOffset(offsets.Encode()); err != nil {
		t.Error(err)
	}
	if _, err := DecodeAllTopicConfig(topics.Encode()); err != nil {
		t.Error(err)
	}
	if _, err := DecodeTopicStatsTable(table.Encode()); err != nil {
		t.Error(err)
	}
	if _, err := DecodeTopicList(list.Encode()); err != nil {
		t.Error(err)
	}
}
