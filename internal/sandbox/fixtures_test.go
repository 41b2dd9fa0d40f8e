package sandbox

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// exchange is one recorded exchange with a real broker or name server of release 5.5.0.
type exchange struct {
	request, response *protocol.Command
}

func readExchange(t *testing.T, name string) exchange {
	t.Helper()
	text, err := os.ReadFile("../protocol/testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	var x exchange
	for line := range strings.Lines(string(text)) {
		kind, digits, _ := strings.Cut(strings.TrimSpace(line), " ")
		if kind != ">" && kind != "<" {
			continue
		}
		frame, err := hex.DecodeString(digits)
		if err != nil {
			t.Fatal(err)
		}
		cmd, err := protocol.DecodeFrame(frame)
		if err != nil {
			t.Fatal(err)
		}
		if kind == ">" {
			x.request = cmd
		} else if x.response == nil {
			x.response = cmd
		}
	}
	return x
}

// shape is what of an answer does not depend on times, addresses and places in a log.
type shape struct {
	Code     protocol.ResponseCode
	Remark   string
	Ext      []string
	Body     any      // a JSON body without its scalars
	Messages []string // of a body of messages: topic, tags, body and the names of the properties
}

func shapeOf(t *testing.T, cmd *protocol.Command) shape {
	t.Helper()
	s := shape{Code: cmd.ResponseCode(), Remark: cmd.Remark, Ext: []string{}}
	for _, f := range cmd.Ext {
		s.Ext = append(s.Ext, f.Key)
	}
	slices.Sort(s.Ext)
	switch {
	case len(cmd.Body) == 0:
	case cmd.Body[0] == '{':
		strict, err := protocol.StrictJSON(cmd.Body)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(strict, &v); err != nil {
			t.Fatal(err)
		}
		s.Body = skeleton(v)
	default:
		list, err := protocol.DecodeMessages(cmd.Body, protocol.DecodeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			var names []string
			for _, p := range list[i].Properties() {
				names = append(names, p.Name)
			}
			slices.Sort(names)
			s.Messages = append(s.Messages, fmt.Sprintf("%s %s %q %v", list[i].Topic, list[i].Tags(), list[i].Body, names))
		}
	}
	return s
}

// skeleton replaces scalars by the names of their types. Lists of objects are taken as sets of equal elements.
func skeleton(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = skeleton(v[k])
		}
		return v
	case []any:
		for i := range v {
			v[i] = skeleton(v[i])
		}
		return v
	}
	return fmt.Sprintf("%T", v)
}

// replayOptions make the sandbox what the recorded broker was.
var replayOptions = Options{Topics: []TopicSpec{{Name: "PT_trans", Queues: 1}}}

// TestAgainstRecordings replays recorded requests in an order that brings the sandbox into the recorded broker's state, and
// compares the answers: code, remark, names of ext fields, structure of the body.
func TestAgainstRecordings(t *testing.T) {
	inBubble(t, replayOptions, func(t *testing.T, r *rig) {
		p := &player{rig: r, c1: r.client("192.0.2.9@100#1"), c2: r.client("192.0.2.9@200#1")}
		p.replay("route_105_topic_missing", "route_105_tbw102_json", "route_105_tbw102_stdjson", "route_105_tbw102_rocketmq_header",
			"cluster_106", "unknown_code_9999", "create_topic_17", "group_update_200")
		p.replay("send_310_json", "send_310_rocketmq", "send_10_json")
		p.sendRest()
		p.replay("pull_11_found", "pull_11_rocketmq", "pull_11_offset_moved", "query_message_12")
		p.longPoll("pull_11_longpoll_woken")
		p.replay("send_batch_320", "query_offset_14_notfound", "update_offset_15", "query_offset_14", "max_offset_30", "search_offset_29")
		p.patched("view_message_33", "offset")
		p.patched("send_back_36", "offset")
		p.replay("topic_stats_202", "consume_stats_208", "send_half_310")
		p.endTransaction("end_transaction_37_commit")
		p.replay("heartbeat_34", "producer_connection_204")
		p.secondMember()
		p.replay("consumer_list_38", "consumer_connection_203", "lock_41")
		p.asSecond("lock_41_denied")
		p.replay("reset_offset_222")
		p.asked("client_gets_307", readExchange(t, "running_info_307_admin").request)
		p.asked("client_gets_221", protocol.NewRequest(&protocol.InvokeBrokerToGetConsumerStatusRequest{
			Topic: "PT_a", Group: "CG_hb", ClientAddr: "192.0.2.9@100#1",
		}, nil))
		p.asked("client_gets_309", protocol.NewRequest(&protocol.ConsumeMessageDirectlyRequest{
			ConsumerGroup: "CG_hb", ClientID: "192.0.2.9@100#1", MsgID: p.messages("PT_a", 0)[0].OffsetID(),
		}, nil))
		p.asSecond("unregister_35")
		p.pushed("notify_consumer_ids_changed_40")
	})
	inBubble(t, Options{Topics: []TopicSpec{{Name: "PT_acl", Queues: 4}}, NoServerSideReset: true}, func(t *testing.T, r *rig) {
		p := &player{rig: r, c1: r.client("c1"), c2: r.client("c2")}
		p.c1.beat("CG_r", subscription(t, "PT_acl", "*"))
		for _, mq := range r.Queues("PT_acl") {
			if err := r.SetOffset("CG_r", mq, 1); err != nil {
				t.Fatal(err)
			}
		}
		reset := protocol.NewRequest(&protocol.InvokeBrokerToResetOffsetRequest{Topic: "PT_acl", Group: "CG_r", IsForce: true}, nil)
		p.asked("reset_offset_220_map", reset)
		reset.Language = protocol.LanguageCPP
		p.asked("reset_offset_220_list", reset)
	})
	inBubble(t, Options{Topics: []TopicSpec{{Name: "PT_acl", Queues: 4}}, NoAutoCreateGroups: true}, func(t *testing.T, r *rig) {
		p := &player{rig: r, c1: r.client("c1")}
		p.replay("pull_11_group_missing_26")
	})
}

// player replays recordings against a rig.
type player struct {
	*rig
	c1, c2 *client
}

func (p *player) addr(code protocol.RequestCode) string {
	if _, ok := nameServerHandlers[code]; ok {
		return p.NameServers()[0]
	}
	return p.BrokerAddr("broker-a")
}

func (p *player) compare(name string, want, got *protocol.Command) {
	p.t.Helper()
	if diff := cmp.Diff(shapeOf(p.t, want), shapeOf(p.t, got)); diff != "" {
		p.t.Errorf("%s: recorded (-), sandbox (+)\n%s", name, diff)
	}
}

func (p *player) replay(names ...string) {
	p.t.Helper()
	for _, name := range names {
		x := readExchange(p.t, name)
		p.compare(name, x.response, p.c1.call(p.addr(x.request.RequestCode()), x.request))
	}
}

func (p *player) asSecond(name string) {
	p.t.Helper()
	x := readExchange(p.t, name)
	p.compare(name, x.response, p.c2.call(p.addr(x.request.RequestCode()), x.request))
}

// patched replaces a commit-log offset by that of the sandbox's first message.
func (p *player) patched(name, field string) {
	p.t.Helper()
	x := readExchange(p.t, name)
	for i := range x.request.Ext {
		if x.request.Ext[i].Key == field {
			x.request.Ext[i].Value = strconv.FormatInt(p.messages("PT_a", 0)[0].CommitLogOffset, 10)
		}
	}
	p.compare(name, x.response, p.c1.call(p.BrokerAddr("broker-a"), x.request))
}

// sendRest sends the five messages of the recorded queue whose sends were not recorded, as they came out.
func (p *player) sendRest() {
	p.t.Helper()
	recorded, err := protocol.DecodeMessages(readExchange(p.t, "pull_11_found").response.Body, protocol.DecodeOptions{KeepPacked: true})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, m := range recorded[3:] {
		h := &protocol.SendMessageRequest{
			ProducerGroup: "PG", Topic: m.Topic, SysFlag: m.SysFlag, BornTimestamp: m.BornTimestamp, Flag: m.Flag, Properties: string(m.RawProperties),
		}
		wantCode(p.t, p.c1.broker(h, m.Body), protocol.CodeSuccess)
	}
}

// asked has the second client ask the broker something, and compares what the first one gets.
func (p *player) asked(name string, req *protocol.Command) {
	p.t.Helper()
	p.c2.pool.Start(p.t.Context(), p.BrokerAddr("broker-a"), req, time.Minute, func(*protocol.Command, error) {})
	p.pushed(name)
	time.Sleep(askPatience) // nobody answers
}

func (p *player) longPoll(name string) {
	p.t.Helper()
	x := readExchange(p.t, name)
	var h protocol.PullMessageRequest
	if err := x.request.DecodeHeader(&h); err != nil {
		p.t.Fatal(err)
	}
	held := p.c1.start(&h)
	p.c1.send("PT_a", 0, "wake", "TAGS", "TagA")
	p.compare(name, x.response, (<-held).resp)
}

// secondMember joins with the subscriptions that the recorded group had in the end.
func (p *player) secondMember() {
	p.t.Helper()
	at := time.UnixMilli(1796040938178)
	tags, err := protocol.NewSubscription("PT_a", "TagA || TagB", at)
	if err != nil {
		p.t.Fatal(err)
	}
	retry, err := protocol.NewSubscription("%RETRY%CG_hb", "*", at)
	if err != nil {
		p.t.Fatal(err)
	}
	p.c2.beat("CG_hb", tags, retry)
}

func (p *player) pushed(name string) {
	p.t.Helper()
	want := readExchange(p.t, name).response
	want.Body = bytes.ReplaceAll(want.Body, []byte("broker-t"), []byte("broker-a")) // some were recorded at a second broker
	synctest.Wait()
	p.c1.mu.Lock()
	defer p.c1.mu.Unlock()
	got := p.c1.pushed[len(p.c1.pushed)-1]
	p.compare(name, want, got)
	if got.Flag != want.Flag || got.Serialize != want.Serialize {
		p.t.Errorf("%s: flag %d, encoding %v; want %d, %v", name, got.Flag, got.Serialize, want.Flag, want.Serialize)
	}
}

// endTransaction commits the half message that was replayed before.
func (p *player) endTransaction(name string) {
	p.t.Helper()
	x := readExchange(p.t, name)
	half := p.messages(protocol.HalfTopic, 0)[0]
	for i := range x.request.Ext {
		switch x.request.Ext[i].Key {
		case "commitLogOffset":
			x.request.Ext[i].Value = strconv.FormatInt(half.CommitLogOffset, 10)
		case "tranStateTableOffset":
			x.request.Ext[i].Value = strconv.FormatInt(half.QueueOffset, 10)
		}
	}
	p.compare(name, x.response, p.c1.call(p.BrokerAddr("broker-a"), x.request))
}
