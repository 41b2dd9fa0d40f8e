package admin

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// GroupSpec is how a consumer group is to be. What is nil stays as it is at brokers that have the group; a new group has
// Java's defaults, quoted here.
type GroupSpec struct {
	Name        string
	Consume     *bool  // false stops all members; default true
	Broadcast   *bool  // members may consume by broadcasting; default true
	Orderly     *bool  // members consume orderly; default false
	RetryMax    *int32 // deliveries after the first before the dead-letter topic; default 16
	RetryQueues *int32 // queues of the retry topic; default 1
	Targets     Targets
}

// Validate names the first thing that is wrong with s.
func (s GroupSpec) Validate() error {
	if err := client.ValidateGroup(s.Name); err != nil {
		return err
	}
	if protocol.IsSystemGroup(s.Name) {
		return &InputError{What: "group", Input: s.Name, Reason: "brokers and tools keep it for themselves"}
	}
	if s.RetryMax != nil && *s.RetryMax < 0 {
		return &InputError{What: "retries", Input: strconv.Itoa(int(*s.RetryMax)), Reason: "want 0 or more"}
	}
	if s.RetryQueues != nil && (*s.RetryQueues < 1 || *s.RetryQueues > maxQueues) {
		return &InputError{What: "retry queues", Input: strconv.Itoa(int(*s.RetryQueues)),
			Reason: fmt.Sprintf("want 1 to %d: without any, brokers drop what is sent back", maxQueues)}
	}
	return nil
}

// settings is what s asks for, under the names that brokers use.
func (s GroupSpec) settings() []groupSetting {
	var list []groupSetting
	flag := func(key string, v *bool) {
		if v != nil {
			list = append(list, groupSetting{key, strconv.FormatBool(*v)})
		}
	}
	number := func(key string, v *int32) {
		if v != nil {
			list = append(list, groupSetting{key, strconv.Itoa(int(*v))})
		}
	}
	flag("consumeEnable", s.Consume)
	flag("consumeBroadcastEnable", s.Broadcast)
	flag("consumeMessageOrderly", s.Orderly)
	number("retryMaxTimes", s.RetryMax)
	number("retryQueueNums", s.RetryQueues)
	return list
}

// groupSetting is one field of a group's config and the JSON text that it is to have.
type groupSetting struct{ key, value string }

// GroupPlan is what ApplyGroup would do.
type GroupPlan struct {
	Group    string            `json:"group"`
	Brokers  []GroupPlanBroker `json:"brokers"`
	Partial  bool              `json:"partial"` // some broker's state could not be read
	Failures []error           `json:"-"`
}

// GroupPlanBroker is the plan for one broker.
type GroupPlanBroker struct {
	Broker  string   `json:"broker" col:"BROKER"`
	Addr    string   `json:"addr" col:"ADDRESS"`
	Action  string   `json:"action" col:"ACTION"` // create, change, keep or unknown
	Text    string   `json:"-" col:"CHANGES"`
	Changes []Change `json:"changes"`
	Error   string   `json:"error" col:"ERROR"`

	body []byte // of the request
	err  error  // behind Error
}

// Writes is how many brokers the plan writes to.
func (p *GroupPlan) Writes() int {
	n := 0
	for _, b := range p.Brokers {
		if b.Action == ActionCreate || b.Action == ActionChange {
			n++
		}
	}
	return n
}

// PlanGroup compares a group with what is wanted of it, broker by broker. It reads only.
func (a *Admin) PlanGroup(ctx context.Context, s GroupSpec) (*GroupPlan, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	list, err := a.targets(ctx, s.Targets)
	if err != nil {
		return nil, fmt.Errorf("plan group %s: %w", s.Name, err)
	}
	plan := &GroupPlan{Group: s.Name, Brokers: make([]GroupPlanBroker, len(list))}
	spread(0, list, func(i int, b *broker) {
		table, err := a.groupTable(ctx, b)
		if err == nil {
			plan.Brokers[i], err = s.planAt(table[s.Name])
		}
		p := &plan.Brokers[i]
		p.Broker, p.Addr = b.name, b.addr
		if err != nil {
			p.Action, p.Changes, p.Error, p.err = ActionUnknown, []Change{}, err.Error(), err
		}
	})
	var failed failures
	for _, b := range plan.Brokers {
		if b.err != nil {
			failed.add(b.err)
		}
	}
	plan.Failures, plan.Partial = failed.errs, len(failed.errs) > 0
	return plan, nil
}

// planAt is the plan for a broker that has the group as in now; nil stands for no group.
func (s GroupSpec) planAt(now json.RawMessage) (GroupPlanBroker, error) {
	p := GroupPlanBroker{Action: ActionChange, Changes: []Change{}}
	if now == nil {
		config := protocol.NewSubscriptionGroupConfig(s.Name)
		now, p.Action = config.Encode(), ActionCreate
	}
	fields := map[string]json.RawMessage{}
	if err := json.Unmarshal(now, &fields); err != nil {
		return p, fmt.Errorf("group %s: %w: %w", s.Name, protocol.ErrBadBody, err)
	}
	for _, set := range s.settings() {
		from := string(bytes.TrimSpace(fields[set.key]))
		switch {
		case p.Action == ActionCreate:
			p.Changes = append(p.Changes, Change{Setting: set.key, To: set.value})
		case from != set.value:
			p.Changes = append(p.Changes, Change{Setting: set.key, From: from, To: set.value})
		}
		fields[set.key] = json.RawMessage(set.value)
	}
	// Brokers read attributes as changes with + and - before their names; without any, they keep those they have.
	fields["attributes"] = json.RawMessage("{}")
	if p.Action == ActionChange && len(p.Changes) == 0 {
		p.Action = ActionKeep
	}
	p.Text = changeText(p.Changes)
	body, err := json.Marshal(fields)
	if err != nil {
		return p, fmt.Errorf("group %s: %w", s.Name, err)
	}
	p.body = body
	return p, nil
}

// ApplyGroup writes what plan says (200), at all brokers side by side. Brokers whose state the plan does not know are not
// written to. The result is never nil; the error is that of brokers which all refused.
func (a *Admin) ApplyGroup(ctx context.Context, plan *GroupPlan) (*Applied, error) {
	result := write(plan.Group, plan.Brokers, func(p GroupPlanBroker) (Written, error) {
		w := Written{Broker: p.Broker, Addr: p.Addr, Action: p.Action, Done: p.Action == ActionKeep}
		switch p.Action {
		case ActionUnknown:
			return w, fmt.Errorf("left alone, since its state could not be read: %w", p.err)
		case ActionKeep:
			return w, nil
		}
		req := protocol.NewBodyRequest(protocol.UpdateAndCreateSubscriptionGroup, p.body)
		_, err := a.send(ctx, &broker{name: p.Broker, addr: p.Addr}, req, nil)
		w.Done = err == nil
		return w, err
	})
	if err := result.outcome(); err != nil {
		return result, fmt.Errorf("create group %s: %w", plan.Group, err)
	}
	return result, nil
}
