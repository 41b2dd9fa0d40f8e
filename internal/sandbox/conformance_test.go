package sandbox

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

var record = flag.Bool("record", false, "write the answers of the cluster that MQCTL_TEST_NAMESRV names to testdata/conformance*.json")

// answerShape is what has to be equal in the answers of the sandbox and of a real broker.
type answerShape struct {
	Code     int32
	Status   string            `json:",omitempty"` // the remark, where it is a status and no sentence
	Ext      map[string]string `json:",omitempty"` // with the values of offsets, queues and flags; "…" for others
	Body     any               `json:",omitempty"`
	Messages []string          `json:",omitempty"`
}

// sameValue are ext fields whose values are compared and not only their presence.
var sameValue = []string{
	"offset", "nextBeginOffset", "minOffset", "maxOffset", "queueId", "queueOffset", "suggestWhichBrokerId", "topicSysFlag", "groupSysFlag",
	"TRACE_ON", "MSG_REGION", "IS_SUPPORT_HEART_BEAT_V2", "IS_SUB_CHANGE", "value", "forbiddenType",
}

// sameRemark are sentences that clients have to tell apart.
var sameRemark = []string{"Offset has been previously reset", remarkOfClient}

// TestConformance puts a list of questions to a cluster and compares the answers with those of a real 5.5.0 broker, which
// -record has written down. Against the sandbox it shows that the sandbox is true, and against a real cluster that the record
// is.
func TestConformance(t *testing.T) {
	c := conformance{file: "testdata/conformance.json", questions: questions(), fits: func(*target) bool { return true }}
	c.run(t)
}

// TestConformanceOfReplicas asks a replica; of real clusters one that has none is left alone, and the sandbox asked instead.
func TestConformanceOfReplicas(t *testing.T) {
	c := conformance{
		file: "testdata/conformance_replica.json", questions: replicaQuestions(), options: Options{Replicas: 1},
		fits: func(x *target) bool { return x.replica != "" },
	}
	c.run(t)
}

// TestConformanceOfPushedResets asks a broker that pushes resets of offsets, which real ones do when they are told to.
func TestConformanceOfPushedResets(t *testing.T) {
	c := conformance{
		file: "testdata/conformance_pushed_reset.json", questions: pushedResetQuestions(), options: Options{NoServerSideReset: true},
		fits: func(x *target) bool {
			resp := x.call(x.addr, protocol.NewBodyRequest(protocol.GetBrokerConfig, nil))
			return strings.Contains(string(resp.Body), "useServerSideResetOffset=false")
		},
	}
	c.run(t)
}

// conformance is a list of questions and where the answers are recorded.
type conformance struct {
	file      string
	questions []question
	options   Options              // of a sandbox that answers them
	fits      func(x *target) bool // whether a real cluster can answer them
}

func (c *conformance) run(t *testing.T) {
	t.Helper()
	if ns, _, _ := strings.Cut(os.Getenv("MQCTL_TEST_NAMESRV"), ";"); ns != "" {
		x := newTarget(t, ns, nil)
		if c.fits(x) {
			c.compare(t, x)
			return
		}
	}
	if *record {
		t.Logf("not recorded: this cluster cannot answer the questions of %s", c.file)
		return
	}
	inBubble(t, c.options, func(t *testing.T, r *rig) { c.compare(t, newTarget(t, r.NameServers()[0], r.net.Dial)) })
}

func (c *conformance) compare(t *testing.T, x *target) {
	t.Helper()
	got := map[string]answerShape{}
	for i, q := range c.questions {
		if resp := q.ask(x); resp != nil {
			got[fmt.Sprintf("%03d %s", i, q.name)] = x.shape(resp, q.loose)
			t.Logf("%03d %s: %v %s", i, q.name, resp.ResponseCode(), resp.Remark)
		}
	}
	text, err := json.MarshalIndent(got, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	if *record {
		if err := os.WriteFile(c.file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	recorded, err := os.ReadFile(c.file)
	if err != nil {
		t.Fatal(err)
	}
	want, have := parseShapes(t, recorded), parseShapes(t, text)
	if diff := cmp.Diff(want, have); diff != "" {
		t.Errorf("recorded (-), this cluster (+)\n%s", diff)
	}
}

func parseShapes(t *testing.T, text []byte) (shapes map[string]answerShape) {
	t.Helper()
	if err := json.Unmarshal(text, &shapes); err != nil {
		t.Fatal(err)
	}
	return shapes
}

// target is a cluster that questions are put to.
type target struct {
	t            *testing.T
	pool         *remoting.Pool
	ns, addr     string
	replica      string // address of broker-a's first replica, "" without one
	topic, group string // of this run
	half         protocol.SendMessageResponse

	mu     sync.Mutex
	pushed []*protocol.Command
	answer func(req *protocol.Command) *protocol.Command // to what the broker asks; nil leaves it unanswered
}

func newTarget(t *testing.T, ns string, dial remoting.Dialer) *target {
	t.Helper()
	run := strconv.FormatInt(time.Now().UnixNano(), 36)
	x := &target{t: t, ns: ns, topic: "conformT" + run, group: "conformG" + run}
	x.pool = remoting.NewPool(remoting.PoolConfig{Dial: dial, Handler: x.handle})
	t.Cleanup(func() {
		if err := x.pool.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	resp := x.call(ns, protocol.NewBodyRequest(protocol.GetBrokerClusterInfo, nil))
	if resp.Version != protocol.CurrentVersion {
		t.Skipf("release: the record is of %v, this is %v", protocol.Version550, protocol.MQVersion(resp.Version))
	}
	info, err := protocol.DecodeClusterInfo(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	addrs := info.BrokerAddrTable["broker-a"].BrokerAddrs
	x.addr, x.replica = addrs[protocol.MasterID], addrs[1]
	return x
}

// handle is the client's end of what brokers ask.
func (x *target) handle(_ context.Context, _ *remoting.Conn, req *protocol.Command) *protocol.Command {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.pushed = append(x.pushed, req)
	if req.IsOneway() || x.answer == nil {
		return nil
	}
	return x.answer(req)
}

func (x *target) call(addr string, cmd *protocol.Command) *protocol.Command {
	x.t.Helper()
	ctx, cancel := context.WithTimeout(x.t.Context(), 20*time.Second)
	defer cancel()
	resp, err := x.pool.Call(ctx, addr, cmd)
	if err != nil {
		x.t.Fatalf("%v: %v", cmd.RequestCode(), err)
	}
	return resp
}

// shape is resp without what differs from run to run. loose leaves out the values of ext fields.
func (x *target) shape(resp *protocol.Command, loose bool) answerShape {
	s := answerShape{Code: resp.Code, Ext: map[string]string{}}
	if text := resp.Remark; text == strings.ToUpper(text) || slices.Contains(sameRemark, text) {
		s.Status = text
	}
	for _, f := range resp.Ext {
		s.Ext[f.Key] = "…"
		if slices.Contains(sameValue, f.Key) && !loose {
			s.Ext[f.Key] = f.Value
		}
	}
	if len(resp.Body) == 0 {
		return s
	}
	if resp.Body[0] != '{' {
		list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{KeepPacked: true})
		if err != nil {
			x.t.Fatal(err)
		}
		for i := range list {
			s.Messages = append(s.Messages, x.message(&list[i]))
		}
		return s
	}
	strict, err := protocol.StrictJSON([]byte(x.anonymous(string(resp.Body))))
	if err != nil {
		x.t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(strict, &v); err != nil {
		x.t.Fatal(err)
	}
	s.Body = skeleton(v)
	return s
}

func (x *target) anonymous(text string) string {
	return strings.NewReplacer(x.topic, "T", x.group, "G").Replace(text)
}

func (x *target) message(m *protocol.MessageExt) string {
	var props []string
	for _, p := range m.Properties() {
		switch p.Name {
		case protocol.PropertyUniqueKey, protocol.PropertyOriginMessageID, protocol.PropertyTransactionID:
			p.Value = "…"
		}
		props = append(props, p.Name+"="+p.Value)
	}
	slices.Sort(props)
	return x.anonymous(fmt.Sprintf("%s/%d at %d, sysFlag %d, flag %d, tries %d, prepared %v, body %q, %v", m.Topic, m.QueueID, m.QueueOffset, m.SysFlag,
		m.Flag, m.ReconsumeTimes, m.PreparedTransactionOffset > 0, m.Body, props))
}
