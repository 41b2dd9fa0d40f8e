package client_test

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/history"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
)

// recorder writes the history of one run and checks it as it grows.
type recorder struct {
	group string
	topic string

	mu     sync.Mutex
	events []history.Event
	check  *history.Checker
	hosts  map[string]string // member by client address
	dead   map[string]bool   // members that have crashed: what they do counts no more
}

func newRecorder(group, topic string) *recorder {
	return &recorder{group: group, topic: topic, check: history.NewChecker(), hosts: map[string]string{}, dead: map[string]bool{}}
}

// add records an event unless it is a dead member's.
func (r *recorder) add(e history.Event) (alive bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.dead[e.Member] && e.Type != history.TypeCommit && e.Type != history.TypeLock && e.Type != history.TypeUnlock && e.Type != history.TypeLockLost {
		return false
	}
	r.addLocked(e)
	return true
}

func (r *recorder) addLocked(e history.Event) {
	if e.At == 0 {
		e.At = time.Now().UnixNano()
	}
	r.events = append(r.events, e)
	r.check.Add(e)
}

// crash records that a member has ended without a word; nothing it does afterwards is recorded.
func (r *recorder) crash(member string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.addLocked(history.Event{Type: history.TypeCrash, Member: member})
	r.dead[member] = true
}

func (r *recorder) know(host, member string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hosts[host] = member
}

// at is the member behind a client's ip:port.
func (r *recorder) at(client string) string {
	addr, err := netip.ParseAddrPort(client)
	if err != nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.hosts[addr.Addr().String()]
}

func (r *recorder) open() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.check.Open()
}

// changed records what the sandbox says: the truth about what is stored, committed and locked.
func (r *recorder) changed(c *sandbox.Change) {
	e := history.Event{Group: r.group, Queue: c.Queue.String(), Offset: c.Offset}
	if c.Group != r.group && c.Kind != sandbox.Stored {
		return
	}
	switch c.Kind {
	case sandbox.Stored:
		r.stored(c)
		return
	case sandbox.SentBack:
		e.Type = history.TypeSentBack
		if protocol.IsDLQTopic(c.Message.Topic) {
			e.Type = history.TypeDead
		}
		identify(&e, c.Message)
		e.Attempt = c.Message.ReconsumeTimes
	case sandbox.Committed:
		e.Type, e.Member, e.By = history.TypeCommit, r.at(c.Client), history.ByAcked
		switch {
		case c.Request == 0:
			e.By = history.ByTool
		case c.Request == protocol.PullMessage:
			e.By = history.ByPull
		case c.Oneway:
			e.By = history.ByOneway
		}
	case sandbox.Locked:
		e.Type, e.Member = history.TypeLock, c.LockID
	case sandbox.LockRefused:
		e.Type, e.Member, e.Result = history.TypeLock, c.LockID, history.ResultRefused
	case sandbox.Unlocked:
		e.Type, e.Member = history.TypeUnlock, c.LockID
	case sandbox.LockLost:
		e.Type, e.Member = history.TypeLockLost, c.LockID
	}
	r.add(e)
}

// stored records a message that got its place. One that waits to be delivered later has been handed back, by a member that
// sent a copy itself unless request 36 tells of it.
func (r *recorder) stored(c *sandbox.Change) {
	e := history.Event{Type: history.TypeSendAck, Queue: c.Queue.String(), Offset: c.Offset, By: history.ByBroker}
	identify(&e, c.Message)
	bySend := c.Request == protocol.SendMessageV2 || c.Request == protocol.SendMessage
	switch topic := c.Queue.Topic; {
	case topic == r.topic, topic == protocol.RetryTopic(r.group):
	case bySend && (topic == protocol.ScheduleTopic || topic == protocol.DLQTopic(r.group)):
		e = history.Event{Type: history.TypeSentBack, Group: r.group, Attempt: c.Message.ReconsumeTimes}
		if protocol.IsDLQTopic(topic) {
			e.Type = history.TypeDead
		}
		identify(&e, c.Message)
	default:
		return
	}
	r.add(e)
}

func identify(e *history.Event, m *protocol.MessageExt) {
	e.Producer = m.Property(history.PropertyProducer)
	e.Seq, _ = strconv.ParseInt(m.Property(history.PropertySeq), 10, 64)
}

// tap counts what clients write and read, so that a fault can tell whether it was felt.
type tap struct {
	mu      sync.Mutex
	written map[string]int64 // by client host and by server address
	read    map[string]int64
}

func newTap() *tap { return &tap{written: map[string]int64{}, read: map[string]int64{}} }

func (t *tap) count(key string) (written, read int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written[key], t.read[key]
}

// dial counts the connections that dial makes; an attempt counts as a write.
func (t *tap) dial(host string, dial func(context.Context, string) (net.Conn, error)) func(context.Context, string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		t.add(t.written, host, addr)
		nc, err := dial(ctx, addr)
		if err != nil {
			return nil, err
		}
		return &tapped{Conn: nc, tap: t, host: host, addr: addr}, nil
	}
}

func (t *tap) add(table map[string]int64, host, addr string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	table[host]++
	table[addr]++
}

type tapped struct {
	net.Conn
	tap        *tap
	host, addr string
}

func (c *tapped) Write(p []byte) (int, error) {
	c.tap.add(c.tap.written, c.host, c.addr)
	return c.Conn.Write(p)
}

func (c *tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.tap.add(c.tap.read, c.host, c.addr)
	}
	return n, err
}

// onEvent records what a member takes and drops.
func (m *chaosMember) onEvent(e client.Event) {
	h := history.Event{Type: history.TypeOwn, Group: e.Group, Member: m.name, Queue: e.Queue.String(), Epoch: e.Epoch, Offset: e.Offset}
	if e.Kind == client.QueueDropped {
		h.Type = history.TypeDrop
	}
	m.run.rec.add(h)
}
