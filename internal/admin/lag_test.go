package admin_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
)

// lags is the rows of a report as "topic/broker/queue commit min..max lag verdict".
func lags(rep *admin.LagReport) []string {
	var list []string
	for _, q := range rep.Queues {
		id := "?"
		if q.QueueID != nil {
			id = fmt.Sprint(*q.QueueID)
		}
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s/%s/%s %s %s..%s %s %s",
			q.Topic, q.Broker, id, text(q.Commit), text(q.Min), text(q.Max), text(q.Lag), q.Verdict)))
	}
	return list
}

func (r *rig) lag(group string, topics ...string) *admin.LagReport {
	r.t.Helper()
	rep, err := r.a.Lag(within(r.t, 4*time.Second), group, admin.LagOptions{Topics: topics})
	if err != nil {
		r.t.Fatal(err)
	}
	return rep
}

func wantLags(t testing.TB, rep *admin.LagReport, want ...string) {
	t.Helper()
	if got := lags(rep); !slices.Equal(got, want) {
		t.Errorf("got\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

// setEnd makes a broker report another end for a queue.
func (r *rig) setEnd(ends map[protocol.MessageQueue]protocol.TopicOffset) {
	r.rewrite(protocol.GetTopicStatsInfo, func(resp *protocol.Command) {
		table := protocol.TopicStatsTable{OffsetTable: ends}
		resp.Body = table.Encode()
	})
}

func TestC08_LagBeyondTheEndAndHuge(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		const huge = 9_000_000_000_000
		r.CreateTopic("t", 2)
		mqs := r.queues("t")
		group := r.newGroup(t.Context())
		r.commit(group, mqs[0], 500)
		r.commit(group, mqs[1], 0)
		r.setEnd(map[protocol.MessageQueue]protocol.TopicOffset{mqs[0]: {MaxOffset: 20}, mqs[1]: {MaxOffset: huge}})
		rep := r.lag(group)
		wantLags(t, rep, "t/broker-a/0 500 0..20 0 AHEAD", "t/broker-a/1 0 0..9000000000000 9000000000000 UNOWNED")
		if text(rep.Lag) != "9000000000000" || rep.Unknown != 0 || rep.Partial {
			t.Errorf("sum %s, %d unknown, partial %v", text(rep.Lag), rep.Unknown, rep.Partial)
		}
		if note := rep.Queues[0].Note; note != "the commit is 480 beyond the end" {
			t.Errorf("note %q", note)
		}
		if s := toJSON(t, rep); !strings.Contains(s, `"commit":500,"min":0,"max":20,"lag":0`) || !strings.Contains(s, `"lag":9000000000000`) {
			t.Error(s)
		}
	})
}

func TestC05_ExpiredMessagesAreNoLag(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 3)
		mqs := r.queues("t")
		group := r.newGroup(t.Context())
		for i, commit := range []int64{0, 0, 5000} {
			r.commit(group, mqs[i], commit)
		}
		r.setEnd(map[protocol.MessageQueue]protocol.TopicOffset{
			mqs[0]: {MinOffset: 2020, MaxOffset: 2020}, mqs[1]: {MinOffset: 100, MaxOffset: 200}, mqs[2]: {MaxOffset: 200},
		})
		rep := r.lag(group)
		wantLags(t, rep, "t/broker-a/0 0 2020..2020 0 OK", "t/broker-a/1 0 100..200 100 UNOWNED", "t/broker-a/2 5000 0..200 0 AHEAD")
		if text(rep.Lag) != "100" || rep.Expired != 2120 || text(rep.Queues[0].Expired) != "2020" {
			t.Errorf("lag %s, expired %d", text(rep.Lag), rep.Expired)
		}
		if note := rep.Queues[1].Note; note != "100 expired before they were read" {
			t.Errorf("note %q", note)
		}
	})
}

func TestC15_RetryTopicAbsentOrThere(t *testing.T) {
	for name, o := range map[string]sandbox.Options{"auto": {}, "no auto": {NoAutoCreateTopics: true, NoAutoCreateGroups: true}} {
		t.Run(name, func(t *testing.T) {
			virtualOf(t, o, func(t *testing.T, r *rig) {
				r.CreateTopic("t", 1)
				group := r.newGroup(t.Context())
				mq := r.queues("t")[0]
				r.fill(mq, 3)
				r.commit(group, mq, 1)
				rep := r.lag(group)
				wantLags(t, rep, "t/broker-a/0 1 0..3 2 UNOWNED")
				if rep.Partial {
					t.Errorf("failures %v", rep.Failures)
				}
				r.CreateTopic(protocol.RetryTopic(group), 1)
				wantLags(t, r.lag(group), "t/broker-a/0 1 0..3 2 UNOWNED", protocol.RetryTopic(group)+"/broker-a/0 ? 0..0 ? UNKNOWN")
			})
		})
	}
}

func TestLagOfASubscribedTopicThatIsMissing(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("here", 1)
		group := r.newGroup(t.Context())
		r.join("broker-a", group, protocol.Clustering, subscription(t, "here", "TagA || TagB"), subscription(t, "gone", "*"))
		rep := r.lag(group)
		if len(rep.Queues) < 2 || rep.Queues[0].Topic != "gone" || rep.Queues[0].QueueID != nil || rep.Queues[0].Error == "" || !rep.Partial {
			t.Fatalf("rows %v", lags(rep))
		}
		if !errors.Is(rep.Failures[0], client.ErrTopicNotFound) {
			t.Errorf("failures %v", rep.Failures)
		}
		if q := rep.Queues[1]; q.Topic != "here" || q.Filter != "TagA || TagB" || q.Error != "" {
			t.Errorf("the other topic: %+v", q)
		}
		if rep.Members == nil || *rep.Members != 1 || rep.Model != "CLUSTERING" {
			t.Errorf("members %v, model %q", rep.Members, rep.Model)
		}
		_, err := r.a.Lag(t.Context(), group, admin.LagOptions{Topics: []string{"here", "gone"}})
		oneLine(t, err)
		if !errors.Is(err, client.ErrTopicNotFound) {
			t.Errorf("a missing topic that was named: %v", err)
		}
	})
}

func TestLagNeverCommitted(t *testing.T) {
	for name, version := range map[string]int32{"4.9": 393, "5.5": 513} {
		t.Run(name, func(t *testing.T) {
			virtualOf(t, sandbox.Options{Version: version}, func(t *testing.T, r *rig) {
				r.CreateTopic("t", 4)
				mqs := r.queues("t")
				group := r.newGroup(t.Context())
				for _, mq := range mqs {
					r.fill(mq, 5) // young queues: a broker of 4.9 says 0 for them
				}
				r.commit(group, mqs[1], 0)
				r.commit(group, mqs[2], 4)
				r.commit(group, mqs[3], -1)
				rep := r.lag(group, "t")
				wantLags(t, rep, "t/broker-a/0 ? 0..5 ? UNKNOWN", "t/broker-a/1 0 0..5 5 UNOWNED",
					"t/broker-a/2 4 0..5 1 UNOWNED", "t/broker-a/3 -1 0..5 ? UNKNOWN")
				if text(rep.Lag) != "6" || rep.Unknown != 2 || text(rep.Queues[0].LagMost) != "5" || rep.Queues[0].Note != "never committed" || rep.Partial {
					t.Errorf("report %+v", rep)
				}
				if s := toJSON(t, rep); !strings.Contains(s, `"commit":null,"min":0,"max":5,"lag":null,"lag_most":5`) {
					t.Error(s)
				}
				if n, want := r.Sandbox().Counts()[protocol.GetAllConsumerOffset], map[int32]int64{393: 1, 513: 0}[version]; n != want {
					t.Errorf("the table of all offsets was asked for %d times, want %d", n, want)
				}
			})
		})
	}
}

func TestLagWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 40)
		group := r.newGroup(t.Context())
		mqs := r.queues("t")
		for _, mq := range mqs {
			r.commit(group, mq, 0)
		}
		r.fill(mqs[0], 3)
		r.hang("broker-b")
		began := time.Now()
		rep := r.lag(group)
		if took := time.Since(began); took != 4*time.Second {
			t.Errorf("took %v, want the deadline", took)
		}
		if !rep.Partial || len(rep.Queues) != 80 || rep.Unknown != 40 || text(rep.Lag) != "3" || rep.Members != nil {
			t.Fatalf("partial %v, %d rows, %d unknown, lag %s, members %v", rep.Partial, len(rep.Queues), rep.Unknown, text(rep.Lag), rep.Members)
		}
		for _, q := range rep.Queues {
			silent := q.Broker == "broker-b"
			if (q.Error != "") != silent || (q.Lag == nil) != silent || silent != (q.Verdict == admin.VerdictUnknown) {
				t.Fatalf("row %+v", q)
			}
		}
		for _, err := range rep.Failures {
			if !errors.Is(err, remoting.ErrTimeout) {
				t.Errorf("failure %v", err)
			}
		}
		if rep := r.lag(group, "t"); len(rep.Queues) != 80 || rep.Unknown != 40 {
			t.Errorf("of a topic that is named: %d rows, %d unknown", len(rep.Queues), rep.Unknown)
		}
	})
}

func TestLagWithoutADeadline(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 200)
		group := r.newGroup(t.Context())
		r.hang("broker-b")
		began := time.Now()
		rep, err := r.a.Lag(t.Context(), group, admin.LagOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 10*time.Second { // a request's own limit for each step, not for each queue
			t.Errorf("took %v", took)
		}
		if rep.Partial != true {
			t.Error("not partial")
		}
	})
}

func TestLagOfOneQueueThatCannotBeRead(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 2)
		mqs := r.queues("t")
		group := r.newGroup(t.Context())
		r.fill(mqs[0], 2)
		r.fill(mqs[1], 2)
		r.commit(group, mqs[0], 2)
		r.commit(group, mqs[1], 2)
		r.Sandbox().On(protocol.QueryConsumerOffset, func(ctl *sandbox.Control) {
			var h protocol.QueryConsumerOffsetRequest
			if err := ctl.Header(&h); err != nil {
				t.Error(err)
			}
			if h.QueueID == 1 {
				ctl.Reply(protocol.CodeSystemError, "java.io.IOException: disk\n\tat Broker.java:1")
			}
		})
		rep := r.lag(group, "t")
		wantLags(t, rep, "t/broker-a/0 2 0..2 0 OK", "t/broker-a/1 ? 0..2 ? UNKNOWN")
		q := rep.Queues[1]
		if !rep.Partial || !strings.Contains(q.Error, "disk; at Broker.java:1") || text(q.LagMost) != "2" || text(rep.Lag) != "0" {
			t.Errorf("row %+v of %+v", q, rep)
		}
	})
}

func TestLagOfBadBodies(t *testing.T) {
	for _, code := range []protocol.RequestCode{
		protocol.GetConsumerConnectionList, protocol.GetConsumeStats, protocol.GetRouteInfoByTopic, protocol.GetBrokerClusterInfo,
	} {
		t.Run(code.String(), func(t *testing.T) {
			virtual(t, 1, func(t *testing.T, r *rig) {
				r.CreateTopic("t", 1)
				group := r.newGroup(t.Context())
				r.join("broker-a", group, protocol.Clustering, subscription(t, "t", "*"))
				r.commit(group, r.queues("t")[0], 0)
				r.rewrite(code, func(resp *protocol.Command) { resp.Body = []byte("{{\"topic\":") })
				rep, err := r.a.Lag(within(t, time.Second), group, admin.LagOptions{})
				if err != nil {
					oneLine(t, err)
					if code != protocol.GetBrokerClusterInfo || !errors.Is(err, protocol.ErrBadBody) {
						t.Errorf("error %v", err)
					}
					return
				}
				if !rep.Partial || len(rep.Failures) == 0 || !errors.Is(rep.Failures[0], protocol.ErrBadBody) || len(rep.Queues) == 0 {
					t.Errorf("report %+v", rep)
				}
			})
		})
	}
}

func TestLagOfGroups(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Topic(1)
		_, err := r.a.Lag(t.Context(), "nobody", admin.LagOptions{})
		oneLine(t, err)
		if !errors.Is(err, client.ErrGroupNotFound) {
			t.Errorf("an unknown group: %v", err)
		}
		if _, err := r.a.Lag(t.Context(), "nobody", admin.LagOptions{Topics: []string{topic}}); !errors.Is(err, client.ErrGroupNotFound) {
			t.Errorf("an unknown group and a topic: %v", err)
		}
		if _, err := r.a.Lag(t.Context(), "a b", admin.LagOptions{}); !errors.Is(err, client.ErrInvalidName) {
			t.Errorf("a bad name: %v", err)
		}
		group := r.newGroup(t.Context())
		rep := r.lag(group)
		if len(rep.Queues) != 0 || rep.Lag != nil || rep.Partial || rep.Members == nil || *rep.Members != 0 {
			t.Errorf("a group that has done nothing: %+v", rep)
		}
		if rep := r.lag(group, topic); len(rep.Queues) != 2 || rep.Unknown != 2 {
			t.Errorf("a group that has done nothing, and a topic: %+v", rep)
		}
	})
}

func TestLagOfABroadcastingGroup(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 1)
		group := r.newGroup(t.Context())
		r.fill(r.queues("t")[0], 2)
		r.join("broker-a", group, protocol.Broadcasting, subscription(t, "t", "*"))
		rep := r.lag(group)
		if rep.Model != "BROADCASTING" || len(rep.Queues) == 0 || rep.Queues[0].Lag != nil || !strings.Contains(rep.Queues[0].Note, "broadcast") || rep.Partial {
			t.Errorf("report %+v", rep)
		}
	})
}

func TestLagWithoutTheRightToSeeMembers(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 1)
		mq := r.queues("t")[0]
		group := r.newGroup(t.Context())
		r.fill(mq, 2)
		r.commit(group, mq, 1)
		for _, code := range []protocol.RequestCode{protocol.GetConsumerConnectionList, protocol.GetBrokerClusterInfo} {
			r.Sandbox().On(code, func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeNoPermission, "no") })
		}
		rep := r.lag(group, "t")
		wantLags(t, rep, "t/broker-a/0 1 0..2 1")
		if rep.Partial || rep.Members != nil {
			t.Errorf("report %+v", rep)
		}
		_, err := r.a.Lag(t.Context(), group, admin.LagOptions{})
		if code, ok := client.CodeOf(err); !ok || code != protocol.CodeNoPermission {
			t.Errorf("without a topic: %v", err)
		}
	})
}

func TestLagReadsCommitsBeforeEnds(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.CreateTopic("t", 4)
		group := r.newGroup(t.Context())
		mqs := r.queues("t")
		for _, mq := range mqs {
			r.commit(group, mq, 0)
		}
		var order []protocol.RequestCode
		for _, code := range []protocol.RequestCode{protocol.QueryConsumerOffset, protocol.GetTopicStatsInfo} {
			r.Sandbox().On(code, func(*sandbox.Control) { order = append(order, code) })
		}
		r.lag(group, "t")
		if len(order) != 5 || order[4] != protocol.GetTopicStatsInfo {
			t.Errorf("asked in the order %v", order)
		}
	})
}

func TestLagOnAnyCluster(t *testing.T) {
	r := newRig(t)
	topic := r.Topic(2)
	group := r.newGroup(t.Context())
	mqs := r.queues(topic)
	r.fill(mqs[0], 4)
	r.commit(group, mqs[0], 1)
	rep, err := r.a.Lag(t.Context(), group, admin.LagOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Partial || len(rep.Queues) != len(mqs) || text(rep.Lag) != "3" || rep.Unknown != len(mqs)-1 || text(rep.Queues[0].Commit) != "1" {
		t.Errorf("rows %v, failures %v", lags(rep), rep.Failures)
	}
}
