package client_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

func TestSendToUnknownTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		_, err := p.Send(t.Context(), message("mistyped", "x"))
		if !errors.Is(err, client.ErrTopicNotFound) || !strings.Contains(err.Error(), "mistyped") || errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("%v; want topic not found", err)
		}
		time.Sleep(time.Second)
		before := k.Sandbox().Counts()[protocol.GetRouteInfoByTopic]
		time.Sleep(10 * time.Minute)
		if n := k.Sandbox().Counts()[protocol.GetRouteInfoByTopic]; n != before {
			t.Errorf("the mistyped topic's route is asked for ever after: %d times", n-before)
		}
	})
}

func TestAutoCreate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{AutoCreate: true, DefaultTopicQueues: 3})
		brokers := map[string]bool{}
		for range 12 {
			r, err := p.Send(t.Context(), message("fresh", "x"))
			if err != nil {
				t.Fatal(err)
			}
			brokers[r.MessageQueue.BrokerName] = true
			if r.MessageQueue.Topic != "fresh" || r.MessageQueue.QueueID > 2 {
				t.Errorf("sent to %s", r.MessageQueue)
			}
		}
		if len(brokers) != 2 {
			t.Errorf("only %v got messages", brokers)
		}
		if list := k.Sandbox().Queues("fresh"); len(list) != 6 {
			t.Errorf("%d queues were created, want 6", len(list))
		}
		time.Sleep(31 * time.Second) // one refresh
		if r, err := c.Route(t.Context(), "fresh"); err != nil || len(r.Publish) != 6 {
			t.Errorf("the route after a refresh: %+v %v", r, err)
		}
		before := k.Sandbox().Counts()[protocol.GetRouteInfoByTopic]
		for range 10 {
			if _, err := p.Send(t.Context(), message("fresh", "x")); err != nil {
				t.Fatal(err)
			}
		}
		if n := k.Sandbox().Counts()[protocol.GetRouteInfoByTopic]; n != before {
			t.Errorf("%d questions for a route that is known", n-before)
		}
	})
}

func TestAutoCreateWithoutTemplate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.NewSandbox(t, sandbox.Options{NoAutoCreateTopics: true}, true)
		p := producer(t, k.Client(), client.ProducerConfig{AutoCreate: true})
		_, err := p.Send(t.Context(), message("fresh", "x"))
		if !errors.Is(err, client.ErrTopicNotFound) || !strings.Contains(err.Error(), "cannot create") {
			t.Errorf("%v", err)
		}
	})
}

func TestSendToReadOnlyTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(2)
		p := producer(t, k.Client(), client.ProducerConfig{})
		k.Sandbox().SetPerm(topic, protocol.PermRead)
		if _, err := p.Send(t.Context(), message(topic, "x")); !errors.Is(err, client.ErrNotWritable) {
			t.Errorf("%v; want not writable", err)
		}
		k.Sandbox().SetPerm(topic, protocol.PermRead|protocol.PermWrite)
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Errorf("writable again: %v", err)
		}
	})
}

// The only broker has moved: the further attempt asks for the route first, and the send succeeds.
func TestSendFollowsAMovedBroker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(2)
		p := producer(t, k.Client(), client.ProducerConfig{})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		if err := k.Sandbox().MoveBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Known routes go on serving while no name server answers.
func TestSendWithoutNameServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(2)
		p := producer(t, k.Client(), client.ProducerConfig{})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		if err := k.Sandbox().StopNameServer(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Errorf("a known topic: %v", err)
		}
		began := time.Now()
		if _, err := p.Send(t.Context(), message("unheard", "x")); err == nil || errors.Is(err, client.ErrTopicNotFound) {
			t.Errorf("an unknown topic: %v", err)
		}
		if took := time.Since(began); took > 3*time.Second+coarse {
			t.Errorf("took %s", took)
		}
	})
}

// SendTo and SendOrdered never move a message elsewhere, even when that would help.
func TestChosenQueueIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		topic := k.Topic(2)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		mqs := queues(t, c, topic)
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeSystemBusy, "busy") })
		_, err := p.SendTo(t.Context(), message(topic, "x"), mqs[1])
		wantRefusal(t, err, protocol.CodeSystemBusy)
		_, err = p.SendOrdered(t.Context(), message(topic, "x"), "key")
		wantRefusal(t, err, protocol.CodeSystemBusy)
		if s := producerStats(t, c); s.Retried != 0 || s.Failed != 2 {
			t.Errorf("snapshot %+v", s)
		}
		k.Sandbox().ClearFaults()
		_, err = p.SendTo(t.Context(), message(topic, "x"), protocol.MessageQueue{Topic: topic, BrokerName: "broker-z"})
		if !errors.Is(err, client.ErrBrokerNotFound) {
			t.Errorf("a broker that does not exist: %v", err)
		}
		_, err = p.SendTo(t.Context(), message(topic, "x"), protocol.MessageQueue{Topic: topic, BrokerName: "broker-a", QueueID: 99})
		wantRefusal(t, err, protocol.CodeInvalidParameter)
		_, err = p.SendTo(t.Context(), message(topic, "x"), protocol.MessageQueue{Topic: "other", BrokerName: "broker-a"})
		if !errors.Is(err, client.ErrInvalidMessage) {
			t.Errorf("a queue of another topic: %v", err)
		}
	})
}

// What was stored with a weaker guarantee is a result with a status, and is sent again only when that is asked for.
func TestWeaklyStored(t *testing.T) {
	for code, status := range map[protocol.ResponseCode]client.SendStatus{
		protocol.CodeFlushDiskTimeout: client.FlushDiskTimeout, protocol.CodeFlushSlaveTimeout: client.FlushSlaveTimeout,
		protocol.CodeSlaveNotAvailable: client.SlaveNotAvailable,
	} {
		synctest.Test(t, func(t *testing.T) {
			k := testcluster.Virtual(t, 2)
			topic := k.Topic(2)
			c := k.Client()
			p := producer(t, c, client.ProducerConfig{Group: "p1"})
			again := producer(t, c, client.ProducerConfig{Group: "p2", RetryNotStoreOK: true})
			weak := func(ctl *sandbox.Control) { ctl.Rewrite(func(resp *protocol.Command) { resp.Code = int32(code) }) }
			both := k.Sandbox().On(protocol.SendMessageV2, weak)
			r, err := p.Send(t.Context(), message(topic, "x"))
			if err != nil || r.Status != status || r.Attempts != 1 || r.OffsetMessageID == "" {
				t.Errorf("%s: %+v %v", code, r, err)
			}
			r, err = again.Send(t.Context(), message(topic, "x"))
			if err != nil || r.Status != status || r.Attempts != 3 {
				t.Errorf("%s everywhere: %+v %v; want the status after three attempts", code, r, err)
			}
			both()
			k.Sandbox().On(protocol.SendMessageV2, on("broker-a", weak))
			for range 4 {
				r, err = again.Send(t.Context(), message(topic, "x"))
				if err != nil || r.Status != client.SendOK || r.MessageQueue.BrokerName != "broker-b" {
					t.Errorf("%s on one broker: %+v %v", code, r, err)
				}
			}
		})
	}
}

// Brokers know the producer's group before its first message arrives.
func TestHeartbeatBeforeFirstMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		p := producer(t, k.Client(), client.ProducerConfig{Group: "pg"})
		var groups []string
		sent := false
		k.Sandbox().On(protocol.SendMessageV2, func(*sandbox.Control) { sent = true })
		k.Sandbox().On(protocol.HeartBeat, func(ctl *sandbox.Control) {
			d, err := protocol.DecodeHeartbeatData(ctl.Request.Body)
			if err != nil {
				t.Error(err)
				return
			}
			for _, g := range d.ProducerDataSet {
				if !sent {
					groups = append(groups, g.GroupName)
				}
			}
		})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		if len(groups) == 0 || groups[0] != "pg" {
			t.Errorf("groups known before the message: %v", groups)
		}
	})
}
