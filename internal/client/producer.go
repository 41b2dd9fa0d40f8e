package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/stats"
)

// Producer sends messages, Java's DefaultMQProducerImpl. All methods may be called by several goroutines at once.
//
// A message is only read; body and properties must stay as they are until its send is over. What a send adds is in the
// request alone: the property UNIQ_KEY, unless the message has one, and WAIT.
type Producer struct {
	client *Client
	cfg    ProducerConfig

	table  atomic.Pointer[map[string]*sendTopic] // topics in use; replaced under mu
	mu     sync.Mutex                            // guards replacing table, and faults
	faults map[string]*brokerFaults              // by broker name
	spare  sync.Pool                             // of *sending

	gate     gate
	slots    *semaphore.Weighted // of asynchronous sends
	budget   *semaphore.Weighted // of asynchronous sends, bytes
	retrying loops               // goroutines of asynchronous sends whose first attempt failed
	ended    atomic.Bool         // Close waits no longer: nothing is tried again

	closing  atomic.Bool
	closed   chan struct{} // closed when Close has finished
	closeErr error

	sent, failures, retried, bytes atomic.Int64
}

// StartProducer makes a producer and has the brokers told of its group. It asks for no route: topics become known when
// they are first sent to. The client must be started; a second producer of one group is ErrGroupInUse.
func (c *Client) StartProducer(ctx context.Context, cfg ProducerConfig) (*Producer, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("producer configuration: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("producer of %s: %w", cfg.Group, err)
	}
	p := &Producer{
		client: c, cfg: cfg, faults: map[string]*brokerFaults{}, closed: make(chan struct{}),
		slots: semaphore.NewWeighted(cfg.MaxInFlight), budget: semaphore.NewWeighted(cfg.MaxInFlightMiB << 20),
	}
	p.table.Store(&map[string]*sendTopic{})
	p.gate.init()
	if err := c.registerProducer(p); err != nil {
		return nil, err
	}
	wake(c.wakeHeartbeat)
	return p, nil
}

func (c *Client) registerProducer(p *Producer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == stateNew:
		return fmt.Errorf("producer of %s: client %s: %w", p.cfg.Group, c.id, ErrNotStarted)
	case c.state == stateClosed:
		return fmt.Errorf("producer of %s: client %s: %w", p.cfg.Group, c.id, ErrClosed)
	case c.producers[p.cfg.Group] != nil:
		return fmt.Errorf("producer of %s: %w", p.cfg.Group, ErrGroupInUse)
	}
	c.producers[p.cfg.Group] = p
	return nil
}

func (c *Client) unregisterProducer(p *Producer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.producers[p.cfg.Group] == p {
		delete(c.producers, p.cfg.Group)
	}
}

// Group is the producer's group.
func (p *Producer) Group() string { return p.cfg.Group }

// topics is every topic that was sent to, sorted.
func (p *Producer) topics() []string { return slices.Sorted(maps.Keys(*p.table.Load())) }

func (p *Producer) snapshot() stats.Producer {
	return stats.Producer{
		Group: p.cfg.Group, Sent: p.sent.Load(), Failed: p.failures.Load(), Retried: p.retried.Load(),
		Bytes: p.bytes.Load(), InFlight: p.gate.inside(),
	}
}

// Send sends a message to the queues of its topic in turn and waits for the answer. What may fare better elsewhere is
// tried again on another broker, at most RetriesSync times and within SendTimeout. The error is a *SendError, or
// ErrInvalidMessage for a message that no broker would take; see ErrUnknownOutcome.
func (p *Producer) Send(ctx context.Context, m *protocol.Message) (SendResult, error) {
	return p.send(ctx, m, wantedQueue{})
}

// SendTo sends a message to one queue of its topic: one attempt, and no other queue.
func (p *Producer) SendTo(ctx context.Context, m *protocol.Message, mq protocol.MessageQueue) (SendResult, error) {
	if mq.Topic != m.Topic {
		return SendResult{}, fmt.Errorf("%w to %s: the queue %s is of another topic", ErrInvalidMessage, m.Topic, mq)
	}
	return p.send(ctx, m, wantedQueue{how: byName, mq: mq})
}

// SendOrdered sends a message to the queue of its sharding key, which is the one that Java's SelectMessageQueueByHash
// takes: messages of one key stay in order as long as the topic's queues stay the same. One attempt, and no other queue.
func (p *Producer) SendOrdered(ctx context.Context, m *protocol.Message, shardingKey string) (SendResult, error) {
	return p.send(ctx, m, wantedQueue{how: byKey, key: shardingKey})
}

func (p *Producer) send(ctx context.Context, m *protocol.Message, want wantedQueue) (SendResult, error) {
	s, err := p.begin()
	if err != nil {
		return SendResult{}, err
	}
	defer p.end(s)
	s.want = want
	if want.how == inTurn {
		s.retries = p.cfg.RetriesSync
	}
	if s.err = s.prepare(m); s.err == nil {
		s.run(ctx)
	}
	return s.finish()
}

// SendOneway sends a message that nobody confirms: a nil error says that it is on its way to a broker. It is tried once.
func (p *Producer) SendOneway(ctx context.Context, m *protocol.Message) error {
	s, err := p.begin()
	if err != nil {
		return err
	}
	defer p.end(s)
	if s.err = s.prepare(m); s.err == nil {
		s.err = s.aim(ctx)
	}
	if s.err == nil {
		s.err = s.oneway(ctx)
	}
	s.stored = s.err == nil
	_, err = s.finish()
	return err
}

func (s *sending) oneway(ctx context.Context) error {
	if err := s.reach(ctx); err != nil {
		return err
	}
	return s.p.client.pool.Oneway(ctx, s.target.addr, &s.cmd)
}

// run makes attempts until the send is over.
func (s *sending) run(ctx context.Context) {
	for over := false; !over; {
		if err := s.aim(ctx); err != nil {
			s.giveUp(err)
			return
		}
		resp, err := s.call(ctx)
		over = s.settle(ctx, resp, err)
	}
}

func (s *sending) call(ctx context.Context) (*protocol.Command, error) {
	if err := s.reach(ctx); err != nil {
		return nil, err
	}
	return s.p.client.pool.CallWithin(ctx, s.target.addr, &s.cmd, s.limit)
}

// giveUp ends a send that has no further attempt. What an earlier attempt met says more than why there is no other.
func (s *sending) giveUp(err error) {
	if s.err == nil {
		s.err = err
	}
}

// reach makes sure that there is a connection to the target, by a heartbeat, and leaves the rest of the attempt's time in
// limit. Connecting is thereby part of that time, and what fails here is known not to have sent the message. The broker
// hears of the producer's group before its first message.
func (s *sending) reach(ctx context.Context) error {
	c := s.p.client
	if _, connected := c.pool.Stats(s.target.addr); connected {
		return nil
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	// whatever the broker answers, it is there
	_, err := c.pool.Call(ctx, s.target.addr, protocol.NewBodyRequest(protocol.HeartBeat, c.heartbeatData().Encode()))
	if s.limit -= time.Since(began); err == nil && s.limit <= 0 {
		err = remoting.ErrTimeout
	}
	if err != nil {
		return &unreachedError{err}
	}
	return nil
}

// begin admits a send, unless the producer is closed; end must follow.
func (p *Producer) begin() (*sending, error) {
	if !p.gate.enter() {
		return nil, fmt.Errorf("producer of %s: %w", p.cfg.Group, ErrClosed)
	}
	return p.newSending(), nil
}

func (p *Producer) end(s *sending) {
	p.recycle(s)
	p.gate.leave()
}

// Close lets the sends under way finish, within ctx, and tells the brokers that the group is gone; further sends are
// ErrClosed. Sends that are still under way when ctx ends are tried no more; the error counts them. Close again waits for
// the first and returns what it did.
func (p *Producer) Close(ctx context.Context) error {
	if p.closing.CompareAndSwap(false, true) {
		p.closeErr = p.leave(ctx)
		close(p.closed)
		return p.closeErr // which says more than that ctx has ended meanwhile
	}
	select {
	case <-p.closed:
		return p.closeErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *Producer) leave(ctx context.Context) error {
	err := p.gate.close(ctx)
	p.ended.Store(true)
	p.client.unregisterProducer(p)
	p.client.unregisterGroup(ctx, "", p.cfg.Group)
	if err != nil {
		return fmt.Errorf("producer of %s: %d sends are still under way: %w", p.cfg.Group, p.gate.inside(), err)
	}
	if err := p.retrying.Wait(ctx); err != nil {
		return fmt.Errorf("producer of %s: %w", p.cfg.Group, err)
	}
	return nil
}

// gateClosed is the bit of a gate's state that lets nobody in any more.
const gateClosed = 1 << 62

// gate counts what is under way and can be closed; both cost one atomic addition.
type gate struct {
	state atomic.Int64
	empty chan struct{} // closed when the gate is closed and nobody is inside
	once  sync.Once
}

func (g *gate) init() { g.empty = make(chan struct{}) }

func (g *gate) enter() bool {
	if g.state.Add(1) < gateClosed {
		return true
	}
	g.leave()
	return false
}

func (g *gate) leave() {
	if g.state.Add(-1) == gateClosed {
		g.once.Do(func() { close(g.empty) })
	}
}

func (g *gate) inside() int64 { return g.state.Load() &^ gateClosed }

// close lets nobody in and waits until everybody has left. It is called once.
func (g *gate) close(ctx context.Context) error {
	g.state.Add(1) // this call is inside while it closes
	g.state.Add(gateClosed)
	g.leave()
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
