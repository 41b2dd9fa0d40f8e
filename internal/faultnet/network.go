// Package faultnet is a network inside one process whose failures are chosen by
// the caller. It carries whole clients and brokers through testing/synctest
// bubbles: connections are buffered pipes made of a mutex and condition
// variables only, so a goroutine that waits on one is durably blocked and virtual
// time may jump. Wrap puts the same faults on a connection of the real network.
//
// Faults are set by server address ("127.0.0.1:10911"), by client host
// ("10.0.0.7", see DialFrom) or on one connection (Conn.Faults), may be changed
// at any time, and add up. They act like a bad network below TCP: bytes are
// late, slow or held back, but never lost in the middle of a stream, unless
// Corrupt says so.
//
// Lock order: Network.mu → link.mu → Faults.mu.
package faultnet

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	loopback        = "127.0.0.1"
	firstServerPort = 10000
	firstClientPort = 49152
	lastPort        = 65535
	// backlogSize is how many connections may wait for Accept; later dials wait
	// for room, as they do when a kernel drops a SYN.
	backlogSize = 128
)

// Network is an in-memory network. Its zero value is not ready: use New.
type Network struct {
	seed uint64

	mu         sync.Mutex
	changed    sync.Cond // a listener, a backlog or a fault changed
	listeners  map[string]*listener
	faults     map[string]*Faults
	counters   map[string]*counters
	hosts      map[string]string
	serverPort int
	clientPort int
	links      uint64
}

// New returns an empty network. Jitter and read cuts follow seed 1.
func New() *Network { return NewSeeded(1) }

// NewSeeded returns an empty network whose random decisions (delay jitter, chunk
// sizes) follow seed: each connection has its own sequence, in order of dialling.
func NewSeeded(seed uint64) *Network {
	n := &Network{
		seed:       seed,
		listeners:  map[string]*listener{},
		faults:     map[string]*Faults{},
		counters:   map[string]*counters{},
		hosts:      map[string]string{"localhost": loopback},
		serverPort: firstServerPort,
		clientPort: firstClientPort,
	}
	n.changed.L = &n.mu
	return n
}

// AddHost makes a host name known, or moves it to another IP address. Dialling a
// name that was never added fails with a *net.DNSError.
func (n *Network) AddHost(name, ip string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[name] = ip
}

// resolve turns addr into an IP address and a port. An empty or unspecified host
// is the loopback address: this network has one interface for each IP.
func (n *Network) resolve(addr string) (*net.TCPAddr, error) {
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(service)
	if err != nil || port < 0 || port > lastPort {
		return nil, &net.AddrError{Err: "invalid port", Addr: addr}
	}
	ip, err := n.lookup(host)
	if err != nil {
		return nil, err
	}
	return &net.TCPAddr{IP: ip, Port: port}, nil
}

func (n *Network) lookup(host string) (net.IP, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if known, ok := n.hosts[host]; ok {
		host = known
	}
	if host == "" {
		return net.ParseIP(loopback), nil
	}
	ip := net.ParseIP(host)
	if ip == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if ip.IsUnspecified() {
		return net.ParseIP(loopback), nil
	}
	return ip, nil
}

// Dial connects to a listener. It takes one round trip (twice the delay of the
// address), waits while the address is blackholed or its backlog is full, and
// fails like net.Dialer: ECONNREFUSED when nobody listens, ctx's error when ctx
// ends, *net.DNSError for an unknown host.
func (n *Network) Dial(ctx context.Context, addr string) (net.Conn, error) {
	return n.dial(ctx, loopback, addr)
}

// DialFrom returns a Dial whose connections come from host, an IP address: the
// server sees it as RemoteAddr, and faults set on host cut off that client alone.
func (n *Network) DialFrom(host string) func(ctx context.Context, addr string) (net.Conn, error) {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		return n.dial(ctx, host, addr)
	}
}

func (n *Network) dial(ctx context.Context, host, addr string) (net.Conn, error) {
	to, err := n.resolve(addr)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: err}
	}
	from, err := n.lookup(host)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: err}
	}
	count := n.count(to.String())
	count.dials.Add(1)
	layers := []*Faults{n.Faults(to.String()), n.Faults(host)}
	err = pause(ctx, 2*join(layers).delay)
	var conn *Conn
	if err == nil {
		conn, err = n.connect(ctx, from, to, layers, count)
	}
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Addr: to, Err: err}
	}
	return conn, nil
}

// pause waits for d, or for the end of ctx, whose error it returns.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// connect waits until the handshake can be answered, with an error or a connection.
func (n *Network) connect(ctx context.Context, from net.IP, to *net.TCPAddr, layers []*Faults, count *counters) (*Conn, error) {
	stop := context.AfterFunc(ctx, n.wake)
	defer stop()
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		plan := join(layers)
		l := n.listeners[to.String()]
		switch {
		case plan.blackhole != 0:
			// The SYN or its answer is lost; the kernel goes on asking.
		case plan.refuse || l == nil:
			count.refused.Add(1)
			return nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
		case len(l.backlog) < backlogSize:
			return n.establish(l, &net.TCPAddr{IP: from, Port: n.nextClientPort()}, layers, count), nil
		}
		n.changed.Wait()
	}
}

// establish makes the connection and queues its server end. n.mu is held.
func (n *Network) establish(l *listener, from net.Addr, layers []*Faults, count *counters) *Conn {
	n.links++
	link := newLink(from, l.addr, layers, count, n.seed, n.links)
	l.backlog = append(l.backlog, link.server)
	n.changed.Broadcast()
	return link.client
}

func (n *Network) nextClientPort() int {
	port := n.clientPort
	if n.clientPort++; n.clientPort > lastPort {
		n.clientPort = firstClientPort
	}
	return port
}

// wake lets every waiting Accept and Dial look again.
func (n *Network) wake() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.changed.Broadcast()
}

// Counters is what an address has seen since the network was made.
type Counters struct {
	Dials    int64 // calls of Dial, whatever became of them
	Refused  int64 // of these, answered with ECONNREFUSED
	Accepted int64 // connections handed out by Accept
	Open     int64 // connections that are neither reset nor closed on both ends
}

type counters struct{ dials, refused, accepted, open atomic.Int64 }

func (n *Network) count(addr string) *counters {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.countLocked(addr)
}

func (n *Network) countLocked(addr string) *counters {
	c, ok := n.counters[addr]
	if !ok {
		c = &counters{}
		n.counters[addr] = c
	}
	return c
}

func (c *counters) read() Counters {
	return Counters{Dials: c.dials.Load(), Refused: c.refused.Load(), Accepted: c.accepted.Load(), Open: c.open.Load()}
}

// Counters returns the numbers of one server address.
func (n *Network) Counters(addr string) Counters {
	return n.count(n.key(addr)).read()
}

// Total returns the sums over all server addresses.
func (n *Network) Total() Counters {
	n.mu.Lock()
	all := maps.Clone(n.counters)
	n.mu.Unlock()
	var sum Counters
	for _, c := range all {
		one := c.read()
		sum.Dials += one.Dials
		sum.Refused += one.Refused
		sum.Accepted += one.Accepted
		sum.Open += one.Open
	}
	return sum
}

// key is the form under which an address or a client host is filed.
func (n *Network) key(addr string) string {
	if to, err := n.resolve(addr); err == nil {
		return to.String()
	}
	if ip, err := n.lookup(addr); err == nil {
		return ip.String()
	}
	return addr
}

// Listen opens addr, host:port. Port 0 picks a free one, an empty host is
// 127.0.0.1. An address in use fails with EADDRINUSE.
func (n *Network) Listen(addr string) (net.Listener, error) {
	to, err := n.resolve(addr)
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Err: err}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if to.Port == 0 {
		err = n.pickPort(to)
	}
	if err == nil && n.listeners[to.String()] != nil {
		err = os.NewSyscallError("bind", syscall.EADDRINUSE)
	}
	if err != nil {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: to, Err: err}
	}
	l := &listener{net: n, addr: to, count: n.countLocked(to.String())}
	n.listeners[to.String()] = l
	n.changed.Broadcast()
	return l, nil
}

// pickPort fills in a free port. n.mu is held.
func (n *Network) pickPort(to *net.TCPAddr) error {
	for range firstClientPort - firstServerPort {
		to.Port = n.serverPort
		if n.serverPort++; n.serverPort >= firstClientPort {
			n.serverPort = firstServerPort
		}
		if n.listeners[to.String()] == nil {
			return nil
		}
	}
	return fmt.Errorf("no free port on %s", to.IP)
}
