package sandbox

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"mqctl/internal/protocol"
)

func TestUnknownRequest(t *testing.T) {
	inBubble(t, Options{Version: 393}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for _, addr := range []string{r.NameServers()[0], r.BrokerAddr("broker-a")} {
			resp := c.call(addr, protocol.NewBodyRequest(9999, nil))
			wantCode(t, resp, protocol.CodeRequestCodeNotSupported)
			if resp.Remark != " request type 9999 not supported" {
				t.Errorf("remark %q", resp.Remark)
			}
		}
		lite := protocol.LitePullMessageRequest(*pullRequest("G", "TBW102", 0, 0, "*"))
		wantCode(t, c.broker(&lite, nil), protocol.CodeRequestCodeNotSupported) // 4.9 does not know it
		wantCode(t, c.broker(&protocol.GetRouteInfoByTopicRequest{}, nil), protocol.CodeRequestCodeNotSupported)
		wantCode(t, c.call(r.NameServers()[0], protocol.NewRequest(pullRequest("G", "TBW102", 0, 0, "*"), nil)), protocol.CodeRequestCodeNotSupported)
	})
}

func TestOnewayIsNotAnswered(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 1}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		addr := r.BrokerAddr("broker-a")
		h, body := message("orders", 0, "x")
		for _, cmd := range []*protocol.Command{
			protocol.NewRequest(h, body), protocol.NewBodyRequest(9999, nil),
			protocol.NewRequest(suspended(pullRequest("G", "orders", 0, 5, "*"), time.Second), nil),
		} {
			if err := c.pool.Oneway(t.Context(), addr, cmd); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		if stats, ok := c.pool.Stats(addr); !ok || stats.FramesIn != 0 {
			t.Errorf("%d answers to one-way requests", stats.FramesIn)
		}
		if n := len(r.messages("orders", 0)); n != 1 {
			t.Errorf("%d messages, want 1: a one-way send is a send", n)
		}
	})
}

func TestHandlerPanicIsContained(t *testing.T) {
	const code protocol.RequestCode = 32000
	inBubble(t, Options{}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		r.do(func() { brokerHandlers[code] = func(*request) *protocol.Command { panic("bug") } })
		defer r.do(func() { delete(brokerHandlers, code) })
		resp := c.bodyOnly(code, nil)
		wantCode(t, resp, protocol.CodeSystemError)
		if !strings.Contains(resp.Remark, "bug") {
			t.Errorf("remark %q", resp.Remark)
		}
		wantCode(t, c.bodyOnly(protocol.GetBrokerRuntimeInfo, nil), protocol.CodeSuccess)
	})
}

// TestMissingFields leaves out one required field at a time.
func TestMissingFields(t *testing.T) {
	inBubble(t, Options{Topics: []TopicSpec{{Name: "orders"}, {Name: "1"}}}, func(t *testing.T, r *rig) {
		c := r.client("c1")
		wantCode(t, c.bodyOnly(protocol.UpdateAndCreateSubscriptionGroup, []byte(`{"groupName":"1"}`)), protocol.CodeSuccess)
		for code, fields := range map[protocol.RequestCode][]string{
			protocol.QueryConsumerOffset:     {"consumerGroup", "topic", "queueId"},
			protocol.UpdateConsumerOffset:    {"consumerGroup", "topic", "queueId", "commitOffset"},
			protocol.SearchOffsetByTimestamp: {"topic", "queueId", "timestamp"},
			protocol.GetMaxOffset:            {"topic", "queueId"},
			protocol.GetMinOffset:            {"topic", "queueId"},
			protocol.GetEarliestMsgStoreTime: {"topic", "queueId"},
			protocol.ViewMessageByID:         {"offset"},
			protocol.ConsumerSendMsgBack:     {"offset", "group", "delayLevel"},
			protocol.GetConsumerListByGroup:  {"consumerGroup"},
			protocol.UpdateAndCreateTopic:    {"topic", "readQueueNums", "writeQueueNums", "perm"},
			protocol.UnregisterClient:        {"clientID"},
			protocol.GetTopicStatsInfo:       {"topic"},
			protocol.GetConsumeStats:         {"consumerGroup"},
			protocol.DeleteSubscriptionGroup: {"groupName"},

			protocol.InvokeBrokerToResetOffset:       {"topic", "group"},
			protocol.InvokeBrokerToGetConsumerStatus: {"topic", "group"},
			protocol.QueryConsumeTimeSpan:            {"topic", "group"},
			protocol.GetConsumerRunningInfo:          {"consumerGroup", "clientId"},
			protocol.ConsumeMessageDirectly:          {"consumerGroup", "msgId"},
		} {
			for missing := range fields {
				cmd := protocol.NewBodyRequest(code, nil)
				for i, name := range fields {
					if i != missing {
						cmd.Ext.Add(name, "1")
					}
				}
				want := protocol.CodeSystemError
				if code == protocol.UpdateConsumerOffset && missing >= 2 {
					want = protocol.CodeInvalidParameter
				}
				if resp := c.call(r.BrokerAddr("broker-a"), cmd); resp.ResponseCode() != want {
					t.Errorf("%v without %s: %v (%s)", code, fields[missing], resp.ResponseCode(), resp.Remark)
				}
			}
		}
		for _, code := range []protocol.RequestCode{protocol.HeartBeat, protocol.LockBatchMQ, protocol.UnlockBatchMQ, protocol.CheckClientConfig, protocol.UpdateAndCreateSubscriptionGroup} {
			for _, body := range []string{"", "{", "[]", "null", "\x00\xff", `{"clientID":5}`, strings.Repeat("[", 100000)} {
				if resp := c.bodyOnly(code, []byte(body)); strings.Contains(resp.Remark, "internal error") {
					t.Errorf("%v with body %.20q: %s", code, body, resp.Remark)
				}
			}
			wantCode(t, c.bodyOnly(code, []byte("{")), protocol.CodeSystemError)
		}
	})
}

// saneFields make every request succeed, or nearly.
var saneFields = map[string]string{
	"a": "G", "b": "orders", "c": "TBW102", "d": "4", "e": "0", "f": "0", "g": "1", "h": "0", "i": "TAGS\x01a\x02KEYS\x01k\x02", "j": "0", "k": "false", "l": "3", "m": "false",
	"producerGroup": "G", "topic": "orders", "defaultTopic": "TBW102", "defaultTopicQueueNums": "4", "queueId": "0", "sysFlag": "4",
	"bornTimestamp": "1", "flag": "0", "properties": "TAGS\x01a\x02", "consumerGroup": "G", "queueOffset": "0", "maxMsgNums": "32", "commitOffset": "1",
	"suspendTimeoutMillis": "1000", "subscription": "*", "subVersion": "0", "expressionType": "TAG", "key": "k", "maxNum": "32", "beginTimestamp": "0",
	"endTimestamp": "9999999999999", "timestamp": "1", "boundaryType": "lower", "offset": "0", "group": "G", "delayLevel": "0", "maxReconsumeTimes": "3",
	"clientID": "c", "readQueueNums": "4", "writeQueueNums": "4", "perm": "6", "groupName": "G", "namespace": "n", "value": "v", "cluster": "DefaultCluster",
	"clientId": "c", "clientAddr": "c", "isForce": "true", "jstackEnable": "true", "msgId": "7F00000100002A9F0000000000000000",
}

var extValues = []string{
	"absent", "", "0", "1", "-1", "4", "7", "32", "true", "*", "orders", "G", "%RETRY%G", "%DLQ%G", "SCHEDULE_TOPIC_XXXX", "TBW102", "none", "TagA||TagB", "||", "SQL92", "upper",
	"DELAY\x015\x02TAGS\x01a\x02", "\x01\x02\x02\x01", "KEYS\x01 a  b \x02UNIQ_KEY\x01u", "+message.type=FIFO", ",,+", "+", strconv.Itoa(math.MinInt32),
	strconv.Itoa(math.MaxInt32), strconv.FormatInt(math.MaxInt64, 10), strconv.FormatInt(math.MinInt64, 10), "1e9", "NaN", strings.Repeat("9", 100),
}

var hostileBodies = []string{
	"", "x", "{}", "[]", "{", `{"clientID":"c","consumerDataSet":[{"groupName":"G"},{"groupName":""}],"producerDataSet":[{"groupName":"\u0000"}]}`,
	`{"clientID":"c","consumerDataSet":[null],"producerDataSet":[null]}`, `{"consumerGroup":"G","clientId":"c","mqSet":[{"topic":"","brokerName":"","queueId":-1},null]}`,
	`{"groupName":"G","retryQueueNums":2147483647,"retryMaxTimes":-5}`, `{"groupName":"H","retryQueueNums":-1,"consumeEnable":false}`,
	"\x00\x00\x00\x16\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
}

// TestHostileRequests throws combinations of odd values at every handler. Each has to answer, or to park a pull that
// asked for it, and none may panic.
func TestHostileRequests(t *testing.T) {
	codes := append(slices.Sorted(maps.Keys(brokerHandlers)), slices.Sorted(maps.Keys(nameServerHandlers))...)
	names := slices.Sorted(maps.Keys(saneFields))
	oneRequest := rapid.Custom(func(rt *rapid.T) *protocol.Command {
		cmd := protocol.NewBodyRequest(rapid.SampledFrom(codes).Draw(rt, "code"), []byte(rapid.SampledFrom(hostileBodies).Draw(rt, "body")))
		odd := rapid.MapOfN(rapid.SampledFrom(names), rapid.SampledFrom(extValues), 0, 4).Draw(rt, "odd fields")
		for _, name := range names {
			value, ok := odd[name]
			if !ok {
				value = saneFields[name]
			}
			if value != "absent" {
				cmd.Ext.Add(name, value)
			}
		}
		return cmd
	})
	rapid.Check(t, func(rt *rapid.T) {
		requests := rapid.SliceOfN(oneRequest, 1, 200).Draw(rt, "requests")
		fault := ""
		inBubble(t, Options{Topics: []TopicSpec{{Name: "orders", Queues: 4}}, MaxMemory: 1 << 20, MaxTopics: 40}, func(t *testing.T, r *rig) {
			fault = r.client("c1").throw(requests)
			time.Sleep(3 * time.Hour) // what was delayed is delivered
			if len(r.Topics()) == 0 {
				fault = "the sandbox has ended"
			}
		})
		if fault != "" {
			rt.Fatal(fault)
		}
	})
}

// asksClient are the requests for whose answers a broker asks a client.
var asksClient = map[protocol.RequestCode]bool{
	protocol.GetConsumerRunningInfo: true, protocol.ConsumeMessageDirectly: true, protocol.InvokeBrokerToGetConsumerStatus: true,
}

// throw sends requests one after the other and says what went wrong.
func (c *client) throw(requests []*protocol.Command) string {
	for _, cmd := range requests {
		addr := c.r.BrokerAddr("broker-a")
		if _, ok := nameServerHandlers[cmd.RequestCode()]; ok {
			addr = c.r.NameServers()[0]
		}
		answer := make(chan timed, 1)
		c.pool.Start(c.r.t.Context(), addr, cmd, 0, func(resp *protocol.Command, err error) { answer <- timed{resp: resp, err: err} })
		synctest.Wait()
		if asksClient[cmd.RequestCode()] {
			time.Sleep(askPatience) // the client answers nothing
			synctest.Wait()
		}
		select {
		case a := <-answer:
			if a.err != nil || strings.Contains(a.resp.Remark, "internal error") {
				return fmt.Sprintf("%v: %v %+v", cmd.RequestCode(), a.err, a.resp)
			}
		default:
			if code := cmd.RequestCode(); code != protocol.PullMessage && code != protocol.LitePullMessage {
				return fmt.Sprintf("%v: no answer", code)
			}
		}
	}
	return ""
}
