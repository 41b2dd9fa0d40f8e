package admin_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
)

// newGroup creates a group with defaults everywhere.
func (r *rig) newGroup(ctx context.Context) string {
	r.t.Helper()
	group := r.Group()
	plan, err := r.a.PlanGroup(ctx, admin.GroupSpec{Name: group})
	if err != nil {
		r.t.Fatal(err)
	}
	if _, err := r.a.ApplyGroup(ctx, plan); err != nil {
		r.t.Fatal(err)
	}
	return group
}

func TestGroupExistsCreatesNothing(t *testing.T) {
	r := newRig(t)
	group := r.Group()
	for range 2 {
		if exists, err := r.a.GroupExists(t.Context(), group); exists || err != nil {
			t.Fatalf("a group that nobody made: %v, %v", exists, err)
		}
	}
	made := r.newGroup(t.Context())
	if exists, err := r.a.GroupExists(t.Context(), made); !exists || err != nil {
		t.Errorf("a group that was made: %v, %v", exists, err)
	}
	list, err := r.a.Groups(t.Context(), admin.GroupOptions{Regex: mustRegexp("^" + made + "$")})
	if err != nil || list.Partial || len(list.Groups) != 1 {
		t.Fatalf("groups %+v, %v", list, err)
	}
	if g := list.Groups[0]; !g.Consume || g.RetryMax != 16 || g.RetryQueues != 1 || len(g.Brokers) == 0 || g.Note != "" {
		t.Errorf("a group with defaults: %+v", g)
	}
}

func TestGroupExistsWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		group := r.newGroup(t.Context())
		r.hang("broker-b")
		if exists, err := r.a.GroupExists(within(t, 2*time.Second), group); !exists || err != nil {
			t.Errorf("one broker has it: %v, %v", exists, err)
		}
		_, err := r.a.GroupExists(within(t, 2*time.Second), "other")
		oneLine(t, err)
		if !errors.Is(err, remoting.ErrTimeout) {
			t.Errorf("no broker that answered has it: %v", err)
		}
		list, err := r.a.Groups(within(t, 2*time.Second), admin.GroupOptions{})
		if err != nil || !list.Partial || len(list.Groups) != 1 || len(list.Failures) != 1 {
			t.Errorf("the list: %+v, %v", list, err)
		}
		r.hang("broker-a")
		if _, err := r.a.Groups(within(t, 2*time.Second), admin.GroupOptions{}); !errors.Is(err, remoting.ErrTimeout) {
			t.Errorf("no broker answers: %v", err)
		}
	})
}

func TestGroupsInPages(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		const total, size = 7, 3
		r.Sandbox().On(protocol.GetAllSubscriptionGroupConfig, func(ctl *sandbox.Control) {
			var h protocol.GetAllSubscriptionGroupConfigRequest
			if err := ctl.Header(&h); err != nil {
				t.Error(err)
			}
			from := 0
			if h.GroupSeq != nil {
				from = int(*h.GroupSeq)
			}
			ctl.ReplyWith(func(req *protocol.Command) *protocol.Command {
				var parts []string
				for i := from; i < min(from+size, total); i++ {
					parts = append(parts, fmt.Sprintf(`"g%d":{"groupName":"g%d"}`, i, i))
				}
				n := int32(total)
				return protocol.NewResponse(req, protocol.CodeSuccess, "", &protocol.GetAllSubscriptionGroupConfigResponse{TotalGroupNum: &n},
					[]byte(`{"forbiddenTable":{"g0":{"t":1}},"subscriptionGroupTable":{`+strings.Join(parts, ",")+`}}`))
			})
		})
		list, err := r.a.Groups(t.Context(), admin.GroupOptions{})
		if err != nil || len(list.Groups) != total {
			t.Errorf("%+v, %v", list, err)
		}
		if exists, err := r.a.GroupExists(t.Context(), "g6"); !exists || err != nil {
			t.Errorf("a group of the last page: %v, %v", exists, err)
		}
	})
}

func TestGroupsWithBadBody(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		for _, body := range []string{"", "{", "[]", `{"subscriptionGroupTable":[]}`, "\x00\xff"} {
			r.Sandbox().ClearFaults()
			r.rewrite(protocol.GetAllSubscriptionGroupConfig, func(resp *protocol.Command) { resp.Body = []byte(body) })
			_, err := r.a.GroupExists(t.Context(), "g")
			oneLine(t, err)
			if !errors.Is(err, protocol.ErrBadBody) {
				t.Errorf("body %q: %v", body, err)
			}
		}
		r.Sandbox().ClearFaults()
		r.rewrite(protocol.GetAllSubscriptionGroupConfig, func(resp *protocol.Command) {
			resp.Body = []byte(`{"subscriptionGroupTable":{"bad":{"retryMaxTimes":{}},"good":{}}}`)
		})
		list, err := r.a.Groups(t.Context(), admin.GroupOptions{})
		if err != nil || len(list.Groups) != 2 || list.Groups[0].Note == "" || list.Groups[1].RetryMax != 16 {
			t.Errorf("one group that cannot be read: %+v, %v", list, err)
		}
	})
}

func TestGroupsThatDiffer(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		group := r.newGroup(t.Context())
		plan, err := r.a.PlanGroup(t.Context(), admin.GroupSpec{Name: group, Consume: p(false), Targets: admin.Targets{Brokers: []string{"broker-b"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.a.ApplyGroup(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		list, err := r.a.Groups(t.Context(), admin.GroupOptions{})
		if err != nil || len(list.Groups) != 1 || list.Groups[0].Note != "differs at broker-b" || !list.Groups[0].Consume {
			t.Errorf("%+v, %v", list, err)
		}
		all, err := r.a.Groups(t.Context(), admin.GroupOptions{System: true})
		if err != nil || len(all.Groups) < 2 {
			t.Errorf("with system groups: %+v, %v", all, err)
		}
	})
}

// sentGroups records the bodies of 200 by broker.
func (r *rig) sentGroups() map[string]map[string]json.RawMessage {
	sent := map[string]map[string]json.RawMessage{}
	r.Sandbox().On(protocol.UpdateAndCreateSubscriptionGroup, func(ctl *sandbox.Control) {
		fields := map[string]json.RawMessage{}
		if err := json.Unmarshal(ctl.Request.Body, &fields); err != nil {
			r.t.Errorf("body of a group: %v", err)
		}
		sent[ctl.Broker] = fields
	})
	return sent
}

func TestChangeOfAGroupKeepsWhatIsUnknown(t *testing.T) {
	virtual(t, 1, func(t *testing.T, r *rig) {
		r.rewrite(protocol.GetAllSubscriptionGroupConfig, func(resp *protocol.Command) {
			resp.Ext = nil
			resp.Header = nil
			resp.Body = []byte(`{"subscriptionGroupTable":{"g":{"groupName":"g","attributes":{"priority.factor":"50"},"consumeEnable":true,` +
				`"retryMaxTimes":5,"notYetInvented":{"deep":[1,2.50]},"brokerId":9007199254740993}}}`)
		})
		before := r.Sandbox().Writes()
		plan, err := r.a.PlanGroup(t.Context(), admin.GroupSpec{Name: "g", Consume: p(false), RetryMax: p(int32(5))})
		if err != nil {
			t.Fatal(err)
		}
		if b := plan.Brokers[0]; b.Action != admin.ActionChange || b.Text != "consumeEnable true → false" || r.Sandbox().Writes() != before {
			t.Fatalf("plan %+v", b)
		}
		sent := r.sentGroups()
		result, err := r.a.ApplyGroup(t.Context(), plan)
		if err != nil || result.Partial || !result.Brokers[0].Done {
			t.Fatalf("applied %+v, %v", result, err)
		}
		want := map[string]json.RawMessage{
			"groupName": json.RawMessage(`"g"`), "consumeEnable": json.RawMessage("false"), "retryMaxTimes": json.RawMessage("5"),
			"notYetInvented": json.RawMessage(`{"deep":[1,2.50]}`), "brokerId": json.RawMessage("9007199254740993"),
			"attributes": json.RawMessage("{}"), // brokers refuse names without a sign, and keep what is not named
		}
		if diff := cmp.Diff(want, sent["broker-a"]); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCreateGroup(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		spec := admin.GroupSpec{Name: "g", RetryMax: p(int32(3)), RetryQueues: p(int32(2)), Orderly: p(true), Broadcast: p(false)}
		before := r.Sandbox().Writes()
		plan, err := r.a.PlanGroup(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		if plan.Writes() != 2 || plan.Brokers[1].Action != admin.ActionCreate || r.Sandbox().Writes() != before {
			t.Fatalf("plan %+v", plan)
		}
		if _, err := r.a.ApplyGroup(t.Context(), plan); err != nil {
			t.Fatal(err)
		}
		list, err := r.a.Groups(t.Context(), admin.GroupOptions{})
		want := []admin.Group{{Group: "g", Brokers: []string{"broker-a", "broker-b"}, Consume: true, Orderly: true, RetryMax: 3, RetryQueues: 2}}
		if diff := cmp.Diff(want, list.Groups); diff != "" || err != nil {
			t.Error(diff, err)
		}
		if again, err := r.a.PlanGroup(t.Context(), spec); err != nil || again.Writes() != 0 || again.Brokers[0].Action != admin.ActionKeep {
			t.Errorf("again: %+v, %v", again, err)
		}
	})
}

func TestCreateGroupWhileABrokerIsSilent(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		r.hang("broker-a")
		plan, err := r.a.PlanGroup(within(t, 2*time.Second), admin.GroupSpec{Name: "g"})
		if err != nil || !plan.Partial || plan.Brokers[0].Action != admin.ActionUnknown || plan.Brokers[1].Action != admin.ActionCreate {
			t.Fatalf("plan %+v, %v", plan, err)
		}
		result, err := r.a.ApplyGroup(t.Context(), plan)
		if err != nil || !result.Partial || result.Brokers[0].Done || !result.Brokers[1].Done || !errors.Is(result.Failures[0], remoting.ErrTimeout) {
			t.Errorf("applied %+v, %v", result, err)
		}
		r.hang("broker-b")
		plan, err = r.a.PlanGroup(within(t, 2*time.Second), admin.GroupSpec{Name: "g"})
		if err != nil {
			t.Fatal(err)
		}
		if result, err := r.a.ApplyGroup(t.Context(), plan); !errors.Is(err, remoting.ErrTimeout) || result == nil {
			t.Errorf("nothing known: %+v, %v", result, err)
		}
	})
}

func TestGroupSpecValidate(t *testing.T) {
	var input *admin.InputError
	for name, s := range map[string]admin.GroupSpec{
		"system":       {Name: protocol.ToolsConsumerGroup},
		"retries":      {Name: "g", RetryMax: p(int32(-1))},
		"retry queues": {Name: "g", RetryQueues: p(int32(0))},
	} {
		if err := s.Validate(); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := (admin.GroupSpec{Name: "a b"}).Validate(); !errors.Is(err, client.ErrInvalidName) {
		t.Errorf("blank: %v", err)
	}
	if err := (admin.GroupSpec{Name: "g", RetryMax: p(int32(0)), RetryQueues: p(int32(1))}).Validate(); err != nil {
		t.Errorf("good: %v", err)
	}
}
