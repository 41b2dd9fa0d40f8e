package client

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
)

// handoverPause is what a queue's last owner has for its last save: it hears of the change when we do, and what it saves
// after we have asked where to begin would be repeated. Orderly queues do not need it, they are locked.
const handoverPause = 300 * time.Millisecond

// unbalancedPause is how soon a rebalance that could not be completed is tried again.
const unbalancedPause = time.Second

// rebalanceLoop divides the queues of every consumer: each RebalanceInterval, when a broker announces a change of
// members, and when a route has changed. Java's RebalanceService.
func (c *Client) rebalanceLoop() {
	wait := c.cfg.RebalanceInterval
	for pause(c.ctx, wait, c.wakeRebalance) {
		wait = c.cfg.RebalanceInterval
		for _, m := range c.consumerList() {
			if !m.rebalance(c.ctx) {
				wait = min(unbalancedPause, c.cfg.RebalanceInterval)
			}
		}
	}
}

// persistWarning is how often a failure to save offsets is logged while it lasts.
const persistWarning = time.Minute

// persistLoop saves the consumers' offsets, every PersistInterval.
func (c *Client) persistLoop() {
	warned := map[string]time.Time{} // by group whose offsets could not be saved the last time
	for pause(c.ctx, c.cfg.PersistInterval, nil) {
		for _, m := range c.consumerList() {
			err := m.persist(c.ctx)
			last, failing := warned[m.groupName()]
			switch now := time.Now(); {
			case c.ctx.Err() != nil:
			case err == nil && failing:
				delete(warned, m.groupName())
				c.log.Info("offsets are saved again", "group", m.groupName())
			case err != nil && now.Sub(last) >= persistWarning:
				warned[m.groupName()] = now
				c.log.Warn("offsets are not saved yet", "group", m.groupName(), "err", err)
			}
		}
	}
}

// members asks one broker of the topic who is in the group, sorted as all members sort. When a broker does not answer
// the next one is asked.
func (c *Client) members(ctx context.Context, group string, route *TopicRoute) ([]string, error) {
	names := []string{}
	for _, mq := range route.Subscribe {
		if !slices.Contains(names, mq.BrokerName) {
			names = append(names, mq.BrokerName)
		}
	}
	rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	err := fmt.Errorf("members of %s: topic %s has no queue to read", group, route.Topic)
	for _, name := range names {
		var ids []string
		if ids, err = c.membersAt(ctx, group, name); err == nil {
			slices.Sort(ids)
			return ids, nil
		}
	}
	return nil, err
}

func (c *Client) membersAt(ctx context.Context, group, broker string) ([]string, error) {
	addr, _, err := c.replicaAddr(broker, masterID)
	if err != nil {
		return nil, err
	}
	resp, err := c.callWithin(ctx, addr, protocol.NewRequest(&protocol.GetConsumerListByGroupRequest{ConsumerGroup: group}, nil))
	if err != nil {
		return nil, fmt.Errorf("members of %s: %w", group, err)
	}
	list, err := protocol.DecodeConsumerList(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("members of %s: answer of %s: %w", group, addr, err)
	}
	return list.ConsumerIDList, nil
}

// rebalance brings the owned queues in line with routes and members; balanced is false when something could not be
// asked and what is owned was kept. Java's RebalanceImpl.doRebalance.
func (p *PushConsumer) rebalance(ctx context.Context) (balanced bool) {
	select {
	case p.rebalancing <- struct{}{}:
	default:
		return p.closing.Load() // a queue is being moved; Close keeps the token for good
	}
	defer func() { <-p.rebalancing }()
	if p.closing.Load() {
		return true
	}
	balanced = true
	topics := p.topics()
	for _, q := range p.table.all() {
		if !slices.Contains(topics, q.mq.Topic) {
			p.applyQueues(ctx, q.mq.Topic, nil) // unsubscribed
		}
	}
	for _, topic := range topics {
		due, ok := p.dueQueues(ctx, topic)
		if !ok {
			balanced = false
			continue
		}
		p.applyQueues(ctx, topic, due)
		p.shareTopicLimits(topic)
	}
	return balanced
}

// dueQueues is what this member should own of a topic now.
func (p *PushConsumer) dueQueues(ctx context.Context, topic string) (due []protocol.MessageQueue, ok bool) {
	route := p.client.routes.topic(topic)
	if route == nil {
		return nil, protocol.IsRetryTopic(topic) // it appears with the first failure, or never
	}
	queues := slices.Clone(route.Subscribe)
	slices.SortFunc(queues, protocol.CompareMessageQueues)
	if p.cfg.Model == protocol.Broadcasting {
		return queues, true
	}
	ids, err := p.client.members(ctx, p.cfg.Group, route)
	if err != nil {
		p.client.log.Debug("rebalance waits: the members are not known", "group", p.cfg.Group, "topic", topic, "err", err)
		wake(p.client.wakeHeartbeat)
		return nil, false
	}
	if !slices.Contains(ids, p.client.id) {
		wake(p.client.wakeHeartbeat) // the broker has not heard of this member yet, or has forgotten it
		return nil, false
	}
	p.shared.Store(len(ids) > 1)
	return p.cfg.Allocate(p.client.id, queues, ids), true
}

// applyQueues gives up what is not due any more and takes over what is.
func (p *PushConsumer) applyQueues(ctx context.Context, topic string, due []protocol.MessageQueue) {
	added, revoked := p.table.diff(topic, due)
	if len(added) == 0 && len(revoked) == 0 {
		return
	}
	p.revoke(ctx, revoked)
	for _, mq := range added {
		p.assign(mq)
	}
	p.client.log.Info("rebalanced", "group", p.cfg.Group, "topic", topic, "owned", len(due), "added", len(added), "revoked", len(revoked))
	if p.cfg.QueueChangeNotify != nil {
		p.cfg.QueueChangeNotify(added, queuesOf(revoked))
	}
}

func queuesOf(list []*assignedQueue) []protocol.MessageQueue {
	mqs := make([]protocol.MessageQueue, len(list))
	for i, q := range list {
		mqs[i] = q.mq
	}
	return mqs
}

func (p *PushConsumer) assign(mq protocol.MessageQueue) {
	q := p.newAssignedQueue(mq)
	p.table.add(q)
	p.startPulling(q, false)
}

// startPulling runs q's pull loop; with begun it goes on with the epoch that q has.
func (p *PushConsumer) startPulling(q *assignedQueue, begun bool) {
	q.startLoop(func(ctx context.Context) {
		if begun {
			q.run(ctx)
		}
		if p.cfg.Orderly {
			p.orderlyPull(ctx, q)
		} else if !begun && (!p.shared.Load() || pause(ctx, handoverPause, nil)) {
			q.pullLoop(ctx, p.cfg.From)
		}
	})
}

// shareTopicLimits divides the limits per topic over the queues owned of it, Java's updatePullThresholds.
func (p *PushConsumer) shareTopicLimits(topic string) {
	if p.cfg.MaxCachedCountTopic < 0 && p.cfg.MaxCachedMiBTopic < 0 {
		return
	}
	owned := slices.DeleteFunc(p.table.all(), func(q *assignedQueue) bool { return q.mq.Topic != topic || q.leaving.Load() })
	for _, q := range owned {
		l := q.ownLimits()
		if p.cfg.MaxCachedCountTopic >= 0 {
			l.count = max(1, p.cfg.MaxCachedCountTopic/int64(len(owned)))
		}
		if p.cfg.MaxCachedMiBTopic >= 0 {
			l.bytes = max(1, p.cfg.MaxCachedMiBTopic/int64(len(owned))) << 20
		}
		q.flow.Store(&l)
		if e := q.epoch.Load(); e != nil {
			e.pq.SetLimits(l)
		}
	}
}

// revoke gives queues up: no more pulls, late results count for nothing, and what is finished is saved before another
// member asks where to begin.
func (p *PushConsumer) revoke(ctx context.Context, queues []*assignedQueue) {
	var g errgroup.Group
	for _, q := range queues {
		q.leaving.Store(true)
		if p.cfg.Orderly {
			p.workers.Go(func() { p.leaveOrderly(p.handlerCtx, q) })
			continue
		}
		g.Go(func() error {
			q.halt()
			p.giveUp(ctx, q)
			p.table.remove(q)
			return nil
		})
	}
	_ = g.Wait()
}

// giveUp makes late results of a halted queue count for nothing and saves what is finished. A failure is logged: the
// queue is given up all the same.
func (p *PushConsumer) giveUp(ctx context.Context, q *assignedQueue) {
	q.drop()
	p.status.retire(q)
	if e := q.epoch.Load(); e != nil {
		if err := q.within(ctx, e, (*assignedQueue).lastSave); err != nil {
			p.client.log.Warn("the offset of a revoked queue is not saved: its next owner repeats messages", "queue", q.mq, "err", err)
			p.owe(err)
		}
	}
}

// saveWithin is saveProgress limited by CallTimeout.
func (q *assignedQueue) saveWithin(ctx context.Context, e *queueEpoch) error {
	return q.within(ctx, e, (*assignedQueue).saveProgress)
}

func (q *assignedQueue) within(ctx context.Context, e *queueEpoch, save func(*assignedQueue, context.Context, *queueEpoch) error) error {
	ctx, cancel := context.WithTimeout(ctx, q.client.cfg.CallTimeout)
	defer cancel()
	return save(q, ctx, e)
}
