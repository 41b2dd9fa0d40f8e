package admin_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// offsets is the rows of a resolution as "broker/queue offset".
func offsets(res *admin.Resolved) string {
	var list []string
	for _, q := range res.Queues {
		list = append(list, fmt.Sprintf("%s/%d %s", q.Broker, q.QueueID, text(q.Offset)))
	}
	return strings.Join(list, ", ")
}

func mustPosition(t testing.TB, s string) position.Position {
	t.Helper()
	pos, err := position.Parse(s, time.Now(), time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return pos
}

func TestResolveAll(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic, group := r.Topic(1), "g"
		mqs := r.queues(topic)
		start := time.Now()
		for range 10 { // one a second, from 1 s on
			time.Sleep(time.Second)
			r.put(mqs[0], "x")
		}
		if err := r.Sandbox().AdvanceMinOffset(mqs[0], 4); err != nil {
			t.Fatal(err)
		}
		r.commit(group, mqs[0], 6)
		at := func(d time.Duration) string { return "@" + start.Add(d).UTC().Format(time.RFC3339Nano) }
		for pos, want := range map[string]string{
			"start": "4", "end": "10", "7": "7", "2": "4", "99": "10", "start+2": "6", "end-1": "9", "end-99": "4", "lag=3": "7",
			"commit": "6", "commit+2": "8", "commit-9": "4",
			at(0): "4", at(7 * time.Second): "6", at(7*time.Second + time.Millisecond): "7", at(7*time.Second + time.Microsecond): "7",
			at(10 * time.Second): "9", at(10*time.Second + time.Microsecond): "10", at(time.Hour): "10", "@-1h": "4",
		} {
			res, err := r.a.ResolveAll(t.Context(), topic, mqs[:1], mustPosition(t, pos), group)
			if err != nil {
				t.Errorf("%s: %v", pos, err)
				continue
			}
			if got := offsets(res); got != "broker-a/0 "+want || res.Partial {
				t.Errorf("%s is %s, want %s", pos, got, want)
			}
		}
		res, err := r.a.ResolveAll(t.Context(), topic, nil, mustPosition(t, "end-2"), "")
		if err != nil || offsets(res) != "broker-a/0 8, broker-b/0 0" || text(res.Queues[0].Min) != "4" || res.Queues[0].Commit != nil {
			t.Errorf("in all queues: %s, %v", offsets(res), err)
		}
	})
}

func TestResolveBehindTheLastMessageOnOldBrokers(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		mq := r.queues(topic)[0]
		r.fill(mq, 3)
		r.Sandbox().On(protocol.SearchOffsetByTimestamp, func(ctl *sandbox.Control) { // they name the last message
			ctl.ReplyWith(func(req *protocol.Command) *protocol.Command {
				return protocol.NewResponse(req, protocol.CodeSuccess, "", &protocol.SearchOffsetByTimestampResponse{Offset: 2}, nil)
			})
		})
		time.Sleep(time.Second)
		bounds, err := r.a.Bounds(t.Context(), mq, "")
		if err != nil {
			t.Fatal(err)
		}
		if got, err := bounds.OffsetAt(time.Now()); got != 3 || err != nil {
			t.Errorf("now is %d, %v; want the end, 3", got, err)
		}
	})
}

func TestResolveFromACommitThatIsNotThere(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(3)
		mqs := r.queues(topic)
		for _, mq := range mqs {
			r.fill(mq, 2)
		}
		r.commit("g", mqs[1], 1)
		r.commit("g", mqs[2], -1)
		res, err := r.a.ResolveAll(t.Context(), topic, nil, mustPosition(t, "commit+1"), "g")
		if err != nil {
			t.Fatal(err)
		}
		if got := offsets(res); got != "broker-a/0 ?, broker-a/1 2, broker-a/2 ?" || !res.Partial || !errors.Is(res.Failures[0], position.ErrNoCommit) {
			t.Errorf("%s, failures %v", got, res.Failures)
		}
		if _, err := r.a.ResolveAll(t.Context(), topic, nil, mustPosition(t, "commit"), ""); !errors.Is(err, client.ErrInvalidName) {
			t.Errorf("without a group: %v", err)
		}
	})
}

func TestResolveWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(2)
		r.fill(r.queues(topic)[0], 2)
		r.hang("broker-b")
		began := time.Now()
		res, err := r.a.ResolveAll(within(t, time.Second), topic, nil, mustPosition(t, "end"), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := offsets(res); got != "broker-a/0 2, broker-a/1 0, broker-b/0 ?, broker-b/1 ?" || !res.Partial || time.Since(began) != time.Second {
			t.Errorf("%s after %v", got, time.Since(began))
		}
		if len(res.Failures) != 1 || !errors.Is(res.Failures[0], remoting.ErrTimeout) || res.Queues[3].Error == "" {
			t.Errorf("failures %v", res.Failures)
		}
	})
}

func TestResolveWhenASearchFails(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Topic(2)
		r.fill(r.queues(topic)[0], 2)
		r.Sandbox().On(protocol.SearchOffsetByTimestamp, func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeSystemError, "no") })
		res, err := r.a.ResolveAll(t.Context(), topic, nil, mustPosition(t, "@-1h"), "")
		if err != nil {
			t.Fatal(err)
		}
		if got := offsets(res); got != "broker-a/0 ?, broker-a/1 0" || !res.Partial || res.Queues[0].Max == nil { // the empty queue needs no search
			t.Errorf("%s, failures %v", got, res.Failures)
		}
	})
}

func TestBoundsOnAnyCluster(t *testing.T) {
	r := newRig(t)
	topic, group := r.Topic(1), r.newGroup(t.Context())
	mq := r.queues(topic)[0]
	r.fill(mq, 3)
	r.commit(group, mq, 2)
	testcluster.Eventually(t, time.Minute, "all three in the index", func() bool { // brokers dispatch to it a moment later
		b, err := r.a.Bounds(t.Context(), mq, group)
		return err == nil && b.Max == 3
	})
	b, err := r.a.Bounds(t.Context(), mq, group)
	if err != nil {
		t.Fatal(err)
	}
	if b.Min != 0 || b.Max != 3 || text(b.Committed) != "2" {
		t.Errorf("bounds %d..%d, commit %s", b.Min, b.Max, text(b.Committed))
	}
	for pos, want := range map[string]int64{"@-1h": 0, "end-1": 2, "commit": 2} {
		if got, err := position.Resolve(mustPosition(t, pos), b); got != want || err != nil {
			t.Errorf("%s is %d, %v; want %d", pos, got, err, want)
		}
	}
	if got, err := b.OffsetAt(time.Now().Add(time.Hour)); got != 3 || err != nil {
		t.Errorf("in an hour: %d, %v", got, err)
	}
	if b, err := r.a.Bounds(t.Context(), mq, ""); err != nil || b.Committed != nil {
		t.Errorf("without a group: %+v, %v", b, err)
	}
}
