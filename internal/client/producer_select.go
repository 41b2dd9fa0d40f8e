package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// sendTopic is what a producer keeps of a topic that it sends to, Java's TopicPublishInfo.
type sendTopic struct {
	name    string
	next    atomic.Uint32 // turns of the round robin, from a random start
	view    atomic.Pointer[sendView]
	fetched atomic.Int64 // when the route was asked for because a send failed, ns since the epoch
}

// sendView is the queues of a topic with what a send needs to know of each. It is immutable and holds for one state of
// the route table.
type sendView struct {
	routes  *routes
	targets []sendTarget
	single  bool // all targets are on one broker
}

// sendTarget is a queue to send to.
type sendTarget struct {
	mq     protocol.MessageQueue
	addr   string // the master's, "" when unknown
	faults *brokerFaults
}

// known is the topic if it was sent to before, with its view if that is still good.
func (p *Producer) known(topic string) (*sendTopic, *sendView) {
	t := (*p.table.Load())[topic]
	if t == nil {
		return nil, nil
	}
	v := t.view.Load()
	if v == nil || v.routes != p.client.routes.current.Load() {
		return t, nil
	}
	return t, v
}

// lookup is known, asking the name servers where necessary. A topic becomes known only when it has queues, so that a
// mistyped one is not asked for ever after.
func (p *Producer) lookup(ctx context.Context, topic string) (*sendTopic, *sendView, error) {
	t, v := p.known(topic)
	if v != nil {
		return t, v, nil
	}
	if t == nil {
		if err := checkSendTopic(topic); err != nil {
			return nil, nil, err
		}
		t = &sendTopic{name: topic}
		t.next.Store(rand.Uint32())
	}
	v, err := p.buildView(ctx, t)
	if err != nil {
		return t, nil, err
	}
	return p.remember(t, v), v, nil
}

// remember publishes a view; another goroutine may have made the topic known meanwhile, then that one is kept.
func (p *Producer) remember(t *sendTopic, v *sendView) *sendTopic {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := *p.table.Load()
	if first := old[t.name]; first != nil {
		t = first
	} else {
		table := maps.Clone(old)
		table[t.name] = t
		p.table.Store(&table)
	}
	t.view.Store(v)
	return t
}

// buildView makes a topic's view from the routes known now, after asking for the topic's route if there is none. An unknown
// topic is asked for again only when some route has changed, which all do every RouteInterval: until then its messages go
// round all brokers, so that it is created on each of them.
func (p *Producer) buildView(ctx context.Context, t *sendTopic) (*sendView, error) {
	route, err := p.client.Route(ctx, t.name)
	if err == nil && len(route.Publish) == 0 {
		route, err = p.client.FetchRoute(ctx, t.name)
	}
	template := false
	if errors.Is(err, ErrTopicNotFound) && p.cfg.AutoCreate {
		template = true
		route, err = p.templateRoute(ctx, t.name)
	}
	state := p.client.routes.current.Load()
	if err != nil {
		if old := t.view.Load(); old != nil { // the name servers do not answer: what was right before may still be
			return p.newView(state, old.queues()), nil
		}
		return nil, err
	}
	if !template {
		if r := state.topics[t.name]; r != nil {
			route = r // not older than state
		}
	}
	if len(route.Publish) == 0 {
		return nil, fmt.Errorf("topic %s: %w: no master is known for it, or it is not writable", t.name, ErrNotWritable)
	}
	return p.newView(state, route.Publish), nil
}

// templateRoute is the route of the template topic as a route of an unknown one: each broker gets as many queues as it
// will create.
func (p *Producer) templateRoute(ctx context.Context, topic string) (*TopicRoute, error) {
	r, err := p.client.Route(ctx, p.cfg.DefaultTopic)
	if err != nil {
		return nil, fmt.Errorf("topic %s: %w, and brokers cannot create it: %w", topic, ErrTopicNotFound, err)
	}
	data := *r.Data
	data.OrderTopicConf = ""
	data.QueueDatas = slices.Clone(data.QueueDatas)
	for i := range data.QueueDatas {
		q := &data.QueueDatas[i]
		n := min(q.ReadQueueNums, p.cfg.DefaultTopicQueues)
		q.ReadQueueNums, q.WriteQueueNums = n, n
	}
	return newTopicRoute(topic, &data), nil
}

func (p *Producer) newView(state *routes, queues []protocol.MessageQueue) *sendView {
	v := &sendView{routes: state, targets: make([]sendTarget, len(queues)), single: true}
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, mq := range queues {
		v.targets[i] = sendTarget{mq: mq, addr: state.brokers[mq.BrokerName][masterID], faults: p.faultsOf(mq.BrokerName)}
		v.single = v.single && mq.BrokerName == queues[0].BrokerName
	}
	return v
}

// faultsOf is the memory of a broker; p.mu is held.
func (p *Producer) faultsOf(broker string) *brokerFaults {
	f := p.faults[broker]
	if f == nil {
		f = &brokerFaults{}
		p.faults[broker] = f
	}
	return f
}

func (v *sendView) queues() []protocol.MessageQueue {
	list := make([]protocol.MessageQueue, len(v.targets))
	for i := range v.targets {
		list[i] = v.targets[i].mq
	}
	return list
}

// pick is the next queue in turn: not on the broker of the last attempt and, when avoid is set, not on one that the fault
// table puts aside. When no queue is left so, the fault table is ignored first and the last broker then. The turn goes on
// behind the queue that was taken, or the first queue behind those passed over would get all of their share.
func (v *sendView) pick(t *sendTopic, last string, avoid bool) *sendTarget {
	n := uint32(len(v.targets))
	turn := t.next.Add(1)
	if first := &v.targets[turn%n]; last == "" && !avoid && first.addr != "" {
		return first
	}
	i := v.find(turn, last, avoid)
	t.next.Add(i)
	return &v.targets[(turn+i)%n]
}

// find is how many queues pick passes over from turn on.
func (v *sendView) find(turn uint32, last string, avoid bool) uint32 {
	var now time.Time
	if avoid {
		now = time.Now()
	}
	n := uint32(len(v.targets))
	aside, other := n, n // the first queue that is put aside, and the first of the last broker; n is none
	for i := range n {
		target := &v.targets[(turn+i)%n]
		switch {
		case target.addr == "":
		case target.mq.BrokerName == last:
			other = min(other, i)
		case avoid && target.faults.avoided(now):
			aside = min(aside, i)
		default:
			return i
		}
	}
	if aside < n {
		return aside
	}
	return other % n
}

// byKey is the queue of a sharding key, Java's SelectMessageQueueByHash: the absolute value of the remainder.
func (v *sendView) byKey(key string) *sendTarget {
	i := int(protocol.HashString(key)) % len(v.targets)
	return &v.targets[max(i, -i)]
}

// queue is the named queue. It need not be among those that may be written: brokers judge that themselves.
func (p *Producer) queue(v *sendView, mq protocol.MessageQueue) *sendTarget {
	for i := range v.targets {
		if v.targets[i].mq == mq {
			return &v.targets[i]
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return &sendTarget{mq: mq, addr: v.routes.brokers[mq.BrokerName][masterID], faults: p.faultsOf(mq.BrokerName)}
}

// refetch asks for a topic's route after a send failed for want of a connection, since its only broker may have moved.
// Concurrent sends ask once together, and an answer serves for a second.
func (p *Producer) refetch(ctx context.Context, t *sendTopic) {
	if time.Since(time.Unix(0, t.fetched.Load())) < earlyRefreshPause {
		return
	}
	q, first := p.client.routes.ask(t.name)
	if !first {
		select {
		case <-q.done:
		case <-ctx.Done():
		}
		return
	}
	q.route, q.err = p.client.FetchRoute(ctx, t.name)
	t.fetched.Store(time.Now().UnixNano())
	p.client.routes.answered(t.name, q)
	if q.err != nil {
		p.client.log.Debug("no fresh route", "topic", t.name, "err", q.err)
	}
}
