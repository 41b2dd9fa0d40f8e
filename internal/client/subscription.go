package client

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// subscriptionSet is what a consumer subscribes to, by topic; it is replaced as a whole.
type subscriptionSet map[string]*protocol.SubscriptionData

// topics is every subscribed topic, the retry topic last.
func (s subscriptionSet) topics() []string {
	return slices.SortedFunc(maps.Keys(s), func(a, b string) int {
		if ra, rb := protocol.IsRetryTopic(a), protocol.IsRetryTopic(b); ra != rb {
			return map[bool]int{true: 1, false: -1}[ra]
		}
		return cmp.Compare(a, b)
	})
}

func parseSubscription(s Subscription, now time.Time) (*protocol.SubscriptionData, error) {
	parse := protocol.NewSubscription
	if s.SQL {
		parse = protocol.NewSQLSubscription
	}
	d, err := parse(s.Topic, s.Expression, now)
	return &d, err
}

// parseSubscriptions reads the configured subscriptions and adds the group's retry topic.
func (p *PushConsumer) parseSubscriptions(now time.Time) error {
	wanted := slices.Clone(p.cfg.Subscriptions)
	if p.cfg.Model == protocol.Clustering {
		wanted = append(wanted, Subscription{Topic: protocol.RetryTopic(p.cfg.Group)})
	}
	set := subscriptionSet{}
	for _, s := range wanted {
		d, err := parseSubscription(s, now)
		if err != nil {
			return err
		}
		set[s.Topic] = d
	}
	p.subscriptions.Store(&set)
	return nil
}

// subscriptionOf is the filter of a topic, nil when it is not subscribed any more.
func (p *PushConsumer) subscriptionOf(topic string) *protocol.SubscriptionData {
	return (*p.subscriptions.Load())[topic]
}

func (p *PushConsumer) topics() []string { return p.subscriptions.Load().topics() }

// Subscribe adds a topic, or changes its filter, while the consumer runs; the brokers are told at once. All members of
// the group must subscribe identically.
func (p *PushConsumer) Subscribe(ctx context.Context, s Subscription) error {
	if err := ValidateTopic(s.Topic); err != nil {
		return err
	}
	d, err := parseSubscription(s, time.Now())
	if err != nil {
		return err
	}
	if _, err := p.client.FetchRoute(ctx, s.Topic); err != nil {
		return err
	}
	if s.SQL {
		if err := p.client.checkFilter(ctx, p.group, s.Topic, d); err != nil {
			return err
		}
	}
	return p.changeSubscriptions(ctx, func(set subscriptionSet) { set[s.Topic] = d })
}

// Unsubscribe leaves a topic: its queues are given up, and the brokers are told at once.
func (p *PushConsumer) Unsubscribe(ctx context.Context, topic string) error {
	return p.changeSubscriptions(ctx, func(set subscriptionSet) { delete(set, topic) })
}

func (p *PushConsumer) changeSubscriptions(ctx context.Context, edit func(subscriptionSet)) error {
	for {
		old := p.subscriptions.Load()
		set := maps.Clone(*old)
		edit(set)
		if p.subscriptions.CompareAndSwap(old, &set) {
			break
		}
	}
	err := p.client.sendHeartbeats(ctx)
	wake(p.client.wakeRebalance)
	return err
}

// checkFilter has a broker of the topic judge an expression (request 46): a pull with one that it cannot parse is not
// refused but returns everything.
func (c *Client) checkFilter(ctx context.Context, group, topic string, s *protocol.SubscriptionData) error {
	route, err := c.Route(ctx, topic)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(route.Brokers))
	if len(names) == 0 {
		return fmt.Errorf("filter %q on %s: %w", s.SubString, topic, ErrBrokerNotFound)
	}
	addr, _, err := c.replicaAddr(names[0], masterID)
	if err != nil {
		return err
	}
	checked := *s
	checked.Topic = topic
	body := &protocol.CheckClientConfigBody{ClientID: c.id, Group: group, SubscriptionData: checked}
	if _, err := c.Call(ctx, addr, protocol.NewBodyRequest(protocol.CheckClientConfig, body.Encode())); err != nil {
		return fmt.Errorf("filter %q on %s: %w", s.SubString, topic, err)
	}
	return nil
}
