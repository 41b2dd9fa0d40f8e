package client_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// mqadmin is RocketMQ's own admin tool, 5.5.0, in a JVM that takes one command after the other.
type mqadmin struct {
	t    *testing.T
	dir  string // where it writes files
	in   io.Writer
	out  *bufio.Scanner
	kill func() error
}

// startMQAdmin starts the tool for a real cluster. Its jars come through scripts/real-cluster, which keeps them.
func startMQAdmin(t *testing.T, k *testcluster.Cluster) *mqadmin {
	t.Helper()
	k.Require(testcluster.Real)
	lib, err := exec.CommandContext(t.Context(), "../../scripts/real-cluster", "jars").Output()
	if err != nil {
		t.Fatalf("jars of the admin tool: %v", err)
	}
	source, err := filepath.Abs("testdata/MQAdmin.java")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "rmq.logback.xml"), []byte(`<configuration><root level="OFF"/></configuration>`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Duser.home="+dir,
		"-Drocketmq.namesrv.addr="+strings.Join(k.NameServers, ";"), "-cp", dir+":"+strings.TrimSpace(string(lib))+"/*", source)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatalf("admin tool: %v", err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // the end of the test's context has killed it
	})
	return &mqadmin{t: t, dir: dir, in: in, out: bufio.NewScanner(out), kill: cmd.Process.Kill}
}

// run puts one command and returns what it has printed. An exception in it fails the test: something was not understood.
func (a *mqadmin) run(words ...string) string {
	a.t.Helper()
	limit := time.AfterFunc(2*patience, func() { _ = a.kill() })
	defer limit.Stop()
	if _, err := fmt.Fprintln(a.in, strings.Join(words, "\t")); err != nil {
		a.t.Fatalf("mqadmin %s: %v", words[0], err)
	}
	var text strings.Builder
	for a.out.Scan() {
		if a.out.Text() == "== end" {
			a.t.Logf("mqadmin %s\n%s", strings.Join(words, " "), text.String())
			if strings.Contains(text.String(), "Exception") && !strings.Contains(text.String(), "CR_THROW_EXCEPTION") {
				a.t.Errorf("mqadmin %s failed\n%s", words[0], text.String())
			}
			return text.String()
		}
		text.WriteString(a.out.Text() + "\n")
	}
	a.t.Fatalf("mqadmin %s ended (%v)\n%s", words[0], a.out.Err(), text.String())
	return ""
}

// rows is the lines of a table, in words: those below the line with its title, up to an empty one, that do not begin with #.
func rows(text, title string) (list [][]string) {
	_, rest, _ := strings.Cut(text, title)
	_, rest, _ = strings.Cut(rest, "\n")
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); line == "" {
			break
		}
		if !strings.HasPrefix(line, "#") {
			list = append(list, strings.Fields(line))
		}
	}
	return list
}

// row is the row of a table whose first words are these, nil without one.
func row(list [][]string, words ...string) []string {
	for _, r := range list {
		if len(r) >= len(words) && slices.Equal(r[:len(words)], words) {
			return r
		}
	}
	return nil
}

func (a *mqadmin) wantIn(text string, parts ...string) {
	a.t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			a.t.Errorf("mqadmin does not show %q in\n%s", part, text)
		}
	}
}

// underMQAdmin is a consumer of 20 messages in two queues on one broker, and the tool that looks at it.
type underMQAdmin struct {
	*mqadmin
	c            *client.Client
	topic, group string
	mqs          []protocol.MessageQueue
	in           inbox
	result       atomic.Int32 // what the handler returns; panics when negative
}

func newUnderMQAdmin(t *testing.T, edit func(*client.ConsumerConfig)) *underMQAdmin {
	t.Helper()
	k := testcluster.New(t)
	x := &underMQAdmin{mqadmin: startMQAdmin(t, k), topic: k.Topic(2), group: k.Group(), c: k.Client()}
	mqs := queues(t, x.c, x.topic)
	x.mqs = slices.DeleteFunc(mqs, func(mq protocol.MessageQueue) bool { return mq.BrokerName != mqs[0].BrokerName })
	for i := range 20 {
		put(t, x.c, x.mqs[i%2], strconv.Itoa(i))
	}
	h := func(_ context.Context, b *client.Batch) client.Result {
		x.in.add(b)
		r := x.result.Load()
		if r < 0 {
			panic("no such order")
		}
		return client.Result(r)
	}
	consume(t, x.c, x.group, x.topic, h, func(cfg *client.ConsumerConfig) {
		cfg.LongPoll = time.Second
		edit(cfg)
	})
	testcluster.Eventually(t, patience, "20 messages", func() bool { return x.in.count() == 20 })
	for _, mq := range x.mqs {
		testcluster.Eventually(t, patience, "the commit", func() bool { return committed(t, x.c, x.group, mq) == 10 })
	}
	return x
}

// TestMQAdminUnderstandsAConsumer has RocketMQ's own tool look at a running push consumer, and checks that it shows what is so.
func TestMQAdminUnderstandsAConsumer(t *testing.T) {
	x := newUnderMQAdmin(t, func(*client.ConsumerConfig) {})
	broker := x.mqs[0].BrokerName

	connection := x.run("consumerConnection", "-g", x.group)
	if r := row(rows(connection, "#Version"), x.c.ID()); len(r) != 4 || r[2] != "GO" || r[3] != "V5_5_0" {
		t.Errorf("connection %q", r)
	}
	subscriptions := rows(connection, "#SubExpression")
	if row(subscriptions, x.topic, "*") == nil || row(subscriptions, protocol.RetryTopic(x.group), "*") == nil {
		t.Errorf("subscriptions %q", subscriptions)
	}
	x.wantIn(connection, "ConsumeType: CONSUME_PASSIVELY", "MessageModel: CLUSTERING", "ConsumeFromWhere: CONSUME_FROM_FIRST_OFFSET")

	x.wantProgress("10", "10", "0")
	x.wantSameEverywhere()

	status := x.run("consumerStatus", "-g", x.group, "-i", x.c.ID(), "-s")
	properties := rows(status, "#Consumer Properties#")
	for name, want := range map[string]string{
		"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY", "PROP_CLIENT_VERSION": "V5_5_0", "PROP_CONSUMEORDERLY": "false", "pullBatchSize": "32",
		"consumeTimeout": "15", "mqctl.fc." + x.topic + "." + broker + ".0.count": "0",
	} {
		if r := row(properties, name, ":", want); r == nil && row(properties, name+":", want) == nil {
			t.Errorf("property %s is not shown as %s", name, want)
		}
	}
	if n := len(rows(status, "#Consumer Subscription#")); n != 2 {
		t.Errorf("%d subscriptions", n)
	}
	for _, mq := range x.mqs {
		id := strconv.Itoa(int(mq.QueueID))
		if r := row(rows(status, "#Consumer Offset#"), x.topic, broker, id); len(r) != 4 || r[3] != "10" {
			t.Errorf("offset of %s: %q", mq, r)
		}
		detail := strings.Join(row(rows(status, "#Consumer MQ Detail#"), x.topic, broker, id), " ")
		x.wantIn(detail, "ProcessQueueInfo [commitOffset=10,", "cachedMsgCount=0", "locked=false", "droped=false")
		if strings.Contains(detail, "lastPullTimestamp=1970") {
			t.Errorf("%s was never pulled: %s", mq, detail)
		}
	}
	rates := row(rows(status, "#Consumer RT&TPS#"), x.topic)
	if len(rates) != 7 {
		t.Fatalf("rates %q", rates)
	}
	for i, word := range rates[1:] {
		if n, err := strconv.ParseFloat(word, 64); err != nil || n < 0 {
			t.Errorf("rate %d is %q", i, word)
		}
	}
	_, stacks, _ := strings.Cut(status, "#Consumer jstack#")
	x.wantIn(stacks, "goroutine ", "client.(*PushConsumer).worker")

	told := x.run("getConsumerStatus", "-g", x.group, "-t", x.topic)
	for _, mq := range x.mqs {
		if row(rows(told, "#offset"), x.c.ID(), broker, strconv.Itoa(int(mq.QueueID)), "10") == nil {
			t.Errorf("%s is not shown at 10 in\n%s", mq, told)
		}
	}
}

// wantProgress checks the numbers of each queue: broker's end, group's offset, difference. For that the tool asks brokers for
// something that those of 4.x do not know.
func (x *underMQAdmin) wantProgress(numbers ...string) {
	x.t.Helper()
	addr, err := x.c.BrokerAddr(x.mqs[0].BrokerName)
	if err != nil {
		x.t.Fatal(err)
	}
	resp, err := x.c.Call(x.t.Context(), addr, protocol.NewBodyRequest(protocol.GetBrokerRuntimeInfo, nil))
	if err != nil {
		x.t.Fatal(err)
	}
	if protocol.MQVersion(resp.Version) < protocol.Version500 {
		return
	}
	progress := x.run("consumerProgress", "-g", x.group)
	for _, mq := range x.mqs {
		if row(rows(progress, "#LastTime"), append([]string{x.topic, mq.BrokerName, strconv.Itoa(int(mq.QueueID))}, numbers...)...) == nil {
			x.t.Errorf("%s is not shown with %s in\n%s", mq, numbers, progress)
		}
	}
	x.wantIn(progress, "Consume Diff Total: 0")
}

// wantSameEverywhere has the tool compare all members, and finds the file that it has written about this one.
func (x *underMQAdmin) wantSameEverywhere() {
	x.t.Helper()
	all := x.run("consumerStatus", "-g", x.group)
	x.wantIn(all, "Same subscription in the same group of consumer", "Rebalance OK")
	file := regexp.MustCompile(`\d+/` + regexp.QuoteMeta(x.c.ID())).FindString(all)
	text, err := os.ReadFile(filepath.Join(x.dir, file))
	if err != nil || file == "" {
		x.t.Fatalf("what the tool wrote about the member: %v\n%s", err, all)
	}
	x.wantIn(string(text), "#Consumer MQ Detail#", x.topic)
}

// TestMQAdminHasAMessageConsumed: queryMsgById -d sends one message to the consumer again and shows what its handler made of it.
func TestMQAdminHasAMessageConsumed(t *testing.T) {
	x := newUnderMQAdmin(t, func(*client.ConsumerConfig) {})
	id := put(t, x.c, x.mqs[0], "again").MsgID
	testcluster.Eventually(t, patience, "the message", func() bool { return x.in.count() == 21 })
	testcluster.Eventually(t, patience, "the commit", func() bool { return committed(t, x.c, x.group, x.mqs[0]) == 11 })
	for i, tc := range []struct {
		result int32
		want   string
	}{
		{int32(client.Success), "order=false, autoCommit=true, consumeResult=CR_SUCCESS, remark=null"},
		{int32(client.Later), "consumeResult=CR_LATER"},
		{-1, "consumeResult=CR_THROW_EXCEPTION, remark=no such order"},
	} {
		x.result.Store(tc.result)
		x.wantIn(x.run("queryMsgById", "-t", x.topic, "-i", id, "-g", x.group, "-d", x.c.ID()), tc.want)
		if got := x.in.all(); len(got) != 22+i || got[21+i] != "again" {
			t.Errorf("handled %q", got[20:])
		}
	}
	x.result.Store(int32(client.Success))
	if got := committed(t, x.c, x.group, x.mqs[0]); got != 11 {
		t.Errorf("committed %d, want 11", got)
	}
}

// TestMQAdminResetsAConsumer: resetOffsetByTime makes a running consumer read everything again.
func TestMQAdminResetsAConsumer(t *testing.T) {
	x := newUnderMQAdmin(t, func(*client.ConsumerConfig) {})
	reset := x.run("resetOffsetByTime", "-g", x.group, "-t", x.topic, "-s", "0")
	for _, mq := range x.mqs {
		if row(rows(reset, "#offset"), mq.BrokerName, strconv.Itoa(int(mq.QueueID)), "0") == nil {
			t.Errorf("%s is not shown at 0 in\n%s", mq, reset)
		}
	}
	testcluster.Eventually(t, patience, "20 messages again", func() bool { return x.in.count() == 40 })
	for _, mq := range x.mqs {
		testcluster.Eventually(t, patience, "the commit", func() bool { return committed(t, x.c, x.group, mq) == 10 })
	}
	x.wantProgress("10", "10", "0")
}

// TestMQAdminUnderstandsAnOrderlyConsumer: locks are shown, and nothing is complained about.
func TestMQAdminUnderstandsAnOrderlyConsumer(t *testing.T) {
	x := newUnderMQAdmin(t, func(cfg *client.ConsumerConfig) { cfg.Orderly = true })
	x.wantSameEverywhere()
	status := x.run("consumerStatus", "-g", x.group, "-i", x.c.ID())
	x.wantIn(status, "PROP_CONSUMEORDERLY                     : true")
	for _, mq := range x.mqs {
		detail := strings.Join(row(rows(status, "#Consumer MQ Detail#"), x.topic, mq.BrokerName, strconv.Itoa(int(mq.QueueID))), " ")
		x.wantIn(detail, "locked=true", "commitOffset=10")
		if strings.Contains(detail, "lastLockTimestamp=1970") || strings.Contains(detail, "lastLockTimestamp=0,") {
			t.Errorf("%s was never locked: %s", mq, detail)
		}
	}
	id := put(t, x.c, x.mqs[0], "again").MsgID
	testcluster.Eventually(t, patience, "the message", func() bool { return x.in.count() == 21 })
	x.wantIn(x.run("queryMsgById", "-t", x.topic, "-i", id, "-g", x.group, "-d", x.c.ID()), "order=true, autoCommit=true, consumeResult=CR_SUCCESS")
}
