package admin_test

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
)

// bodies is the messages as "broker/queue body".
func bodies(found *admin.Found) string {
	if found == nil {
		return "none"
	}
	var list []string
	for _, m := range found.Messages {
		list = append(list, fmt.Sprintf("%s/%d %s", m.BrokerName, m.QueueID, m.Body))
	}
	return strings.Join(list, ", ")
}

func TestC20_OffsetID(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		mqs := r.queues(topic)
		r.put(mqs[1], "before")
		sent := r.put(mqs[1], "it")
		for _, id := range []string{sent.MsgID, strings.ToLower(sent.MsgID)} {
			m, err := r.a.MessageByOffsetID(t.Context(), topic, id)
			if err != nil || string(m.Body) != "it" || m.BrokerName != "broker-b" || m.OffsetID() != sent.MsgID {
				t.Errorf("%s: %+v, %v", id, m, err)
			}
		}
		host, offset, err := protocol.DecodeOffsetID(sent.MsgID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.a.MessageByOffsetID(t.Context(), "", protocol.EncodeOffsetID(host, offset+1))
		oneLine(t, err)
		if !errors.Is(err, admin.ErrMessageNotFound) {
			t.Errorf("between messages: %v", err)
		}
		for _, id := range []string{"", "7F", "7F0000010000276B000000000000040", "7F0000010000276B000000000000040G", "7F0000010001276B0000000000000400"} {
			_, err := r.a.MessageByOffsetID(t.Context(), "", id)
			oneLine(t, err)
			if !errors.Is(err, protocol.ErrBadMessageID) {
				t.Errorf("%q: %v", id, err)
			}
		}
	})
}

func TestC20_OffsetIDOfAnUnreachableAddress(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		for id, addr := range map[string]string{
			"7F0000010000276B0000000000000400":                         "127.0.0.1:10091",
			"000000000000000000000000000000010000276B0000000000000400": "[::1]:10091",
		} {
			_, err := r.a.MessageByOffsetID(t.Context(), "", id)
			oneLine(t, err)
			if !errors.Is(err, remoting.ErrDial) || !strings.Contains(err.Error(), "points to "+addr+", which does not answer and is no broker of this cluster") {
				t.Errorf("%s: %v", id, err)
			}
		}
		r.hang("broker-a")
		id := protocol.EncodeOffsetID(netip.MustParseAddrPort(r.Sandbox().BrokerAddr("broker-a")), 0)
		_, err := r.a.MessageByOffsetID(within(t, time.Second), "", id)
		oneLine(t, err)
		if !errors.Is(err, remoting.ErrTimeout) || strings.Contains(err.Error(), "no broker of this cluster") || errors.Is(err, admin.ErrMessageNotFound) {
			t.Errorf("a broker that is silent: %v", err)
		}
	})
}

func TestMessageByOffsetIDIsChecked(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		first := r.put(r.queues(topic)[0], "first")
		second := r.put(r.queues(topic)[0], "second")
		var record []byte
		r.rewrite(protocol.ViewMessageByID, func(resp *protocol.Command) {
			if record == nil {
				record = resp.Body
			}
			resp.Body = record // always the first message
		})
		if m, err := r.a.MessageByOffsetID(t.Context(), "", first.MsgID); err != nil || string(m.Body) != "first" {
			t.Errorf("%+v, %v", m, err)
		}
		if m, err := r.a.MessageByOffsetID(t.Context(), "", second.MsgID); !errors.Is(err, admin.ErrMessageNotFound) {
			t.Errorf("another message than asked for is given out: %+v, %v", m, err)
		}
		record = []byte("junk")
		_, err := r.a.MessageByOffsetID(t.Context(), "", second.MsgID)
		oneLine(t, err)
		if !errors.Is(err, protocol.ErrBadRecord) {
			t.Errorf("junk: %v", err)
		}
	})
}

func TestMessagesByKeyAndUniqueID(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(2)
		mqs := r.queues(topic)
		start := time.Now()
		put := func(mq protocol.MessageQueue, body, keys, id string) {
			time.Sleep(time.Second)
			r.put(mq, body, protocol.PropertyKeys, keys, protocol.PropertyUniqueKey, id)
		}
		put(mqs[3], "1", "k1 k2", "AC11000100002A9F00000000000001a1")
		put(mqs[0], "2", "k2", "AC11000100002A9F00000000000001a2")
		put(mqs[2], "3", "k1 k10", "AC11000100002A9F00000000000001a2")
		for key, want := range map[string]string{"k1": "broker-b/1 1, broker-b/0 3", "k2": "broker-b/1 1, broker-a/0 2", "k10": "broker-b/0 3"} {
			found, err := r.a.MessagesByKey(t.Context(), topic, key, admin.KeyQuery{})
			if err != nil || bodies(found) != want || found.Partial {
				t.Errorf("key %s: %s, %v; want %s", key, bodies(found), err, want)
			}
		}
		narrow := admin.KeyQuery{Begin: start.Add(1500 * time.Millisecond), End: start.Add(2500 * time.Millisecond)}
		if found, err := r.a.MessagesByKey(t.Context(), topic, "k2", narrow); err != nil || bodies(found) != "broker-a/0 2" {
			t.Errorf("within a time: %s, %v", bodies(found), err)
		}
		found, err := r.a.MessagesByUniqueID(t.Context(), topic, "AC11000100002A9F00000000000001a2")
		if err != nil || bodies(found) != "broker-a/0 2, broker-b/0 3" {
			t.Errorf("unique id: %s, %v", bodies(found), err)
		}
		for what, search := range map[string]func() error{
			"key": func() error { _, err := r.a.MessagesByKey(t.Context(), topic, "k3", admin.KeyQuery{}); return err },
			"id": func() error {
				_, err := r.a.MessagesByUniqueID(t.Context(), topic, "AC11000100002A9F00000000000001A2")
				return err
			},
		} {
			err := search()
			oneLine(t, err)
			if !errors.Is(err, admin.ErrMessageNotFound) {
				t.Errorf("no such %s: %v", what, err)
			}
		}
		var input *admin.InputError
		for _, key := range []string{"", "a b"} {
			if _, err := r.a.MessagesByKey(t.Context(), topic, key, admin.KeyQuery{}); !errors.As(err, &input) {
				t.Errorf("key %q: %v", key, err)
			}
		}
		if _, err := r.a.MessagesByKey(t.Context(), "other", "k", admin.KeyQuery{}); !errors.Is(err, client.ErrTopicNotFound) {
			t.Errorf("an unknown topic: %v", err)
		}
	})
}

func TestMessagesThatOnlyShareTheHashAreDropped(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		mq := r.queues(topic)[0]
		r.put(mq, "mine", protocol.PropertyKeys, "Aa", protocol.PropertyUniqueKey, "U1")
		r.put(mq, "other", protocol.PropertyKeys, "BB", protocol.PropertyUniqueKey, "U2") // equal hashes in Java
		addr := r.Sandbox().BrokerAddr("broker-a")
		resp, err := r.c.CallHeader(t.Context(), addr, &protocol.QueryMessageRequest{Topic: topic, Key: "Aa", MaxNum: 9, EndTimestamp: 1 << 62}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := resp.Body
		if msgs, err := protocol.DecodeMessages(all, protocol.DecodeOptions{}); err != nil || len(msgs) != 2 {
			t.Fatalf("the index tells the keys apart: %d messages, %v", len(msgs), err)
		}
		r.rewrite(protocol.QueryMessage, func(resp *protocol.Command) { resp.Body = all })
		if found, err := r.a.MessagesByKey(t.Context(), topic, "Aa", admin.KeyQuery{}); err != nil || bodies(found) != "broker-a/0 mine" {
			t.Errorf("key: %s, %v", bodies(found), err)
		}
		if found, err := r.a.MessagesByUniqueID(t.Context(), topic, "U2"); err != nil || bodies(found) != "broker-a/0 other" {
			t.Errorf("id: %s, %v", bodies(found), err)
		}
	})
}

func TestMessageSearchWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		r.put(r.queues(topic)[0], "x", protocol.PropertyKeys, "k", protocol.PropertyUniqueKey, "U1")
		r.hang("broker-b")
		began := time.Now()
		found, err := r.a.MessagesByKey(within(t, time.Second), topic, "k", admin.KeyQuery{})
		if err != nil || bodies(found) != "broker-a/0 x" || !found.Partial || !errors.Is(found.Failures[0], remoting.ErrTimeout) || time.Since(began) != time.Second {
			t.Errorf("%s, %+v, %v after %v", bodies(found), found, err, time.Since(began))
		}
		_, err = r.a.MessagesByKey(within(t, time.Second), topic, "other", admin.KeyQuery{})
		oneLine(t, err)
		if errors.Is(err, admin.ErrMessageNotFound) || !errors.Is(err, remoting.ErrTimeout) {
			t.Errorf("it may be where nobody answered: %v", err)
		}
	})
}

func TestMessageByEitherID(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		const unique = "AC11000100002A9F00000000000001A1"
		sent := r.put(r.queues(topic)[0], "x", protocol.PropertyUniqueKey, unique)
		for _, c := range []struct{ topic, id string }{{topic, unique}, {topic, sent.MsgID}, {"", sent.MsgID}} {
			if found, err := r.a.Message(t.Context(), c.topic, c.id); err != nil || bodies(found) != "broker-a/0 x" {
				t.Errorf("%q in %q: %s, %v", c.id, c.topic, bodies(found), err)
			}
		}
		_, err := r.a.Message(t.Context(), "", "U1")
		oneLine(t, err)
		if !strings.Contains(err.Error(), "topic") || !errors.Is(err, protocol.ErrBadMessageID) {
			t.Errorf("a unique id without a topic: %v", err)
		}
		_, err = r.a.Message(t.Context(), topic, "7F0000010000276B0000000000000400")
		oneLine(t, err)
		if !errors.Is(err, admin.ErrMessageNotFound) || !strings.Contains(err.Error(), "127.0.0.1:10091") {
			t.Errorf("neither: %v", err)
		}
		if _, err := r.a.Message(t.Context(), topic, "not-an-id"); !errors.Is(err, admin.ErrMessageNotFound) {
			t.Errorf("a free text: %v", err)
		}
		if _, err := r.a.Message(t.Context(), "other", sent.MsgID); !errors.Is(err, client.ErrTopicNotFound) {
			t.Errorf("an unknown topic: %v", err)
		}
		r.Sandbox().On(protocol.QueryMessage, func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeSystemError, "index broken") })
		if found, err := r.a.Message(t.Context(), topic, sent.MsgID); err != nil || bodies(found) != "broker-a/0 x" {
			t.Errorf("with a broken index: %s, %v", bodies(found), err)
		}
	})
}

func TestMessagesOnAnyCluster(t *testing.T) {
	r := newRig(t)
	topic := r.Topic(1)
	id := fmt.Sprintf("AC1100010000%020X", time.Now().UnixNano())
	sent := r.put(r.queues(topic)[0], "x", protocol.PropertyKeys, "k1 k2", protocol.PropertyUniqueKey, id)
	m, err := r.a.MessageByOffsetID(t.Context(), topic, sent.MsgID)
	if err != nil || string(m.Body) != "x" || m.UniqueID() != id {
		t.Fatalf("by offset id: %+v, %v", m, err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for { // a real broker's index follows the log
		byKey, err1 := r.a.MessagesByKey(t.Context(), topic, "k2", admin.KeyQuery{})
		byID, err2 := r.a.MessagesByUniqueID(t.Context(), topic, id)
		if err1 == nil && err2 == nil {
			if len(byKey.Messages) != 1 || len(byID.Messages) != 1 || byID.Messages[0].OffsetID() != sent.MsgID {
				t.Errorf("by key %s, by id %s", bodies(byKey), bodies(byID))
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("by key: %v; by id: %v", err1, err2)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
