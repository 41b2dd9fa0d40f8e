package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// What a new topic gets when nothing else is said, as from mqadmin updateTopic.
const (
	defaultQueues = 8
	defaultPerm   = protocol.PermRead | protocol.PermWrite
	maxQueues     = 65535 // more is a typing error; brokers set no limit
)

const (
	visiblePoll  = 100 * time.Millisecond
	visibleLimit = 10 * time.Second // without a deadline of the caller; brokers register a new topic at once
)

// TopicSpec is how a topic is to be. What is zero stays as it is at brokers that have the topic.
type TopicSpec struct {
	Name   string
	Queues int           // to read and to write, at each broker; default of a new topic: 8
	Perm   protocol.Perm // default of a new topic: read and write
	Order  *bool         // default of a new topic: false
	// Attributes to set, such as message.type: FIFO; "" removes one. Since 5.0; the broker knows which there are.
	Attributes map[string]string
	Targets    Targets
}

// Validate names the first thing that is wrong with s.
func (s TopicSpec) Validate() error {
	if err := client.ValidateTopic(s.Name); err != nil {
		return err
	}
	if protocol.IsSystemTopic(s.Name) {
		return &InputError{What: "topic", Input: s.Name, Reason: "brokers keep it for themselves"}
	}
	if s.Queues < 0 || s.Queues > maxQueues {
		return &InputError{What: "queues", Input: strconv.Itoa(s.Queues), Reason: fmt.Sprintf("want 1 to %d", maxQueues)}
	}
	if s.Perm < 0 || s.Perm&^defaultPerm != 0 {
		return &InputError{What: "permission", Input: strconv.Itoa(int(s.Perm)), Reason: "want 2 (write), 4 (read) or 6 (both)"}
	}
	for key, value := range s.Attributes {
		if key == "" || key[0] == '-' || strings.ContainsAny(key, "+=,") || strings.ContainsAny(value, "=,") {
			return &InputError{What: "attribute", Input: key + "=" + value, Reason: "want NAME=VALUE without commas"}
		}
	}
	return nil
}

// TopicPlan is what ApplyTopic would do.
type TopicPlan struct {
	Topic    string            `json:"topic"`
	Brokers  []TopicPlanBroker `json:"brokers"`
	Partial  bool              `json:"partial"` // some broker's state could not be read
	Failures []error           `json:"-"`
}

// TopicPlanBroker is the plan for one broker.
type TopicPlanBroker struct {
	Broker  string   `json:"broker" col:"BROKER"`
	Addr    string   `json:"addr" col:"ADDRESS"`
	Action  string   `json:"action" col:"ACTION"` // create, change, keep or unknown
	Text    string   `json:"-" col:"CHANGES"`
	Changes []Change `json:"changes"`
	Note    string   `json:"note" col:"NOTE"`
	Error   string   `json:"error" col:"ERROR"`

	request protocol.UpdateAndCreateTopicRequest
	err     error // behind Error
}

// Writes is how many brokers the plan writes to.
func (p *TopicPlan) Writes() int {
	n := 0
	for _, b := range p.Brokers {
		if b.Action == ActionCreate || b.Action == ActionChange {
			n++
		}
	}
	return n
}

// PlanTopic compares a topic with what is wanted of it, broker by broker. It reads only.
func (a *Admin) PlanTopic(ctx context.Context, s TopicSpec) (*TopicPlan, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	list, err := a.targets(ctx, s.Targets)
	if err != nil {
		return nil, fmt.Errorf("plan topic %s: %w", s.Name, err)
	}
	plan := &TopicPlan{Topic: s.Name, Brokers: make([]TopicPlanBroker, len(list))}
	errs := make([]error, len(list))
	spread(0, list, func(i int, b *broker) {
		var now *protocol.TopicConfig
		now, errs[i] = a.topicConfig(ctx, b, s.Name)
		plan.Brokers[i] = s.planAt(b, now)
		if errs[i] != nil {
			plan.Brokers[i] = TopicPlanBroker{
				Broker: b.name, Addr: b.addr, Action: ActionUnknown, Changes: []Change{}, Error: errs[i].Error(), err: errs[i],
			}
		}
	})
	var failed failures
	for _, err := range errs {
		if err != nil {
			failed.add(err)
		}
	}
	plan.Failures, plan.Partial = failed.errs, len(failed.errs) > 0
	return plan, nil
}

// topicConfig is a topic at one broker, nil when the broker does not have it.
func (a *Admin) topicConfig(ctx context.Context, b *broker, topic string) (*protocol.TopicConfig, error) {
	resp, err := a.ask(ctx, b, &protocol.GetTopicConfigRequest{Topic: topic}, nil, nil)
	switch {
	case err == nil:
		c, err := protocol.DecodeTopicConfig(resp.Body)
		if err != nil {
			return nil, b.malformed(protocol.GetTopicConfig, err)
		}
		return c, nil
	case isCode(err, protocol.CodeTopicNotExist):
		return nil, nil
	case !isCode(err, protocol.CodeRequestCodeNotSupported):
		return nil, err
	}
	return a.topicConfigOf4(ctx, b, topic)
}

// topicConfigOf4 searches all topics of a broker, since brokers before 5.0 cannot be asked for one.
func (a *Admin) topicConfigOf4(ctx context.Context, b *broker, topic string) (*protocol.TopicConfig, error) {
	resp, err := a.ask(ctx, b, &protocol.GetAllTopicConfigRequest{}, nil, nil)
	if err != nil {
		return nil, err
	}
	all, err := protocol.DecodeAllTopicConfig(resp.Body)
	if err != nil {
		return nil, b.malformed(protocol.GetAllTopicConfig, err)
	}
	if c, ok := all.TopicConfigTable[topic]; ok {
		return &c, nil
	}
	return nil, nil
}

// planAt is the plan for one broker, where the topic is now as it is; nil stands for no topic.
func (s TopicSpec) planAt(b *broker, now *protocol.TopicConfig) TopicPlanBroker {
	p := TopicPlanBroker{Broker: b.name, Addr: b.addr, Action: ActionChange, Changes: []Change{}}
	create := now == nil
	if create {
		p.Action = ActionCreate
		now = &protocol.TopicConfig{ReadQueueNums: defaultQueues, WriteQueueNums: defaultQueues, Perm: defaultPerm}
	}
	want := *now
	if s.Queues > 0 {
		want.ReadQueueNums, want.WriteQueueNums = int32(s.Queues), int32(s.Queues)
	}
	if s.Perm != 0 {
		want.Perm = s.Perm
	}
	if s.Order != nil {
		want.Order = *s.Order
	}
	p.compare("read queues", create, strconv.Itoa(int(now.ReadQueueNums)), strconv.Itoa(int(want.ReadQueueNums)))
	p.compare("write queues", create, strconv.Itoa(int(now.WriteQueueNums)), strconv.Itoa(int(want.WriteQueueNums)))
	p.compare("perm", create, now.Perm.String(), want.Perm.String())
	p.compare("order", create, strconv.FormatBool(now.Order), strconv.FormatBool(want.Order))
	attributes := p.compareAttributes(now.Attributes, s.Attributes)
	if !create && want.ReadQueueNums < now.ReadQueueNums {
		p.Note = fmt.Sprintf("what is unread in queues %d to %d cannot be read any more", want.ReadQueueNums, now.ReadQueueNums-1)
	}
	if !create && len(p.Changes) == 0 {
		p.Action = ActionKeep
	}
	p.Text = changeText(p.Changes)
	p.request = protocol.UpdateAndCreateTopicRequest{
		Topic: s.Name, DefaultTopic: protocol.AutoCreateTopic, ReadQueueNums: want.ReadQueueNums, WriteQueueNums: want.WriteQueueNums,
		Perm: want.Perm, TopicFilterType: protocol.TopicFilterSingleTag, TopicSysFlag: now.TopicSysFlag, Order: want.Order, Attributes: attributes,
	}
	return p
}

func (p *TopicPlanBroker) compare(setting string, create bool, from, to string) {
	switch {
	case create:
		p.Changes = append(p.Changes, Change{Setting: setting, To: to})
	case from != to:
		p.Changes = append(p.Changes, Change{Setting: setting, From: from, To: to})
	}
}

// compareAttributes notes the attributes that differ and returns them in the form of the request, "+key=value,-key".
func (p *TopicPlanBroker) compareAttributes(now, want map[string]string) string {
	var parts []string
	for _, key := range slices.Sorted(maps.Keys(want)) {
		from, to := now[key], want[key]
		switch {
		case from == to: // as it should be, or not there to remove
			continue
		case to == "":
			parts = append(parts, "-"+key)
		default:
			parts = append(parts, "+"+key+"="+to)
		}
		p.Changes = append(p.Changes, Change{Setting: key, From: from, To: to})
	}
	return strings.Join(parts, ",")
}

// ApplyTopic writes what plan says (17), at all brokers side by side, and waits until the name server shows it: at most
// as long as ctx allows, 10 s without a deadline. Brokers whose state the plan does not know are not written to. The
// result is never nil; the error is that of brokers which all refused, or ErrNotVisible.
func (a *Admin) ApplyTopic(ctx context.Context, plan *TopicPlan) (*Applied, error) {
	result := write(plan.Topic, plan.Brokers, func(p TopicPlanBroker) (Written, error) {
		w := Written{Broker: p.Broker, Addr: p.Addr, Action: p.Action, Done: p.Action == ActionKeep}
		switch p.Action {
		case ActionUnknown:
			return w, fmt.Errorf("left alone, since its state could not be read: %w", p.err)
		case ActionKeep:
			return w, nil
		}
		err := a.writeTopic(ctx, &broker{name: p.Broker, addr: p.Addr}, p)
		w.Done = err == nil
		return w, err
	})
	if err := result.outcome(); err != nil {
		return result, fmt.Errorf("create topic %s: %w", plan.Topic, err)
	}
	return result, a.awaitTopic(ctx, plan, result)
}

// writeTopic sends what p wants and reads it back: brokers before 5.0 answer success and leave order as it is.
func (a *Admin) writeTopic(ctx context.Context, b *broker, p TopicPlanBroker) error {
	if _, err := a.ask(ctx, b, &p.request, nil, nil); err != nil {
		return err
	}
	now, err := a.topicConfig(ctx, b, p.request.Topic)
	switch {
	case err != nil:
		return fmt.Errorf("stored, but not read back: %w", err)
	case now == nil:
		return fmt.Errorf("broker %s: %w, though it took it", b.name, client.ErrTopicNotFound)
	}
	kept := TopicPlanBroker{}
	kept.compare("read queues", false, strconv.Itoa(int(p.request.ReadQueueNums)), strconv.Itoa(int(now.ReadQueueNums)))
	kept.compare("write queues", false, strconv.Itoa(int(p.request.WriteQueueNums)), strconv.Itoa(int(now.WriteQueueNums)))
	kept.compare("perm", false, p.request.Perm.String(), now.Perm.String())
	kept.compare("order", false, strconv.FormatBool(p.request.Order), strconv.FormatBool(now.Order))
	if len(kept.Changes) > 0 {
		return fmt.Errorf("broker %s: %w: %s", b.name, ErrNotTaken, changeText(kept.Changes))
	}
	return nil
}

// awaitTopic asks for the route until it is as the plan wants it at every broker that took it.
func (a *Admin) awaitTopic(ctx context.Context, plan *TopicPlan, result *Applied) error {
	if _, ok := ctx.Deadline(); !ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, visibleLimit)
		defer cancel()
	}
	tick := time.NewTicker(visiblePoll)
	defer tick.Stop()
	var last error
	for {
		route, err := a.fetchRoute(ctx, plan.Topic)
		if err == nil && plan.shownBy(route, result) {
			return nil
		}
		if ctx.Err() == nil || last == nil { // the end of ctx itself explains nothing
			last = err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if last != nil {
				return fmt.Errorf("topic %s is stored, but %w: %w", plan.Topic, ErrNotVisible, last)
			}
			return fmt.Errorf("topic %s is stored, but %w", plan.Topic, ErrNotVisible)
		}
	}
}

func (p *TopicPlan) shownBy(route *client.TopicRoute, result *Applied) bool {
	shown := map[string]protocol.QueueData{}
	for _, q := range queueDatas(route) {
		shown[q.BrokerName] = q
	}
	for i, b := range p.Brokers {
		q, ok := shown[b.Broker]
		if !result.Brokers[i].Done {
			continue
		}
		if !ok || q.ReadQueueNums != b.request.ReadQueueNums || q.WriteQueueNums != b.request.WriteQueueNums || q.Perm != b.request.Perm {
			return false
		}
	}
	return true
}
