package client_test

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// question asks a broker something the way an admin tool does.
func question(t testing.TB, k *testcluster.Cluster, h protocol.RequestHeader) (*protocol.Command, error) {
	t.Helper()
	a := k.Admin()
	addr := k.Sandbox().BrokerAddr("broker-a")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return a.CallHeader(ctx, addr, h, nil, nil)
}

func ptr[T any](v T) *T { return &v }

// falls is how often commits went down, the stored offset before the first one included.
func falls(before int64, commits []int64) (n int) {
	for _, offset := range commits {
		if offset < before {
			n++
		}
		before = offset
	}
	return n
}

// C07: a consumer stands at 900 with a pull under way that is answered 2 s later; after 1 s an admin resets the group to
// 100. A broker that pushes the reset is obeyed at once, and the late answer counts for nothing. One that keeps the reset
// answers the parked pull with it. What such a broker has read before the reset cannot be told from any other answer: it is
// delivered, but never committed.
func TestC07_ResetWinsOverPullInFlight(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options sandbox.Options
		late    bool // a fault holds the answer back, with message 900; otherwise that message ends the long poll
		first   int64
	}{
		{"pushed", sandbox.Options{NoServerSideReset: true}, true, 100},
		{"kept, long poll", sandbox.Options{}, false, 100},
		{"kept, answer read before", sandbox.Options{}, true, 900},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.NewSandbox(t, tc.options, true)
				s := k.Sandbox()
				topic, group := k.Topic(1), k.Group()
				c := k.Client()
				mq := fill(t, c, topic, 100)[0]
				time.Sleep(time.Second)
				moment := time.Now()
				fill(t, c, topic, 800)
				l := watchCommits(k, mq)
				if err := s.SetOffset(group, mq, 900); err != nil {
					t.Fatal(err)
				}
				if tc.late {
					put(t, c, mq, "900")
					s.On(protocol.PullMessage, func(ctl *sandbox.Control) {
						if v, _ := ctl.Request.Ext.Get("queueOffset"); v == "900" {
							ctl.Delay(2 * time.Second)
							ctl.Once()
						}
					})
				}
				var in inbox
				p := consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) { cfg.Workers = 1 })
				testcluster.Eventually(t, 10*time.Second, "its queues", func() bool { return len(p.Queues()) == 2 })
				testcluster.Eventually(t, 10*time.Second, "the pull at 900", func() bool {
					next := queueOf(t, c, mq).NextOffset
					return next != nil && *next == 900
				})
				time.Sleep(time.Second)
				reset := &protocol.InvokeBrokerToResetOffsetRequest{Topic: topic, Group: group, Timestamp: moment.UnixMilli(), IsForce: true}
				if !tc.options.NoServerSideReset {
					reset.Timestamp, reset.QueueID, reset.Offset = -1, ptr[int32](0), ptr[int64](100)
				}
				if _, err := question(t, k, reset); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
				if !tc.late {
					if n := in.count(); n != 0 {
						t.Errorf("%d messages before anything has come", n)
					}
					put(t, c, mq, "900")
				}
				want := int(901 - 100)
				if tc.first == 900 {
					want++
				}
				testcluster.Eventually(t, time.Minute, "everything from 100 on", func() bool { return in.count() >= want })
				closeNow(t, p)
				places := in.where()
				if places[0] != fmt.Sprintf("%s@%d", mq, tc.first) || len(places) != want {
					t.Errorf("%d messages from %s on, want %d from %d", len(places), places[0], want, tc.first)
				}
				for i, place := range places[len(places)-801:] {
					if place != fmt.Sprintf("%s@%d", mq, 100+i) {
						t.Fatalf("message %d after the reset is %s", i, place)
					}
				}
				if n := falls(900, l.offsets); n != 1 || l.offsets[len(l.offsets)-1] != 901 {
					t.Errorf("commits %v: want one fall, to 100, and 901 at the end", l.offsets)
				}
			})
		})
	}
}

// Resets of everything at once: queues that are owned elsewhere, other topics and negative offsets are left alone, and a
// group that is not here is no trouble.
func TestPushedResetTouchesItsQueuesOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		s := k.Sandbox()
		topic, other, group := k.Topic(2), k.Topic(1), k.Group()
		c := k.Client()
		mqs := fill(t, c, topic, 20)
		strange := fill(t, c, other, 5)[0]
		var in inbox
		p := consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) {
			cfg.Subscriptions = append(cfg.Subscriptions, client.Subscription{Topic: other})
		})
		testcluster.Eventually(t, time.Minute, "25 messages", func() bool { return in.count() == 25 })
		time.Sleep(10 * time.Second)
		for _, err := range []error{
			s.PushReset(group, mqs[0], 5), s.PushReset(group, mqs[1], -1), s.PushReset("nobody", strange, 1),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		testcluster.Eventually(t, time.Minute, "5 messages again", func() bool { return in.count() == 30 })
		time.Sleep(time.Minute)
		closeNow(t, p)
		if n := in.count(); n != 30 {
			t.Errorf("%d messages, want 30", n)
		}
		for mq, want := range map[protocol.MessageQueue]int64{mqs[0]: 10, mqs[1]: 10, strange: 5} {
			if got, _ := s.Offset(group, mq); got != want {
				t.Errorf("%s is committed at %d, want %d", mq, got, want)
			}
		}
	})
}

// TestConsumerStatus is what `mqadmin getConsumerStatus` shows: where a member stands in each queue of the topic asked about.
func TestConsumerStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, other, group := k.Topic(2), k.Topic(1), k.Group()
		c := k.Client()
		mqs := fill(t, c, topic, 20)
		fill(t, c, other, 1)
		h := func(ctx context.Context, b *client.Batch) client.Result {
			if b.Queue == mqs[1] && b.Messages[0].QueueOffset == 4 {
				<-ctx.Done()
			}
			return client.Success
		}
		consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
			cfg.Subscriptions = append(cfg.Subscriptions, client.Subscription{Topic: other})
			cfg.DrainTimeout = time.Second
		})
		time.Sleep(10 * time.Second)
		ask := func(h *protocol.InvokeBrokerToGetConsumerStatusRequest) map[string]map[protocol.MessageQueue]int64 {
			t.Helper()
			resp, err := question(t, k, h)
			if err != nil {
				t.Fatal(err)
			}
			body, err := protocol.DecodeConsumerStatus(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return body.ConsumerTable
		}
		want := map[string]map[protocol.MessageQueue]int64{c.ID(): {mqs[0]: 10, mqs[1]: 4}}
		for _, h := range []*protocol.InvokeBrokerToGetConsumerStatusRequest{{Topic: topic, Group: group}, {Topic: topic, Group: group, ClientAddr: c.ID()}} {
			if diff := cmp.Diff(want, ask(h)); diff != "" {
				t.Errorf("want (-), got (+)\n%s", diff)
			}
		}
		if got := ask(&protocol.InvokeBrokerToGetConsumerStatusRequest{Topic: topic, Group: group, ClientAddr: "another"}); len(got) != 0 {
			t.Errorf("another client's status: %v", got)
		}
	})
}

// javaProperties is the names of the settings that a Java consumer reports.
func javaProperties(t *testing.T) map[string]bool {
	t.Helper()
	text, err := os.ReadFile("../protocol/testdata/running_info_307_java_client.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		frame, ok := strings.CutPrefix(strings.TrimSpace(line), "< ")
		if !ok {
			continue
		}
		raw, err := hex.DecodeString(frame)
		if err != nil {
			t.Fatal(err)
		}
		header := binary.BigEndian.Uint32(raw[4:]) & 0xffffff
		info, err := protocol.DecodeConsumerRunningInfo(raw[8+header:])
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for name := range info.Properties {
			names[name] = true
		}
		return names
	}
	t.Fatal("the recording has no body")
	return nil
}

func runningInfo(t testing.TB, k *testcluster.Cluster, group, id string, stacks bool) *protocol.ConsumerRunningInfo {
	t.Helper()
	resp, err := question(t, k, &protocol.GetConsumerRunningInfoRequest{ConsumerGroup: group, ClientID: id, JstackEnable: stacks})
	if err != nil {
		t.Fatal(err)
	}
	if resp.Language != protocol.LanguageGo {
		t.Errorf("the answer's language is %v", resp.Language)
	}
	info, err := protocol.DecodeConsumerRunningInfo(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// TestRunningInfo holds a consumer in a known state and compares all that it tells about itself.
func TestRunningInfo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, topic)[0]
		body := string(make([]byte, 64<<10))
		for range 50 {
			put(t, c, mq, body)
		}
		h := func(ctx context.Context, b *client.Batch) client.Result {
			if b.Messages[0].QueueOffset == 10 {
				<-ctx.Done()
			}
			return client.Success
		}
		began := time.Now()
		consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
			cfg.Workers, cfg.PullBatchSize, cfg.MaxCachedCount, cfg.DrainTimeout = 1, 4, 19, time.Second
		})
		time.Sleep(52 * time.Second)
		info := runningInfo(t, k, group, c.ID(), false)
		pq := info.MQTable[mq]
		cached := pq.CachedMsgCount
		if cached < 20 || cached > 23 {
			t.Errorf("%d messages are cached, want one pull more than 19", cached)
		}
		want := protocol.ProcessQueueInfo{
			CommitOffset: 10, CachedMsgCount: cached, CachedMsgMinOffset: 10, CachedMsgMaxOffset: 9 + int64(cached), CachedMsgSizeInMiB: cached * 64 / 1024,
			LastPullTimestamp: pq.LastPullTimestamp, LastConsumeTimestamp: pq.LastConsumeTimestamp,
		}
		if diff := cmp.Diff(want, pq); diff != "" {
			t.Errorf("process queue: want (-), got (+)\n%s", diff)
		}
		for what, ms := range map[string]int64{"pull": pq.LastPullTimestamp, "consumption": pq.LastConsumeTimestamp} {
			if at := time.UnixMilli(ms); at.Before(began) || at.After(began.Add(5*time.Second)) {
				t.Errorf("last %s at %s, the consumer was started at %s", what, at, began)
			}
		}
		retry := protocol.MessageQueue{Topic: protocol.RetryTopic(group), BrokerName: "broker-a"}
		if _, ok := info.MQTable[retry]; !ok || len(info.MQTable) != 2 || len(info.MQPopTable) != 0 || info.Jstack != "" {
			t.Errorf("queues %v, POP %v, %d bytes of stacks", slices.Collect(maps.Keys(info.MQTable)), info.MQPopTable, len(info.Jstack))
		}
		var topics []string
		for _, s := range info.SubscriptionSet {
			topics = append(topics, s.Topic+"@"+s.SubString)
		}
		if diff := cmp.Diff([]string{retry.Topic + "@*", topic + "@*"}, topics); diff != "" {
			t.Errorf("subscriptions: want (-), got (+)\n%s", diff)
		}
		checkStatus(t, info.StatusTable[topic])
		checkProperties(t, k, info, mq, began)
		stacks := runningInfo(t, k, group, c.ID(), true).Jstack
		for _, want := range []string{"goroutine ", "client.(*PushConsumer).worker", "client.(*assignedQueue).pullLoop", "TestRunningInfo"} {
			if !strings.Contains(stacks, want) {
				t.Errorf("no %q in %d bytes of stacks", want, len(stacks))
			}
		}
	})
}

// checkStatus: 10 messages were consumed and at least 30 pulled in the time that the rates are about.
func checkStatus(t *testing.T, s protocol.ConsumeStatus) {
	t.Helper()
	if s.ConsumeFailedMsgs != 0 || s.ConsumeFailedTPS != 0 || s.ConsumeRT < 0 || s.PullRT < 0 {
		t.Errorf("status %+v", s)
	}
	for what, got := range map[string][3]float64{"pulled": {s.PullTPS, 29, 34}, "consumed": {s.ConsumeOKTPS, 10, 10}} {
		if n := got[0] * 50; n < got[1]*0.8 || n > got[2]*1.2 {
			t.Errorf("%g messages %s in 50 s, want about %g", n, what, got[1])
		}
	}
}

func checkProperties(t *testing.T, k *testcluster.Cluster, info *protocol.ConsumerRunningInfo, mq protocol.MessageQueue, began time.Time) {
	t.Helper()
	props := info.Properties
	for name, want := range map[string]string{
		protocol.PropNameServerAddr: k.NameServers[0] + ";", protocol.PropConsumeType: "CONSUME_PASSIVELY", protocol.PropConsumeOrderly: "false",
		protocol.PropClientVersion: "V5_5_0", protocol.PropThreadPoolCoreSize: "1", "consumeMessageBatchMaxSize": "1", "pullBatchSize": "4",
		"pullThresholdForQueue": "19", "pullThresholdSizeForQueue": "100", "messageModel": "CLUSTERING", "consumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
		"maxReconsumeTimes": "-1", "consumeTimeout": "15", "consumeConcurrentlyMaxSpan": "2000",
	} {
		if props[name] != want {
			t.Errorf("property %s is %q, want %q", name, props[name], want)
		}
	}
	ms, err := strconv.ParseInt(props[protocol.PropConsumerStartTimestamp], 10, 64)
	if at := time.UnixMilli(ms); err != nil || at.Before(began.Add(-time.Second)) || at.After(began.Add(time.Second)) {
		t.Errorf("started at %s (%v), want about %s", at, err, began)
	}
	key := fmt.Sprintf("mqctl.fc.%s.%s.%d.", mq.Topic, mq.BrokerName, mq.QueueID)
	number := func(name string) int64 {
		n, err := strconv.ParseInt(props[key+name], 10, 64)
		if err != nil {
			t.Errorf("%s%s: %v", key, name, err)
		}
		return n
	}
	if hits := number("count"); hits < 950 || hits > 1050 { // one each 50 ms
		t.Errorf("%d hits of the count limit", hits)
	}
	if ms := number("blocked_ms"); ms < 47_000 || ms > 52_000 {
		t.Errorf("held back for %d ms", ms)
	}
	if number("cached_bytes") != int64(info.MQTable[mq].CachedMsgCount)<<16 || number("span_now") != int64(info.MQTable[mq].CachedMsgCount)-1 {
		t.Errorf("cached bytes %d and span %d do not go with %+v", number("cached_bytes"), number("span_now"), info.MQTable[mq])
	}
	for _, kind := range []string{"size", "span", "total", "broker"} {
		if n := number(kind); n != 0 {
			t.Errorf("%d hits of the %s limit", n, kind)
		}
	}
	java := javaProperties(t)
	for name := range props {
		if !strings.HasPrefix(name, "mqctl.") && !java[name] {
			t.Errorf("a Java consumer has no property %q", name)
		}
	}
}

// What cannot be answered is an answer too: by the broker when nobody is there, by the client when the group is not its own.
func TestQuestionsAboutStrangers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		p := consume(t, c, group, topic, (&inbox{}).handle)
		time.Sleep(2 * time.Second)
		want := func(text string, h protocol.RequestHeader) {
			t.Helper()
			_, err := question(t, k, h)
			if code, _ := client.CodeOf(err); code != protocol.CodeSystemError || !strings.Contains(fmt.Sprint(err), text) {
				t.Errorf("%v, want SYSTEM_ERROR with %q", err, text)
			}
		}
		want("not online", &protocol.GetConsumerRunningInfoRequest{ConsumerGroup: group, ClientID: "another"})
		want("not online", &protocol.GetConsumerRunningInfoRequest{ConsumerGroup: "nobody", ClientID: c.ID()})
		closeNow(t, p)
		// The broker may believe that a group is on a client which has just left it.
		if err := rejoin(t, k, c, group); err != nil {
			t.Fatal(err)
		}
		want("is not on this client", &protocol.GetConsumerRunningInfoRequest{ConsumerGroup: group, ClientID: c.ID()})
	})
}

// rejoin has the broker take a client for a member of a group that it does not know.
func rejoin(t *testing.T, k *testcluster.Cluster, c *client.Client, group string) error {
	t.Helper()
	beat := &protocol.HeartbeatData{ClientID: c.ID(), ConsumerDataSet: []protocol.ConsumerData{{
		GroupName: group, ConsumeType: protocol.ConsumePassively, MessageModel: protocol.Clustering, ConsumeFromWhere: protocol.ConsumeFromLastOffset,
	}}}
	_, err := c.Call(t.Context(), k.Sandbox().BrokerAddr("broker-a"), protocol.NewBodyRequest(protocol.HeartBeat, beat.Encode()))
	return err
}

// directly has a member consume the first message of a queue out of turn.
func directly(t testing.TB, k *testcluster.Cluster, group, id string, mq protocol.MessageQueue) (*protocol.ConsumeMessageDirectlyResult, error) {
	t.Helper()
	list, err := k.Sandbox().Messages(mq)
	if err != nil || len(list) == 0 {
		t.Fatalf("no message in %s: %v", mq, err)
	}
	resp, err := question(t, k, &protocol.ConsumeMessageDirectlyRequest{ConsumerGroup: group, ClientID: id, MsgID: list[0].OffsetID(), BrokerName: "whatever", Topic: mq.Topic})
	if err != nil {
		return nil, err
	}
	r, err := protocol.DecodeConsumeMessageDirectlyResult(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r, nil
}

func TestConsumeDirectly(t *testing.T) {
	for name, tc := range map[string]struct {
		orderly bool
		handle  func(b *client.Batch) client.Result
		want    protocol.ConsumeMessageDirectlyResult
	}{
		"success": {
			handle: func(*client.Batch) client.Result { return client.Success },
			want:   protocol.ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: protocol.ConsumeResultSuccess},
		},
		"later": {
			handle: func(*client.Batch) client.Result { time.Sleep(20 * time.Millisecond); return client.Later },
			want:   protocol.ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: protocol.ConsumeResultLater, SpentTimeMills: 20},
		},
		"acknowledges nothing": {
			handle: func(b *client.Batch) client.Result { b.Acked = 0; return client.Success },
			want:   protocol.ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: protocol.ConsumeResultLater},
		},
		"panic": {
			handle: func(*client.Batch) client.Result { panic("no such order") },
			want:   protocol.ConsumeMessageDirectlyResult{AutoCommit: true, ConsumeResult: protocol.ConsumeResultThrowException, Remark: "no such order"},
		},
		"orderly": {
			orderly: true, handle: func(*client.Batch) client.Result { return client.Success },
			want: protocol.ConsumeMessageDirectlyResult{Order: true, AutoCommit: true, ConsumeResult: protocol.ConsumeResultSuccess},
		},
		"orderly, commit by hand": {
			orderly: true, handle: func(b *client.Batch) client.Result { b.ManualCommit = true; return client.Commit },
			want: protocol.ConsumeMessageDirectlyResult{Order: true, ConsumeResult: protocol.ConsumeResultCommit},
		},
		"orderly, rollback by hand": {
			orderly: true, handle: func(b *client.Batch) client.Result { b.ManualCommit = true; return client.Rollback },
			want: protocol.ConsumeMessageDirectlyResult{Order: true, ConsumeResult: protocol.ConsumeResultRollback},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 1)
				topic, group := k.Topic(1), k.Group()
				c := k.Client()
				mq := fill(t, c, topic, 3)[0]
				var in inbox
				direct := false
				h := func(_ context.Context, b *client.Batch) client.Result {
					in.add(b)
					if direct {
						return tc.handle(b)
					}
					return client.Success
				}
				p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) { cfg.Orderly = tc.orderly })
				testcluster.Eventually(t, time.Minute, "3 messages", func() bool { return in.count() == 3 })
				time.Sleep(10 * time.Second)
				before := k.Sandbox().Writes()
				before.Locks = 0
				direct = true
				got, err := directly(t, k, group, c.ID(), mq)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(&tc.want, got); diff != "" {
					t.Errorf("want (-), got (+)\n%s", diff)
				}
				if places := in.where(); len(places) != 4 || places[3] != fmt.Sprintf("%s@0", mq) {
					t.Errorf("handled %v", places)
				}
				time.Sleep(time.Minute)
				after := k.Sandbox().Writes()
				after.Locks = 0
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("a message that was consumed directly left traces\n%s", diff)
				}
				closeNow(t, p)
			})
		})
	}
}

// A message from the retry topic is shown under the topic it came from, as in ordinary consumption.
func TestConsumeDirectlyShowsTheFirstTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		fill(t, c, topic, 1)
		var in inbox
		var topics []string
		h := func(_ context.Context, b *client.Batch) client.Result {
			in.add(b)
			topics = append(topics, b.Messages[0].Topic)
			if in.count() == 1 {
				b.DelayLevel = 1
				return client.Later
			}
			return client.Success
		}
		consume(t, c, group, topic, h)
		testcluster.Eventually(t, 2*time.Minute, "the second attempt", func() bool { return in.count() == 2 })
		if _, err := directly(t, k, group, c.ID(), protocol.MessageQueue{Topic: protocol.RetryTopic(group), BrokerName: "broker-a"}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{topic, topic, topic}, topics); diff != "" {
			t.Error(diff)
		}
	})
}

// A handler that does not come back from a direct consumption holds up nothing else that brokers ask for, and the admin is
// told after 10 s.
func TestConsumeDirectlyHoldsUpNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(2), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 2)[0]
		var in inbox
		var direct atomic.Bool
		h := func(ctx context.Context, b *client.Batch) client.Result {
			if in.add(b); direct.Load() {
				<-ctx.Done()
			}
			return client.Success
		}
		p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) { cfg.DrainTimeout = 3 * time.Second })
		testcluster.Eventually(t, time.Minute, "2 messages", func() bool { return in.count() == 2 })
		time.Sleep(10 * time.Second)
		direct.Store(true)
		began := time.Now()
		_, err := directly(t, k, group, c.ID(), mq)
		if code, _ := client.CodeOf(err); code != protocol.CodeConsumeMsgTimeout || time.Since(began) != 10*time.Second {
			t.Errorf("after %s: %v", time.Since(began), err)
		}
		if info := runningInfo(t, k, group, c.ID(), false); len(info.MQTable) == 0 {
			t.Error("no running info")
		}
		if n := len(k.Sandbox().Members(group)); n != 1 {
			t.Errorf("%d members: the broker must go on with a client that is slow to answer", n)
		}
		began = time.Now()
		if err := p.Close(t.Context()); err == nil || time.Since(began) > 4*time.Second {
			t.Errorf("close took %s: %v, want an error after the 3 s of DrainTimeout", time.Since(began), err)
		}
	})
}

// A notice that the members have changed is acted on at once and not at the next regular rebalance.
func TestNoticeRebalancesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(8), k.Group()
		first := consume(t, k.Client(), group, topic, (&inbox{}).handle)
		owned := func(p *client.PushConsumer) (n int) {
			for _, mq := range p.Queues() {
				if mq.Topic == topic {
					n++
				}
			}
			return n
		}
		testcluster.Eventually(t, time.Minute, "8 queues", func() bool { return owned(first) == 8 })
		time.Sleep(12345 * time.Millisecond) // not when it would look anyway
		joined := time.Now()
		second := consume(t, k.Client(), group, topic, (&inbox{}).handle)
		for owned(first) != 4 || owned(second) != 4 {
			if time.Since(joined) > time.Second {
				t.Fatalf("a second after the second member joined they own %d and %d queues", owned(first), owned(second))
			}
			time.Sleep(time.Millisecond)
		}
		time.Sleep(12345 * time.Millisecond)
		left := time.Now()
		closeNow(t, second)
		for owned(first) != 8 {
			if time.Since(left) > time.Second {
				t.Fatalf("a second after the second member left the first owns %d queues", owned(first))
			}
			time.Sleep(time.Millisecond)
		}
	})
}
