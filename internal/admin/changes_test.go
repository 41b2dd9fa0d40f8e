package admin_test

import (
	"strings"
	"testing"

	"mqctl/internal/admin"
	"mqctl/internal/protocol"
)

func TestTopicIsMadeAndChangedOnAnyCluster(t *testing.T) {
	r := newRig(t)
	topic := r.Name("t")
	apply := func(s admin.TopicSpec, want string) {
		t.Helper()
		plan, err := r.a.PlanTopic(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range plan.Brokers {
			if b.Action != want || b.Error != "" {
				t.Fatalf("plan %s, want %s: %+v", b.Action, want, b)
			}
		}
		if result, err := r.a.ApplyTopic(t.Context(), plan); err != nil || result.Partial || len(result.Brokers) == 0 {
			t.Fatalf("applied %+v, %v", result, err)
		}
	}
	apply(admin.TopicSpec{Name: topic, Queues: 2}, admin.ActionCreate)
	apply(admin.TopicSpec{Name: topic, Queues: 2, Perm: 6}, admin.ActionKeep)
	apply(admin.TopicSpec{Name: topic, Queues: 3, Perm: protocol.PermRead}, admin.ActionChange)
	apply(admin.TopicSpec{Name: topic, Queues: 3, Perm: protocol.PermRead}, admin.ActionKeep)
	route, err := r.a.Route(t.Context(), topic)
	if err != nil || route.Brokers[0].ReadQueues != 3 || route.Brokers[0].Perm != "R--" {
		t.Errorf("route %+v, %v", route, err)
	}
}

func TestGroupIsMadeAndChangedOnAnyCluster(t *testing.T) {
	r := newRig(t)
	group := r.newGroup(t.Context())
	for _, want := range []string{admin.ActionChange, admin.ActionKeep} {
		plan, err := r.a.PlanGroup(t.Context(), admin.GroupSpec{Name: group, Consume: p(false), RetryMax: p(int32(3))})
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range plan.Brokers {
			if b.Action != want {
				t.Errorf("plan %s, want %s: %+v", b.Action, want, b)
			}
		}
		if result, err := r.a.ApplyGroup(t.Context(), plan); err != nil || result.Partial {
			t.Fatalf("applied %+v, %v", result, err)
		}
	}
	list, err := r.a.Groups(t.Context(), admin.GroupOptions{Regex: mustRegexp("^" + group + "$")})
	if err != nil || len(list.Groups) != 1 || list.Groups[0].Consume || list.Groups[0].RetryMax != 3 || list.Groups[0].RetryQueues != 1 {
		t.Errorf("groups %+v, %v", list, err)
	}
}

func TestC08_CommitBeyondTheEndOnAnyCluster(t *testing.T) {
	r := newRig(t)
	topic, group := r.Topic(2), r.newGroup(t.Context())
	mqs := r.queues(topic)
	r.fill(mqs[0], 2)
	r.fill(mqs[1], 3)
	r.commit(group, mqs[0], 500)
	r.commit(group, mqs[1], 0)
	rep, err := r.a.Lag(t.Context(), group, admin.LagOptions{Topics: []string{topic}})
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(lags(rep)[:2], ", ")
	if want := topic + "/" + mqs[0].BrokerName + "/0 500 0..2 0 AHEAD, " + topic + "/" + mqs[1].BrokerName + "/1 0 0..3 3 UNOWNED"; got != want || text(rep.Lag) != "3" {
		t.Errorf("got %s, want %s", got, want)
	}
}
