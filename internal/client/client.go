// Package client is the engine: one RocketMQ client instance with its consumers and producers.
//
// Files are named after the RocketMQ noun whose state they own; DESIGN.md has the map. Goroutines are only started
// through Client.loops, by the loops named in DESIGN.md, and Close waits for every one of them.
package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/stats"
)

// Client is one client instance, Java's MQClientInstance: connections, routes, heartbeats and timers that its consumers
// and producers share. It is made by New, works between Start and Close, and cannot be started again.
type Client struct {
	cfg       Config
	log       *slog.Logger
	id        string
	pool      *remoting.Pool
	names     nameServers
	routes    routeTable
	uniqueIDs *protocol.UniqueIDs

	// wake channels of the client's loops; capacity 1, a full channel means that the loop will run anyway
	wakeRoute     chan struct{}
	wakeHeartbeat chan struct{}
	wakeRebalance chan struct{}

	loops  loops           // every goroutine of the engine
	ctx    context.Context // from Start until Close has nothing left to finish
	cancel context.CancelFunc

	mu        sync.Mutex // guards the fields below; never held across I/O, channels or callbacks
	state     clientState
	consumers map[string]consumer
	producers map[string]*Producer
	readers   map[*Reader]struct{}
	closed    chan struct{} // closed when Close has finished
	closeErr  error

	heartbeatsSent atomic.Int64
}

type clientState uint8

const (
	stateNew clientState = iota
	stateStarted
	stateClosed
)

// consumer is what the client's loops need of a group member. PushConsumer is the one kind so far; the lite-pull
// consumer is the other.
type consumer interface {
	groupName() string
	topics() []string
	heartbeatData() protocol.ConsumerData
	rebalance(ctx context.Context) (balanced bool)
	persist(ctx context.Context) error
	snapshot(now time.Time) stats.Consumer
	Close(ctx context.Context) error
}

// New makes a client; nothing is dialled before Start.
func New(cfg Config) (*Client, error) {
	cfg = cfg.withDefaults()
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("client configuration: %w", err)
	}
	c := &Client{
		cfg: cfg, log: cfg.Logger, id: cfg.ClientID,
		wakeRoute: make(chan struct{}, 1), wakeHeartbeat: make(chan struct{}, 1), wakeRebalance: make(chan struct{}, 1),
		consumers: map[string]consumer{}, producers: map[string]*Producer{},
		readers: map[*Reader]struct{}{}, closed: make(chan struct{}),
	}
	ip := localIP()
	if c.id == "" {
		c.id = defaultClientID(ip)
	}
	c.uniqueIDs = protocol.NewUniqueIDs(ip, os.Getpid(), rand.Uint32())
	c.cancel = func() {} // until Start gives it something to end
	c.names.init(cfg.NameServers)
	c.routes.init()
	c.pool = remoting.NewPool(remoting.PoolConfig{
		Dial: cfg.Dial, MaxFrame: cfg.MaxFrame, DialTimeout: cfg.DialTimeout, Handler: c.handleRequest,
		Prepare: cfg.Prepare, OnDisconnect: c.onDisconnect, Wire: cfg.Wire, Logger: cfg.Logger,
	})
	return c, nil
}

// ID is the client id that brokers know this instance by.
func (c *Client) ID() string { return c.id }

// Start begins the client's timers: routes, heartbeats, rebalance, offsets. It dials nothing by itself and returns at
// once. A second Start is ErrAlreadyStarted, one after Close is ErrClosed. The end of ctx does not end the client: only
// Close does, since it has offsets to save first.
func (c *Client) Start(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case stateStarted:
		return fmt.Errorf("client %s: %w", c.id, ErrAlreadyStarted)
	case stateClosed:
		return fmt.Errorf("client %s: %w", c.id, ErrClosed)
	}
	c.state = stateStarted
	c.ctx, c.cancel = context.WithCancel(context.WithoutCancel(ctx))
	c.loops.Go(c.routeLoop)
	c.loops.Go(c.heartbeatLoop)
	c.loops.Go(c.rebalanceLoop)
	c.loops.Go(c.persistLoop)
	return nil
}

// usable tells why the client cannot be used now, nil when it can.
func (c *Client) usable() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.state {
	case stateNew:
		return fmt.Errorf("client %s: %w", c.id, ErrNotStarted)
	case stateClosed:
		return fmt.Errorf("client %s: %w", c.id, ErrClosed)
	}
	return nil
}

// Close ends the client: consumers finish and commit, producers let go, loops stop, connections close. ctx limits the
// waiting; what could not be finished in time is in the error. Close again, also while the first runs, waits for the
// first and returns what it did.
func (c *Client) Close(ctx context.Context) error {
	c.mu.Lock()
	first := c.state != stateClosed
	c.state = stateClosed
	consumers := slices.Collect(maps.Values(c.consumers))
	producers := slices.Collect(maps.Values(c.producers))
	readers := slices.Collect(maps.Keys(c.readers))
	c.mu.Unlock()
	if !first {
		select {
		case <-c.closed:
			return c.closeErr
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for _, r := range readers {
		r.Close()
	}
	c.closeErr = errors.Join(closeAll(ctx, consumers, producers), c.stop(ctx))
	close(c.closed)
	return c.closeErr
}

func closeAll(ctx context.Context, consumers []consumer, producers []*Producer) error {
	errs := make([]error, len(consumers)+len(producers))
	var g errgroup.Group
	for i, m := range consumers {
		g.Go(func() error { errs[i] = m.Close(ctx); return nil })
	}
	for i, p := range producers {
		g.Go(func() error { errs[len(consumers)+i] = p.Close(ctx); return nil })
	}
	_ = g.Wait() // the errors are in errs: all of them are wanted, not the first
	return errors.Join(errs...)
}

func (c *Client) stop(ctx context.Context) error {
	c.cancel()
	err := c.pool.Close(ctx)
	return errors.Join(err, c.loops.Wait(ctx))
}

// register adds a consumer under its group.
func (c *Client) register(m consumer) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.state == stateNew:
		return fmt.Errorf("consumer of %s: client %s: %w", m.groupName(), c.id, ErrNotStarted)
	case c.state == stateClosed:
		return fmt.Errorf("consumer of %s: client %s: %w", m.groupName(), c.id, ErrClosed)
	case c.consumers[m.groupName()] != nil:
		return fmt.Errorf("consumer of %s: %w", m.groupName(), ErrGroupInUse)
	}
	c.consumers[m.groupName()] = m
	return nil
}

func (c *Client) unregister(m consumer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.consumers[m.groupName()] == m {
		delete(c.consumers, m.groupName())
	}
}

func (c *Client) consumerList() []consumer {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Collect(maps.Values(c.consumers))
	slices.SortFunc(list, func(a, b consumer) int { return cmp.Compare(a.groupName(), b.groupName()) })
	return list
}

func (c *Client) addReader(r *Reader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readers[r] = struct{}{}
}

func (c *Client) removeReader(r *Reader) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.readers, r)
}

func (c *Client) readerList() []*Reader {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.readers))
}

func (c *Client) producerList() []*Producer {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := slices.Collect(maps.Values(c.producers))
	slices.SortFunc(list, func(a, b *Producer) int { return cmp.Compare(a.cfg.Group, b.cfg.Group) })
	return list
}

// onDisconnect reacts to a lost connection: the broker may have moved, and it has forgotten this client.
func (c *Client) onDisconnect(addr string, err error) {
	if errors.Is(err, remoting.ErrClosed) || errors.Is(err, remoting.ErrForgotten) {
		return // our own doing
	}
	c.log.Debug("connection lost", "addr", addr, "err", err)
	wake(c.wakeRoute)
	wake(c.wakeHeartbeat)
}

// Snapshot is everything the client knows now. Rates are nil: a stats.Sampler fills them from two snapshots.
func (c *Client) Snapshot() stats.Snapshot {
	now := time.Now()
	s := stats.Snapshot{
		At:        now,
		Client:    stats.Client{ID: c.id, NameServers: c.names.list(), Connections: len(c.pool.Addrs())},
		Consumers: []stats.Consumer{}, Producers: []stats.Producer{},
	}
	for _, m := range c.consumerList() {
		s.Consumers = append(s.Consumers, m.snapshot(now))
	}
	for _, r := range c.readerList() {
		s.Consumers = append(s.Consumers, r.snapshot(now))
	}
	for _, p := range c.producerList() {
		s.Producers = append(s.Producers, p.snapshot())
	}
	return s
}

// wake nudges a loop; it never blocks.
func wake(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// pause waits for d, a nudge, or the end of ctx; it reports whether ctx is still alive. A nil nudge never comes.
func pause(ctx context.Context, d time.Duration, nudge <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-nudge:
	case <-ctx.Done():
		return false
	}
	return ctx.Err() == nil
}

// defaultClientID is address, process and a random part: containers often share the first two.
func defaultClientID(ip netip.Addr) string {
	return ip.String() + "@" + strconv.Itoa(os.Getpid()) + "#" + strconv.FormatUint(rand.Uint64(), 36)
}

// localIP is the first address that is not loopback, 127.0.0.1 when there is none.
func localIP() netip.Addr {
	addrs, err := net.InterfaceAddrs()
	if err == nil {
		for _, a := range addrs {
			p, err := netip.ParsePrefix(a.String())
			if err == nil && p.Addr().Is4() && !p.Addr().IsLoopback() {
				return p.Addr()
			}
		}
	}
	return netip.AddrFrom4([4]byte{127, 0, 0, 1})
}
