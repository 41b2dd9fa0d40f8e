package faultnet

import (
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// link is one connection: two streams and the two ends that use them.
type link struct {
	layers []*Faults // set once; their plans add up
	own    *Faults   // the layer of this connection alone
	number uint64
	count  *counters // nil for a wrapped connection

	mu       sync.Mutex
	rng      *rand.Rand
	client   *Conn
	server   *Conn
	toServer stream
	toClient stream
	reset    bool // Cut: both ends fail
	ended    bool // counted out and detached
}

func newLink(from, to net.Addr, layers []*Faults, count *counters, seed, number uint64) *link {
	l := &link{own: &Faults{}, number: number, count: count, rng: rand.New(rand.NewPCG(seed, number))}
	l.layers = append(append(l.layers, layers...), l.own)
	l.toServer = stream{dir: ToServer, cond: sync.Cond{L: &l.mu}}
	l.toClient = stream{dir: ToClient, cond: sync.Cond{L: &l.mu}}
	l.client = &Conn{link: l, in: &l.toClient, out: &l.toServer, local: from, remote: to}
	l.server = &Conn{link: l, in: &l.toServer, out: &l.toClient, local: to, remote: from}
	l.client.peer, l.server.peer = l.server, l.client
	if count != nil {
		count.open.Add(1)
	}
	for _, f := range l.layers {
		f.attach(l)
	}
	return l
}

func (l *link) plan() plan { return join(l.layers) }

// wake lets all four waiters look again.
func (l *link) wake() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.broadcast()
}

func (l *link) broadcast() {
	l.toServer.cond.Broadcast()
	l.toClient.cond.Broadcast()
}

// wakeIn wakes the waiters of s after d. l.mu is held.
func (l *link) wakeIn(s *stream, d time.Duration) {
	if s.timer != nil {
		s.timer.Reset(d)
		return
	}
	s.timer = time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		s.cond.Broadcast()
	})
}

// deliver lets everything under way arrive.
func (l *link) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.toServer.deliver()
	l.toClient.deliver()
}

// cut resets the connection: nothing buffered survives.
func (l *link) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reset = true
	l.toServer.buf.drop()
	l.toClient.buf.drop()
	l.end()
	l.broadcast()
}

// end counts the connection out, once. l.mu is held.
func (l *link) end() {
	if l.ended {
		return
	}
	l.ended = true
	if l.count != nil {
		l.count.open.Add(-1)
	}
	for _, f := range l.layers {
		f.detach(l)
	}
	for _, s := range []*stream{&l.toServer, &l.toClient} {
		if s.timer != nil {
			s.timer.Stop()
		}
	}
}
