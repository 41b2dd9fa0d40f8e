package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// PushConsumer is a member of a group whose handler is called with what the broker has, Java's
// DefaultMQPushConsumerImpl.
type PushConsumer struct {
	*puller
	table         *queueTable
	subscriptions atomic.Pointer[subscriptionSet]
	retries       localRetries
	workers       loops // everything that Close waits for with a limit
	poolMu        sync.Mutex
	pool          []context.CancelFunc // one per consume worker; guarded by poolMu
	owed          []error              // what Close has to tell about revoked queues; guarded by poolMu
	status        consumeStatus
	started       time.Time
	stopHandlers  context.CancelFunc // ends the context of running handlers
	handlerCtx    context.Context

	shared      atomic.Bool   // the group has other members
	confirmed   atomic.Int64  // ms since the epoch: when the saved offsets were last looked at
	direct      chan struct{} // holds a token for each direct consumption that runs; full once the consumer closes
	rebalancing chan struct{} // capacity 1: whoever puts a token in may change what is owned
	closing     atomic.Bool
	closed      chan struct{} // closed when Close has finished
	closeErr    error
}

// StartPushConsumer joins the group and begins to consume. The client must be started. A topic without a route, a
// broker that cannot be reached and a refused subscription are errors; nothing is left behind then.
func (c *Client) StartPushConsumer(ctx context.Context, cfg ConsumerConfig) (*PushConsumer, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("consumer configuration: %w", err)
	}
	p := &PushConsumer{
		table: newQueueTable(), closed: make(chan struct{}),
		retries: newLocalRetries(), rebalancing: make(chan struct{}, 1), direct: make(chan struct{}, directAtOnce),
	}
	p.puller = &puller{client: c, group: cfg.Group, cfg: cfg, ready: newReadyList(), subscription: p.subscriptionOf}
	p.store = &remoteOffsets{client: c, group: cfg.Group, strict: cfg.From.Where != FromLastJava}
	if cfg.Model == protocol.Broadcasting {
		store, err := openLocalOffsets(cfg.LocalOffsets, c.cfg.InstanceName, cfg.Group, c.log)
		if err != nil {
			return nil, fmt.Errorf("consumer of %s: %w", cfg.Group, err)
		}
		p.store = store
	}
	if err := p.parseSubscriptions(time.Now()); err != nil {
		return nil, err
	}
	p.rebalancing <- struct{}{} // nothing is assigned before run, although heartbeats tell of the group from now on
	if err := c.register(p); err != nil {
		return nil, err
	}
	if err := p.join(ctx); err != nil {
		p.abandon(ctx)
		return nil, fmt.Errorf("consumer of %s: %w", cfg.Group, err)
	}
	p.run()
	return p, nil
}

// join asks for the routes and makes the group known to the brokers.
func (p *PushConsumer) join(ctx context.Context) error {
	for _, topic := range p.topics() {
		if _, err := p.client.FetchRoute(ctx, topic); err != nil && !protocol.IsRetryTopic(topic) {
			return err
		}
	}
	for topic, s := range *p.subscriptions.Load() {
		if !s.IsTag() {
			if err := p.client.checkFilter(ctx, p.group, topic, s); err != nil {
				return err
			}
		}
	}
	if err := p.client.sendHeartbeats(ctx); err != nil {
		return err
	}
	if p.cfg.Model == protocol.Clustering { // the heartbeat has created it: known now, the first retry does not wait for a refresh
		if _, err := p.client.FetchRoute(ctx, protocol.RetryTopic(p.cfg.Group)); err != nil {
			p.client.log.Debug("no retry topic yet", "group", p.cfg.Group, "err", err)
		}
	}
	return nil
}

// abandon ends a start that has failed. A Close of the client may wait for it already.
func (p *PushConsumer) abandon(ctx context.Context) {
	p.client.unregister(p)
	p.client.unregisterGroup(ctx, p.cfg.Group, "")
	p.handlerCtx, p.stopHandlers = context.WithCancel(p.client.ctx)
	p.stopHandlers()
	first := p.closing.CompareAndSwap(false, true)
	<-p.rebalancing
	if first {
		close(p.closed)
	}
}

func (p *PushConsumer) run() {
	p.handlerCtx, p.stopHandlers = context.WithCancel(p.client.ctx)
	p.started = time.Now()
	p.sampleStatus(p.started)
	if err := p.SetWorkers(p.cfg.Workers); err != nil {
		panic(err) // Validate has let it pass
	}
	p.workers.Go(func() { p.retries.loop(p.handlerCtx, p.again) })
	if p.cfg.Orderly {
		p.client.loops.Go(p.lockLoop)
	} else {
		p.client.loops.Go(p.timeoutLoop)
	}
	<-p.rebalancing
	wake(p.client.wakeRebalance)
}

func (p *PushConsumer) groupName() string { return p.cfg.Group }

func (p *PushConsumer) heartbeatData() protocol.ConsumerData {
	d := protocol.ConsumerData{
		GroupName: p.cfg.Group, ConsumeType: protocol.ConsumePassively, MessageModel: p.cfg.Model,
		ConsumeFromWhere: p.cfg.From.Where.wireName(),
	}
	set := *p.subscriptions.Load()
	for _, t := range set.topics() {
		d.SubscriptionDataSet = append(d.SubscriptionDataSet, *set[t])
	}
	return d
}

// sampleStatus notes the counters of each topic, for rates.
func (p *PushConsumer) sampleStatus(now time.Time) {
	topics := map[string]topicCounts{}
	for _, q := range p.table.all() {
		c := topics[q.mq.Topic]
		c.add(q)
		topics[q.mq.Topic] = c
	}
	p.status.sample(now, topics)
}

// persist saves every offset that has moved, side by side.
func (p *PushConsumer) persist(ctx context.Context) error {
	now := time.Now()
	p.sampleStatus(now)
	save := (*assignedQueue).saveProgress
	if last := p.confirmed.Load(); p.closing.Load() || now.Sub(time.UnixMilli(last)) >= confirmInterval {
		save = (*assignedQueue).confirmProgress
		p.confirmed.Store(now.UnixMilli())
	}
	var g errgroup.Group
	g.SetLimit(persistParallel)
	errs := make([]error, 0)
	var mu sync.Mutex
	for _, q := range p.table.all() {
		e := q.epoch.Load()
		if e == nil {
			continue
		}
		g.Go(func() error {
			if err := q.within(ctx, e, save); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs: all of them are wanted, not the first
	return errors.Join(append(errs, p.store.flush())...)
}

// persistParallel bounds the offset saves under way at once.
const persistParallel = 64

// confirmInterval is how often it is looked whether brokers still have the offsets that they were given.
const confirmInterval = 30 * time.Second

// Close leaves the group: pulls stop, running handlers finish (within DrainTimeout), offsets are saved with an answer,
// queues are given up and the brokers are told. The error lists what could not be finished or saved within ctx. Close
// again waits for the first and returns what it did.
func (p *PushConsumer) Close(ctx context.Context) error {
	if p.closing.CompareAndSwap(false, true) {
		p.rebalancing <- struct{}{} // a rebalance under way finishes first: it must not assign behind our back
		p.closeErr = p.leave(ctx)
		close(p.closed)
		return p.closeErr
	}
	select {
	case <-p.closed:
		return p.closeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// owe remembers that a queue was given up unsaved while Close was waiting: Close has to tell.
func (p *PushConsumer) owe(err error) {
	p.poolMu.Lock()
	defer p.poolMu.Unlock()
	if p.closing.Load() {
		p.owed = append(p.owed, fmt.Errorf("consumer of %s: offset of a revoked queue not saved: %w", p.cfg.Group, err))
	}
}

func (p *PushConsumer) owing() []error {
	p.poolMu.Lock()
	defer p.poolMu.Unlock()
	return p.owed
}

func (p *PushConsumer) leave(ctx context.Context) error {
	queues := p.table.all()
	var g errgroup.Group
	for _, q := range queues {
		g.Go(func() error { q.halt(); return nil })
	}
	_ = g.Wait()
	var errs []error
	p.ready.close()
	p.retries.close()
	drain, cancel := context.WithTimeout(ctx, p.cfg.DrainTimeout)
	p.endDirect(drain)
	if err := p.workers.Wait(drain); err != nil {
		errs = append(errs, fmt.Errorf("consumer of %s: handlers did not finish: %w: %s", p.cfg.Group, err, inHand(queues)))
	}
	cancel()
	for _, q := range queues {
		q.drop() // a handler that returns only now is too late: its messages are the next owner's
	}
	p.stopHandlers()
	if err := p.persist(ctx); err != nil {
		errs = append(errs, fmt.Errorf("consumer of %s: offsets not saved: %w", p.cfg.Group, err))
	}
	for _, q := range queues {
		p.table.remove(q)
	}
	if p.cfg.Orderly {
		p.unlock(ctx, queues)
	}
	p.client.unregister(p)
	p.client.unregisterGroup(ctx, p.cfg.Group, "")
	return errors.Join(append(errs, p.owing()...)...)
}

// inHand lists the messages that handlers have not finished, by queue.
func inHand(queues []*assignedQueue) string {
	var parts []string
	for _, q := range queues {
		e := q.epoch.Load()
		if e == nil {
			continue
		}
		if held := e.pq.HandedOut(); len(held) > 0 {
			parts = append(parts, fmt.Sprintf("%s not committed from %d on (%d being handled)", q.mq, held[0].QueueOffset, len(held)))
		}
	}
	return strings.Join(parts, "; ")
}

func (p *PushConsumer) snapshot(now time.Time) stats.Consumer {
	s := stats.Consumer{
		Group: p.cfg.Group, Mode: "push", Model: string(p.cfg.Model), Orderly: p.cfg.Orderly, Workers: p.Workers(),
		Queues: []stats.Queue{},
	}
	for _, q := range p.table.all() {
		s.Add(q.snapshot(now))
	}
	return s
}

// Queues is the queues owned now.
func (p *PushConsumer) Queues() []protocol.MessageQueue { return queuesOf(p.table.all()) }
