package faultnet

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Direction says which half of a connection a fault holds back. On a wrapped
// connection the wrapped end is the client.
type Direction int

// The halves of a connection, and both.
const (
	ToServer Direction = 1 << iota
	ToClient
	Both = ToServer | ToClient
)

// plan is what a set of faults does. It is immutable once published.
type plan struct {
	refuse        bool
	delay, jitter time.Duration
	blackhole     Direction
	halfOpen      bool
	rate          int // bytes a second, 0 = unlimited
	corrupt       int // every Nth byte, 0 = never
	chunk         int // most bytes a read returns, 0 = unlimited
}

// join adds up the plans of all layers: delays sum, the tightest limit wins.
func join(layers []*Faults) plan {
	var sum plan
	for _, f := range layers {
		p := f.current.Load()
		if p == nil {
			continue
		}
		sum.refuse = sum.refuse || p.refuse
		sum.delay += p.delay
		sum.jitter += p.jitter
		sum.blackhole |= p.blackhole
		sum.halfOpen = sum.halfOpen || p.halfOpen
		sum.rate = tighter(sum.rate, p.rate)
		sum.corrupt = tighter(sum.corrupt, p.corrupt)
		sum.chunk = tighter(sum.chunk, p.chunk)
	}
	return sum
}

// tighter returns the smaller limit, where 0 means none.
func tighter(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// Faults is a changeable set of faults, shared by any number of connections. The
// zero value has none. All methods may be called while connections are in use;
// each replaces the earlier value of its own fault and leaves the others.
type Faults struct {
	current atomic.Pointer[plan] // nil = no faults

	mu    sync.Mutex
	net   *Network // wakes dials; nil for a Faults of Wrap
	links map[*link]struct{}
}

func (f *Faults) attach(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.links == nil {
		f.links = map[*link]struct{}{}
	}
	f.links[l] = struct{}{}
}

func (f *Faults) detach(l *link) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.links, l)
}

// snapshot lists the connections in the order in which they were made, so that
// the same seed wakes them in the same order.
func (f *Faults) snapshot() []*link {
	f.mu.Lock()
	links := slices.Collect(maps.Keys(f.links))
	f.mu.Unlock()
	slices.SortFunc(links, func(a, b *link) int { return int(a.number) - int(b.number) })
	return links
}

// change publishes an edited plan and lets everything that waits look again.
func (f *Faults) change(edit func(*plan)) {
	f.mu.Lock()
	var next plan
	if p := f.current.Load(); p != nil {
		next = *p
	}
	edit(&next)
	f.current.Store(&next)
	n := f.net
	f.mu.Unlock()
	for _, l := range f.snapshot() {
		l.wake()
	}
	if n != nil {
		n.wake()
	}
}

// Refuse answers dials with ECONNREFUSED. Connections that exist stay.
func (f *Faults) Refuse() { f.change(func(p *plan) { p.refuse = true }) }

// Delay makes every byte, and the end of the stream, arrive d plus a random part
// of jitter after it was written; order is kept. A dial takes 2d. Zero ends it for
// what is written from then on.
func (f *Faults) Delay(d, jitter time.Duration) {
	f.change(func(p *plan) { p.delay, p.jitter = d, jitter })
}

// Blackhole drops all packets of a direction without an error: what was written
// and not yet read is held until Heal (or a Blackhole of 0), as TCP would send it
// again. Writers go on until the buffer is full. Dials hang in either direction.
func (f *Faults) Blackhole(d Direction) { f.change(func(p *plan) { p.blackhole = d }) }

// HalfOpen hides the end of a peer: its FIN or reset on Close is dropped, so the
// other end waits for data that never comes and writes into the void until its
// buffer is full. Heal delivers what was dropped.
func (f *Faults) HalfOpen() { f.change(func(p *plan) { p.halfOpen = true }) }

// Slow limits each direction of each connection to a rate in bytes a second; 0 is
// unlimited. What is under way keeps the rate it was written with, until Heal.
func (f *Faults) Slow(bytesPerSecond int) {
	f.change(func(p *plan) { p.rate = max(bytesPerSecond, 0) })
}

// Corrupt inverts every nth byte written, counted per direction; 0 = never.
func (f *Faults) Corrupt(n int) { f.change(func(p *plan) { p.corrupt = max(n, 0) }) }

// Chunk cuts reads at random: each returns 1 to n bytes; 0 is unlimited.
func (f *Faults) Chunk(n int) { f.change(func(p *plan) { p.chunk = max(n, 0) }) }

// Cut kills all existing connections at once: unread data is gone and both ends
// get ECONNRESET. New dials are not touched.
func (f *Faults) Cut() {
	for _, l := range f.snapshot() {
		l.cut()
	}
}

// Heal removes every fault of this set; what was held back or late arrives now.
func (f *Faults) Heal() {
	f.change(func(p *plan) { *p = plan{} })
	for _, l := range f.snapshot() {
		l.deliver()
	}
}

// Faults returns the set of a server address (host:port) or a client host (an IP
// address without a port); the same set for the same address, made on first use.
func (n *Network) Faults(addr string) *Faults {
	key := n.key(addr)
	n.mu.Lock()
	defer n.mu.Unlock()
	f, ok := n.faults[key]
	if !ok {
		f = &Faults{net: n}
		n.faults[key] = f
	}
	return f
}

// Refuse is Faults(addr).Refuse.
func (n *Network) Refuse(addr string) { n.Faults(addr).Refuse() }

// Delay is Faults(addr).Delay.
func (n *Network) Delay(addr string, d, jitter time.Duration) { n.Faults(addr).Delay(d, jitter) }

// Cut is Faults(addr).Cut.
func (n *Network) Cut(addr string) { n.Faults(addr).Cut() }

// Blackhole is Faults(addr).Blackhole.
func (n *Network) Blackhole(addr string, d Direction) { n.Faults(addr).Blackhole(d) }

// HalfOpen is Faults(addr).HalfOpen.
func (n *Network) HalfOpen(addr string) { n.Faults(addr).HalfOpen() }

// Slow is Faults(addr).Slow.
func (n *Network) Slow(addr string, bytesPerSecond int) { n.Faults(addr).Slow(bytesPerSecond) }

// Corrupt is Faults(addr).Corrupt.
func (n *Network) Corrupt(addr string, every int) { n.Faults(addr).Corrupt(every) }

// Chunk is Faults(addr).Chunk.
func (n *Network) Chunk(addr string, atMost int) { n.Faults(addr).Chunk(atMost) }

// Heal is Faults(addr).Heal.
func (n *Network) Heal(addr string) { n.Faults(addr).Heal() }
