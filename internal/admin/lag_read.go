package admin

import (
	"context"
	"errors"
	"maps"
	"slices"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// groupView is what brokers tell of a group as a whole.
type groupView struct {
	topics  []string // to look at
	asked   bool     // topics are those that the user named
	known   bool     // the group has a member or an offset somewhere
	filters map[string]string
	model   string
	members *int
	failed  failures
	retry   string // the group's retry topic when it is in topics only because it may exist
}

// brokerView is one broker's part of a groupView.
type brokerView struct {
	conns   *protocol.ConsumerConnection // nil when nobody is online there
	topics  []string                     // with offsets there
	connErr error
	err     error
}

// viewGroup finds a group's members (203) and topics: those subscribed to and those with offsets (208). Where topics are
// named, that one may not see the members is no failure.
func (a *Admin) viewGroup(ctx context.Context, group string, topics []string) (*groupView, error) {
	view := &groupView{asked: len(topics) > 0, filters: map[string]string{}}
	step, cancel := half(ctx)
	defer cancel()
	list, err := a.brokers(step)
	if err != nil && !(view.asked && isRefusal(err)) {
		return nil, err
	}
	parts := make([]brokerView, len(list))
	spread(0, list, func(i int, b *broker) { parts[i] = a.viewGroupAt(step, b, group, !view.asked) })
	found := view.merge(parts)
	if view.asked {
		view.topics = topics
		return view, nil
	}
	view.retry = protocol.RetryTopic(group)
	found[view.retry] = true
	view.topics = slices.Sorted(maps.Keys(found))
	return view, nil
}

func (a *Admin) viewGroupAt(ctx context.Context, b *broker, group string, withTopics bool) brokerView {
	var v brokerView
	v.conns, v.connErr = a.connections(ctx, b, group)
	if withTopics {
		v.topics, v.err = a.topicsWithOffsets(ctx, b, group)
	}
	return v
}

// connections is a group's members at one broker (203), nil when there is none.
func (a *Admin) connections(ctx context.Context, b *broker, group string) (*protocol.ConsumerConnection, error) {
	resp, err := a.ask(ctx, b, &protocol.GetConsumerConnectionListRequest{ConsumerGroup: group}, nil, nil)
	if isCode(err, protocol.CodeConsumerNotOnline) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conns, err := protocol.DecodeConsumerConnection(resp.Body)
	if err != nil {
		return nil, b.malformed(protocol.GetConsumerConnectionList, err)
	}
	return conns, nil
}

// topicsWithOffsets is the topics in which a group has offsets at one broker. While members are online, the broker leaves
// out topics that none of them subscribes to: what was left there is no lag.
func (a *Admin) topicsWithOffsets(ctx context.Context, b *broker, group string) ([]string, error) {
	resp, err := a.ask(ctx, b, &protocol.GetConsumeStatsRequest{ConsumerGroup: group}, nil, nil)
	if err != nil {
		return nil, err
	}
	table, err := protocol.DecodeConsumeStats(resp.Body)
	if err != nil {
		return nil, b.malformed(protocol.GetConsumeStats, err)
	}
	set := map[string]bool{}
	for mq := range table.OffsetTable {
		set[mq.Topic] = true
	}
	return slices.Collect(maps.Keys(set)), nil
}

// merge adds up what the brokers said and returns the topics that they named.
func (v *groupView) merge(parts []brokerView) map[string]bool {
	topics, clients := map[string]bool{}, map[string]bool{}
	silent := len(parts) == 0
	for _, p := range parts {
		if p.connErr != nil && !(v.asked && isRefusal(p.connErr)) {
			v.failed.add(p.connErr)
		}
		if p.err != nil {
			v.failed.add(p.err)
		}
		silent = silent || p.connErr != nil
		for _, t := range p.topics {
			topics[t], v.known = true, true
		}
		if p.conns == nil {
			continue
		}
		v.known = true
		v.model = string(p.conns.MessageModel)
		for _, c := range p.conns.ConnectionSet {
			clients[c.ClientID] = true
		}
		for topic, sub := range p.conns.SubscriptionTable {
			topics[topic] = true
			if sub.SubString != protocol.SubscribeAll {
				v.filters[topic] = sub.SubString
			}
		}
	}
	if n := len(clients); n > 0 || !silent { // that nobody is online takes every broker to say
		v.members = &n
	}
	return topics
}

// lagRoutes asks for the routes of all topics of view. Topics without one are rows, unless they may be missing.
func (a *Admin) lagRoutes(ctx context.Context, view *groupView) ([]*client.TopicRoute, []lagRow, error) {
	step, cancel := half(ctx)
	defer cancel()
	routes := make([]*client.TopicRoute, len(view.topics))
	errs := make([]error, len(view.topics))
	spread(perNameServer, view.topics, func(i int, topic string) { routes[i], errs[i] = a.fetchRoute(step, topic) })
	var found []*client.TopicRoute
	var rows []lagRow
	for i, topic := range view.topics {
		missing := errors.Is(errs[i], client.ErrTopicNotFound)
		switch {
		case errs[i] == nil:
			found = append(found, routes[i])
		case missing && topic == view.retry: // it is made with the group's first member
		case view.asked && (missing || errors.Is(errs[i], client.ErrInvalidName)):
			return nil, nil, errs[i]
		default:
			rows = append(rows, lagRow{topic: topic, queueRange: queueRange{err: errs[i]}})
		}
	}
	if len(found) == 0 && len(rows) > 0 && view.asked {
		return nil, nil, rows[0].err
	}
	return found, rows, nil
}

// measure reads commits and then ranges of every queue, at all brokers side by side.
func (a *Admin) measure(ctx context.Context, group string, routes []*client.TopicRoute) []lagRow {
	var queues []protocol.MessageQueue
	addrs := map[string]map[int64]string{}
	for _, r := range routes {
		queues = append(queues, readQueues(r)...)
		maps.Copy(addrs, r.Brokers)
	}
	byBroker := queuesByBroker(queues)
	parts := make([][]lagRow, len(byBroker))
	spread(0, byBroker, func(i int, mqs []protocol.MessageQueue) {
		b := reader(mqs[0].BrokerName, addrs[mqs[0].BrokerName])
		commits := a.commits(ctx, b, group, mqs)
		for j, r := range a.ranges(ctx, b, mqs) {
			parts[i] = append(parts[i], lagRow{
				topic: mqs[j].Topic, broker: b.name, queueID: &mqs[j].QueueID, commit: commits[j], queueRange: r, note: b.note(),
			})
		}
	})
	return slices.Concat(parts...)
}
