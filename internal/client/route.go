package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// masterID is the broker id of a master, Java's MixAll.MASTER_ID.
const masterID = 0

// earlyRefreshPause keeps a dead broker from causing more than one early route refresh a second.
const earlyRefreshPause = time.Second

// TopicRoute is where a topic lives: the queues to send to and to read from, in the order that all clients agree on,
// and the brokers' addresses. Java's TopicRouteData with its publish and subscribe views.
type TopicRoute struct {
	Topic     string
	Publish   []protocol.MessageQueue
	Subscribe []protocol.MessageQueue
	Brokers   map[string]map[int64]string // broker name → broker id → address
	Data      *protocol.TopicRouteData
}

// routeTable caches routes. Readers load one pointer; only refreshes, serialised by mu, replace it.
type routeTable struct {
	current atomic.Pointer[routes]
	mu      sync.Mutex             // guards replacing current, and asking
	asking  map[string]*routeQuery // first questions that are under way
}

// routeQuery is one question for a topic's route that several callers wait for.
type routeQuery struct {
	done  chan struct{} // closed when route and err are set
	route *TopicRoute
	err   error
}

// routes is one immutable state of the table.
type routes struct {
	topics  map[string]*TopicRoute
	brokers map[string]map[int64]string
}

func (t *routeTable) init() {
	t.current.Store(&routes{topics: map[string]*TopicRoute{}, brokers: map[string]map[int64]string{}})
	t.asking = map[string]*routeQuery{}
}

func (t *routeTable) topic(name string) *TopicRoute { return t.current.Load().topics[name] }

// broker is the address of one replica of a broker, "" when unknown.
func (t *routeTable) broker(name string, id int64) string { return t.current.Load().brokers[name][id] }

// put stores a topic's route. It reports whether the route differs from the one before, and the addresses that no route
// names any more.
func (t *routeTable) put(topic string, r *TopicRoute) (changed bool, gone []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	old := t.current.Load()
	if sameRoute(old.topics[topic], r) {
		return false, nil // readers that keep something made from the pointer need not make it again
	}
	next := &routes{topics: maps.Clone(old.topics), brokers: map[string]map[int64]string{}}
	next.topics[topic] = r
	for _, name := range slices.Sorted(maps.Keys(next.topics)) {
		maps.Copy(next.brokers, next.topics[name].Brokers)
	}
	maps.Copy(next.brokers, r.Brokers) // the newest answer knows best where a broker is
	t.current.Store(next)
	named := next.addresses()
	for addr := range old.addresses() {
		if !named[addr] {
			gone = append(gone, addr)
		}
	}
	return true, gone
}

func sameRoute(a, b *TopicRoute) bool {
	if a == nil || b == nil {
		return a == b
	}
	return slices.Equal(a.Publish, b.Publish) && slices.Equal(a.Subscribe, b.Subscribe) &&
		maps.EqualFunc(a.Brokers, b.Brokers, func(x, y map[int64]string) bool { return maps.Equal(x, y) })
}

// addresses is every broker address that some route names.
func (r *routes) addresses() map[string]bool {
	set := map[string]bool{}
	for _, replicas := range r.brokers {
		for _, addr := range replicas {
			set[addr] = true
		}
	}
	return set
}

// newTopicRoute builds the views of a route answer.
func newTopicRoute(topic string, d *protocol.TopicRouteData) *TopicRoute {
	r := &TopicRoute{Topic: topic, Brokers: map[string]map[int64]string{}, Data: d}
	for _, b := range d.BrokerDatas {
		if len(b.BrokerAddrs) > 0 { // a failed registration leaves an entry without addresses
			r.Brokers[b.BrokerName] = b.BrokerAddrs
		}
	}
	queues := slices.Clone(d.QueueDatas)
	slices.SortFunc(queues, func(a, b protocol.QueueData) int { return cmp.Compare(a.BrokerName, b.BrokerName) })
	for _, q := range queues {
		if q.Perm&protocol.PermRead != 0 && r.Brokers[q.BrokerName] != nil {
			r.Subscribe = appendQueues(r.Subscribe, topic, q.BrokerName, q.ReadQueueNums)
		}
		if _, master := r.Brokers[q.BrokerName][masterID]; master && q.Perm&protocol.PermWrite != 0 && d.OrderTopicConf == "" {
			r.Publish = appendQueues(r.Publish, topic, q.BrokerName, q.WriteQueueNums)
		}
	}
	for entry := range strings.SplitSeq(d.OrderTopicConf, ";") {
		name, count, ok := strings.Cut(entry, ":")
		if n, err := strconv.ParseInt(count, 10, 32); ok && err == nil {
			r.Publish = appendQueues(r.Publish, topic, name, int32(n))
		}
	}
	return r
}

// maxQueues bounds the queues of one broker that are believed in: a corrupt route must not exhaust memory.
const maxQueues = 65535

func appendQueues(list []protocol.MessageQueue, topic, broker string, n int32) []protocol.MessageQueue {
	for id := range min(n, maxQueues) {
		list = append(list, protocol.MessageQueue{Topic: topic, BrokerName: broker, QueueID: id})
	}
	return list
}

// FetchRoute asks the name servers for a topic's route and caches it. An unknown topic is ErrTopicNotFound; what was
// known of it stays known, since name servers forget topics of brokers that are only away.
func (c *Client) FetchRoute(ctx context.Context, topic string) (*TopicRoute, error) {
	resp, err := c.CallNameServer(ctx, func() *protocol.Command {
		return protocol.NewRequest(&protocol.GetRouteInfoByTopicRequest{Topic: topic, AcceptStandardJSONOnly: true}, nil)
	})
	if errors.Is(err, ErrTopicNotFound) {
		return nil, fmt.Errorf("topic %s: %w", topic, err)
	}
	if err != nil {
		return nil, fmt.Errorf("route of topic %s: %w", topic, err)
	}
	data, err := protocol.DecodeTopicRouteData(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("route of topic %s: %w", topic, err)
	}
	r := newTopicRoute(topic, data)
	changed, gone := c.routes.put(topic, r)
	if changed {
		c.log.Debug("route changed", "topic", topic, "queues", len(r.Subscribe), "brokers", len(r.Brokers))
		wake(c.wakeRebalance)
		wake(c.wakeHeartbeat) // a broker that is new here has not heard of this client
	}
	for _, addr := range gone {
		c.pool.Forget(addr) // a moved broker's old address must not be dialled again
	}
	return r, nil
}

// Route is the cached route of a topic, asked for when it is not known yet.
func (c *Client) Route(ctx context.Context, topic string) (*TopicRoute, error) {
	for {
		if r := c.routes.topic(topic); r != nil {
			return r, nil
		}
		q, first := c.routes.ask(topic)
		if first {
			q.route, q.err = c.FetchRoute(ctx, topic)
			c.routes.answered(topic, q)
			return q.route, q.err
		}
		select {
		case <-q.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("route of topic %s: %w", topic, ctx.Err())
		}
		if !errors.Is(q.err, context.Canceled) { // that was the asker's own end, not an answer
			return q.route, q.err
		}
	}
}

// ask joins the question for a topic that is under way, or opens one; first says that the caller must answer it.
func (t *routeTable) ask(topic string) (q *routeQuery, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if q := t.asking[topic]; q != nil {
		return q, false
	}
	q = &routeQuery{done: make(chan struct{})}
	t.asking[topic] = q
	return q, true
}

func (t *routeTable) answered(topic string, q *routeQuery) {
	t.mu.Lock()
	delete(t.asking, topic)
	t.mu.Unlock()
	close(q.done)
}

// BrokerAddr is the address of a broker's master, from the routes known now.
func (c *Client) BrokerAddr(broker string) (string, error) {
	if addr := c.routes.broker(broker, masterID); addr != "" {
		return addr, nil
	}
	return "", fmt.Errorf("broker %s: %w", broker, ErrBrokerNotFound)
}

// replicaAddr is the address of the wanted replica, the master's when that one is gone, any other when there is no
// master: reading goes on while a master is away.
func (c *Client) replicaAddr(broker string, id int64) (addr string, isMaster bool, err error) {
	replicas := c.routes.current.Load().brokers[broker]
	if addr, ok := replicas[id]; ok {
		return addr, id == masterID, nil
	}
	if addr, ok := replicas[masterID]; ok {
		return addr, true, nil
	}
	for _, id := range slices.Sorted(maps.Keys(replicas)) {
		return replicas[id], false, nil
	}
	return "", false, fmt.Errorf("broker %s: %w", broker, ErrBrokerNotFound)
}

// routeLoop refreshes the routes of all topics in use, every RouteInterval and early after a lost connection.
func (c *Client) routeLoop() {
	rest := min(earlyRefreshPause, c.cfg.RouteInterval)
	for wait := c.cfg.RouteInterval; pause(c.ctx, wait, c.wakeRoute); wait = c.cfg.RouteInterval - rest {
		c.refreshRoutes(c.ctx)
		if !pause(c.ctx, rest, nil) {
			return
		}
	}
}

// topicsInUse is every topic of a consumer or producer, sorted.
func (c *Client) topicsInUse() []string {
	set := map[string]bool{}
	for _, m := range c.consumerList() {
		for _, t := range m.topics() {
			set[t] = true
		}
	}
	for _, r := range c.readerList() {
		for _, t := range r.topics() {
			set[t] = true
		}
	}
	for _, p := range c.producerList() {
		for _, t := range p.topics() {
			set[t] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

func (c *Client) refreshRoutes(ctx context.Context) {
	for _, topic := range c.topicsInUse() {
		if ctx.Err() != nil {
			return
		}
		if _, err := c.FetchRoute(ctx, topic); err != nil {
			level := c.log.Warn
			if protocol.IsRetryTopic(topic) && errors.Is(err, ErrTopicNotFound) {
				level = c.log.Debug // a fresh group has no retry topic until something fails
			}
			level("route refresh failed", "topic", topic, "err", err)
		}
	}
}
