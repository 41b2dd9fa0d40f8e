package admin_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
)

// planTopic plans and checks that nothing was written.
func (r *rig) planTopic(s admin.TopicSpec) *admin.TopicPlan {
	r.t.Helper()
	before := r.Sandbox().Writes()
	plan, err := r.a.PlanTopic(within(r.t, 5*time.Second), s)
	if err != nil {
		r.t.Fatal(err)
	}
	if after := r.Sandbox().Writes(); after != before {
		r.t.Errorf("planning wrote: %+v", after)
	}
	return plan
}

func actions(plan *admin.TopicPlan) string {
	var list []string
	for _, b := range plan.Brokers {
		list = append(list, strings.TrimSpace(b.Broker+" "+b.Action+" "+b.Text))
	}
	return strings.Join(list, "; ")
}

func TestCreateTopicThenChangeIt(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Name("t")
		plan := r.planTopic(admin.TopicSpec{Name: topic, Attributes: map[string]string{"message.type": "FIFO"}})
		const created = "create read queues 8, write queues 8, perm RW-, order false, message.type FIFO"
		if got, want := actions(plan), "broker-a "+created+"; broker-b "+created; got != want {
			t.Errorf("plan\n%s, want\n%s", got, want)
		}
		result, err := r.a.ApplyTopic(t.Context(), plan)
		if err != nil || result.Partial || len(result.Brokers) != 2 || !result.Brokers[0].Done || !result.Brokers[1].Done {
			t.Fatalf("applied %+v, %v", result, err)
		}
		if route, err := r.a.Route(t.Context(), topic); err != nil || len(route.Brokers) != 2 || route.Brokers[1].ReadQueues != 8 {
			t.Errorf("route %+v, %v", route, err)
		}

		again := r.planTopic(admin.TopicSpec{Name: topic, Queues: 8, Attributes: map[string]string{"message.type": "FIFO", "queue.type": ""}})
		if got := actions(again); got != "broker-a keep; broker-b keep" || again.Writes() != 0 {
			t.Errorf("a topic that is as wanted: %s", got)
		}

		change := r.planTopic(admin.TopicSpec{
			Name: topic, Queues: 2, Perm: protocol.PermRead, Order: p(true), Attributes: map[string]string{"message.type": ""},
			Targets: admin.Targets{Brokers: []string{"broker-b", "broker-b"}},
		})
		if got := actions(change); got != "broker-b change read queues 8 → 2, write queues 8 → 2, perm RW- → R--, order false → true, message.type FIFO removed" {
			t.Errorf("change: %s", got)
		}
		if note := change.Brokers[0].Note; !strings.Contains(note, "queues 2 to 7") {
			t.Errorf("note %q does not name the queues that vanish", note)
		}
		if _, err := r.a.ApplyTopic(t.Context(), change); err != nil {
			t.Fatal(err)
		}
		if got := actions(r.planTopic(admin.TopicSpec{Name: topic, Queues: 2, Perm: protocol.PermRead, Order: p(true)})); !strings.HasPrefix(got, "broker-a change") ||
			!strings.HasSuffix(got, "broker-b keep") {
			t.Errorf("afterwards: %s", got)
		}
	})
}

func TestCreateTopicAt49(t *testing.T) {
	virtualOf(t, sandbox.Options{Version: 393}, func(t *testing.T, r *rig) {
		topic := r.Topic(4)
		if got := actions(r.planTopic(admin.TopicSpec{Name: topic, Queues: 4})); got != "broker-a keep" {
			t.Errorf("an existing topic: %s", got)
		}
		if got := actions(r.planTopic(admin.TopicSpec{Name: r.Name("t")})); !strings.HasPrefix(got, "broker-a create") {
			t.Errorf("a new topic: %s", got)
		}
		if n := r.Sandbox().Counts()[protocol.GetAllTopicConfig]; n != 2 {
			t.Errorf("the list of all topics was asked for %d times, want 2", n)
		}
	})
}

func TestCreateTopicLeavesUnreadBrokersAlone(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		topic := r.Name("t")
		r.Sandbox().On(protocol.GetTopicConfig, func(ctl *sandbox.Control) {
			if ctl.Broker == "broker-b" {
				ctl.Reply(protocol.CodeSystemBusy, "too busy\nSee https://example.invalid for details.")
			}
		})
		plan := r.planTopic(admin.TopicSpec{Name: topic})
		if !plan.Partial || plan.Brokers[1].Action != admin.ActionUnknown || !strings.Contains(plan.Brokers[1].Error, "too busy") {
			t.Fatalf("plan %+v", plan)
		}
		if strings.ContainsAny(plan.Brokers[1].Error, "\n") || len(plan.Failures) != 1 {
			t.Errorf("error %q, failures %v", plan.Brokers[1].Error, plan.Failures)
		}
		result, err := r.a.ApplyTopic(t.Context(), plan)
		if err != nil || !result.Partial || !result.Brokers[0].Done || result.Brokers[1].Done || result.Brokers[1].Error == "" {
			t.Errorf("applied %+v, %v", result, err)
		}
		if code, ok := client.CodeOf(result.Failures[0]); !ok || code != protocol.CodeSystemBusy {
			t.Errorf("failures %v", result.Failures)
		}
		if n := r.Sandbox().Counts()[protocol.UpdateAndCreateTopic]; n != 1 {
			t.Errorf("%d writes, want one", n)
		}
	})
}

func TestCreateTopicRefusedByOneOrAll(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		refuse := "broker-a"
		r.Sandbox().On(protocol.UpdateAndCreateTopic, func(ctl *sandbox.Control) {
			if refuse == "" || ctl.Broker == refuse {
				ctl.Reply(protocol.CodeNoPermission, "no")
			}
		})
		result, err := r.a.ApplyTopic(t.Context(), r.planTopic(admin.TopicSpec{Name: r.Name("t")}))
		if err != nil || !result.Partial || result.Brokers[0].Done || !result.Brokers[1].Done {
			t.Errorf("one refusal: %+v, %v", result, err)
		}
		refuse = ""
		result, err = r.a.ApplyTopic(t.Context(), r.planTopic(admin.TopicSpec{Name: r.Name("t")}))
		oneLine(t, err)
		if code, _ := client.CodeOf(err); code != protocol.CodeNoPermission || result == nil || !result.Partial {
			t.Errorf("refused by all: %+v, %v", result, err)
		}
	})
}

func TestCreateTopicOfWhichABrokerKeepsSomething(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		written := false
		r.Sandbox().On(protocol.UpdateAndCreateTopic, func(*sandbox.Control) { written = true })
		r.Sandbox().On(protocol.GetTopicConfig, func(ctl *sandbox.Control) {
			if written && ctl.Broker == "broker-b" {
				ctl.Rewrite(func(resp *protocol.Command) {
					resp.Body = []byte(strings.Replace(string(resp.Body), `"order":true`, `"order":false`, 1))
				})
			}
		})
		result, err := r.a.ApplyTopic(t.Context(), r.planTopic(admin.TopicSpec{Name: r.Name("t"), Order: p(true)}))
		if err != nil || !result.Partial || !result.Brokers[0].Done || result.Brokers[1].Done {
			t.Fatalf("applied %+v, %v", result, err)
		}
		if !errors.Is(result.Failures[0], admin.ErrNotTaken) || !strings.Contains(result.Brokers[1].Error, "order true → false") {
			t.Errorf("failures %v", result.Failures)
		}
	})
}

func TestCreateTopicNotShownByTheNameServer(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		topic := r.Name("t")
		r.Sandbox().SetUnroutedTopic(topic, true)
		began := time.Now()
		result, err := r.a.ApplyTopic(within(t, 3*time.Second), r.planTopic(admin.TopicSpec{Name: topic}))
		oneLine(t, err)
		if !errors.Is(err, admin.ErrNotVisible) || !result.Brokers[0].Done || time.Since(began) != 3*time.Second {
			t.Errorf("after %v: %+v, %v", time.Since(began), result, err)
		}
		began = time.Now()
		time.AfterFunc(time.Second, func() { r.Sandbox().SetUnroutedTopic(topic, false) })
		if _, err := r.a.ApplyTopic(t.Context(), r.planTopic(admin.TopicSpec{Name: topic})); err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("a topic shown after a second: %v after %v", err, time.Since(began))
		}
	})
}

func TestTopicSpecValidate(t *testing.T) {
	for name, c := range map[string]struct {
		spec admin.TopicSpec
		want string // in the error, "" for none
	}{
		"ok":        {admin.TopicSpec{Name: "t", Queues: 1, Perm: 4, Attributes: map[string]string{"message.type": "FIFO", "a-b": ""}}, ""},
		"no name":   {admin.TopicSpec{}, "empty"},
		"blank":     {admin.TopicSpec{Name: "a b"}, "allowed are"},
		"system":    {admin.TopicSpec{Name: protocol.AutoCreateTopic}, "brokers keep it"},
		"queues":    {admin.TopicSpec{Name: "t", Queues: -1}, "queues"},
		"too many":  {admin.TopicSpec{Name: "t", Queues: 1 << 20}, "65535"},
		"perm":      {admin.TopicSpec{Name: "t", Perm: 8}, "permission"},
		"attribute": {admin.TopicSpec{Name: "t", Attributes: map[string]string{"a": "b,c"}}, "attribute"},
		"sign":      {admin.TopicSpec{Name: "t", Attributes: map[string]string{"+a": "b"}}, "attribute"},
		"minus":     {admin.TopicSpec{Name: "t", Attributes: map[string]string{"-a": "b"}}, "attribute"},
	} {
		err := c.spec.Validate()
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestTargets(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		plan := func(to admin.Targets) error {
			_, err := r.a.PlanTopic(t.Context(), admin.TopicSpec{Name: "t", Targets: to})
			return err
		}
		var input *admin.InputError
		if err := plan(admin.Targets{Cluster: "DefaultCluster"}); err != nil {
			t.Error(err)
		}
		if err := plan(admin.Targets{Cluster: "nowhere"}); !errors.Is(err, admin.ErrClusterNotFound) || !strings.Contains(err.Error(), "DefaultCluster") {
			t.Errorf("unknown cluster: %v", err)
		}
		if err := plan(admin.Targets{Brokers: []string{"broker-x"}}); !errors.Is(err, client.ErrBrokerNotFound) || !strings.Contains(err.Error(), "broker-a, broker-b") {
			t.Errorf("unknown broker: %v", err)
		}
		if err := plan(admin.Targets{Cluster: "DefaultCluster", Brokers: []string{"broker-a"}}); !errors.As(err, &input) {
			t.Errorf("both: %v", err)
		}
		r.rewrite(protocol.GetBrokerClusterInfo, func(resp *protocol.Command) {
			resp.Body = []byte(`{"brokerAddrTable":{"broker-a":{"brokerAddrs":{1:"127.0.0.1:1"},"brokerName":"broker-a","cluster":"one"}},` +
				`"clusterAddrTable":{"one":["broker-a"],"two":[]}}`)
		})
		if err := plan(admin.Targets{}); !errors.As(err, &input) || !strings.Contains(err.Error(), "one, two") {
			t.Errorf("several clusters: %v", err)
		}
		got, err := r.a.PlanTopic(t.Context(), admin.TopicSpec{Name: "t", Targets: admin.Targets{Cluster: "one"}})
		if err != nil || got.Brokers[0].Action != admin.ActionUnknown || !errors.Is(got.Failures[0], client.ErrBrokerNotFound) {
			t.Errorf("a broker without a master: %+v, %v", got, err)
		}
	})
}

func TestPlansInJSON(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		addr := r.Sandbox().BrokerAddr("broker-a")
		want := `{"topic":"t","brokers":[{"broker":"broker-a","addr":"` + addr + `","action":"create","changes":[` +
			`{"setting":"read queues","from":"","to":"3"},{"setting":"write queues","from":"","to":"3"},` +
			`{"setting":"perm","from":"","to":"RW-"},{"setting":"order","from":"","to":"false"}],"note":"","error":""}],"partial":false}`
		if diff := cmp.Diff(want, toJSON(t, r.planTopic(admin.TopicSpec{Name: "t", Queues: 3}))); diff != "" {
			t.Error(diff)
		}
	})
}
