// Package sandbox is a RocketMQ cluster inside this process: a name server and brokers that official clients produce to
// and consume from, with faults on request. It keeps everything in memory and listens on the loopback address.
//
// Connections do I/O; one goroutine, run, owns all state and runs the handlers, one file per request, named as in package
// protocol. Everything that reads or changes state from outside is handed to it. Time is that of package time, so that a
// sandbox works inside a testing/synctest bubble; see Options.ListenFunc for the network to use there.
package sandbox

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// Sandbox is a running cluster. Its methods may be called from any goroutine but must not be called from inside a fault
// (see On), where they would wait for themselves.
type Sandbox struct {
	opt     Options
	log     *slog.Logger
	cluster string

	inbox chan event
	quit  chan struct{} // closed by Close once no connection can post any more
	done  chan struct{} // closed by run when it has ended
	// asking is the questions to clients that are being sent; run alone adds to it.
	asking sync.WaitGroup

	// lifecycle has one token for whoever starts or stops a server; it guards the servers. A mutex would not do, since
	// closing a server waits.
	lifecycle chan struct{}
	closed    bool
	server    *remoting.Server // the name server's, nil while it is stopped
	address   string           // the name server's, fixed by New

	// What follows belongs to run.
	clock   time.Time
	alarms  alarms
	brokers []*broker
	names   nameServer
	peers   map[*remoting.Conn]*peer
	dirty   []*queue
	counts  map[protocol.RequestCode]int64
	writes  Writes
	rules   []*rule
	changes changes
	random  *rand.Rand
	scratch []byte
	// conditions keeps SQL92 filters parsed, by their text.
	conditions map[string]parsedSQL
}

// New starts a sandbox. Close ends it.
func New(o Options) (*Sandbox, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Sandbox{
		opt:        o,
		log:        o.Logger,
		cluster:    o.Cluster,
		inbox:      make(chan event, inboxSize),
		quit:       make(chan struct{}),
		done:       make(chan struct{}),
		lifecycle:  make(chan struct{}, 1),
		clock:      time.Now(),
		names:      newNameServer(),
		peers:      map[*remoting.Conn]*peer{},
		counts:     map[protocol.RequestCode]int64{},
		conditions: map[string]parsedSQL{},
		random:     rand.New(rand.NewPCG(o.Seed, o.Seed)),
	}
	s.alarms.timer = time.NewTimer(time.Hour)
	s.alarms.timer.Stop()
	for i := range o.Brokers {
		s.brokers = append(s.brokers, newBroker(s, "broker-"+brokerSuffix(i), i))
	}
	for _, spec := range o.Topics {
		n := int32(orDefault(spec.Queues, defaultQueues))
		for _, b := range s.brokers {
			b.createTopic(spec.Name, n, n, protocol.PermRead|protocol.PermWrite)
		}
	}
	go s.run() // Close waits for it
	if err := s.startAll(); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// brokerSuffix is a, b, …, z, aa, ab, …
func brokerSuffix(i int) string {
	if i < 26 {
		return string(rune('a' + i))
	}
	return brokerSuffix(i/26-1) + string(rune('a'+i%26))
}

func (s *Sandbox) startAll() error {
	if err := s.StartNameServer(); err != nil {
		return err
	}
	for i, b := range s.brokers {
		addr, err := offsetPort(s.opt.BrokerListen, 10*i)
		if err != nil {
			return err
		}
		b.listen = addr
		for j, r := range b.replicas {
			if r.listen, err = offsetPort(addr, j+1); err != nil {
				return err
			}
		}
	}
	for _, b := range s.nodes() {
		if err := s.StartBroker(b.node()); err != nil {
			return err
		}
	}
	return nil
}

// offsetPort adds n to a port that is not 0.
func offsetPort(addr string, n int) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%w: address %q: %w", ErrOptions, addr, err)
	}
	p, err := strconv.Atoi(port)
	if err != nil || p == 0 {
		return addr, nil // a service name, or a free port: the same for all
	}
	return net.JoinHostPort(host, strconv.Itoa(p+n)), nil
}

// acquire takes the lifecycle token; the caller calls the returned function to give it back.
func (s *Sandbox) acquire() (release func(), err error) {
	s.lifecycle <- struct{}{}
	release = func() { <-s.lifecycle }
	if s.closed {
		release()
		return nil, ErrClosed
	}
	return release, nil
}

// Close ends the sandbox, its connections and goroutines, and waits for them. Further calls do nothing.
func (s *Sandbox) Close() {
	release, err := s.acquire()
	if err != nil {
		return
	}
	defer release()
	s.closed = true
	if s.server != nil {
		s.server.Close()
	}
	for _, b := range s.nodes() {
		if b.server != nil {
			b.server.Close()
		}
	}
	close(s.quit)
	<-s.done
	s.asking.Wait()
}

// serve opens a listener and answers on it for b, or for the name server when b is nil.
func (s *Sandbox) serve(addr string, b *broker) (*remoting.Server, error) {
	l, err := s.opt.ListenFunc(addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	return remoting.Serve(l, remoting.ServerConfig{
		MaxConns: s.opt.MaxConns,
		Handle:   func(c *remoting.Conn, cmd *protocol.Command) { s.post(event{conn: c, cmd: cmd, at: b}) },
		OnClose:  func(c *remoting.Conn) { s.post(event{conn: c, at: b}) },
		Logger:   s.log,
	}), nil
}

// NameServers is the address of the name server, in the form that clients take.
func (s *Sandbox) NameServers() []string { return []string{s.address} }

// StartNameServer starts the name server again, on its old address, after StopNameServer. It does nothing on a running one.
func (s *Sandbox) StartNameServer() error {
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	if s.server != nil {
		return nil
	}
	server, err := s.serve(orDefault(s.address, s.opt.Listen), nil)
	if err != nil {
		return err
	}
	s.server = server
	if s.address == "" {
		s.address = server.Addr().String() // once: others read it without the token
	}
	return nil
}

// StopNameServer closes the name server's listener and connections. What it knows stays.
func (s *Sandbox) StopNameServer() error {
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	if s.server != nil {
		s.server.Close()
		s.server = nil
	}
	return nil
}

// advertised is the address that clients are told for a listener.
func (s *Sandbox) advertised(l net.Addr) netip.AddrPort {
	host, err := netip.ParseAddrPort(l.String())
	if err != nil {
		return netip.AddrPort{}
	}
	addr := host.Addr().Unmap()
	if ip, err := netip.ParseAddr(s.opt.Advertise); err == nil {
		addr = ip
	} else if addr.IsUnspecified() {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1})
	}
	return netip.AddrPortFrom(addr, host.Port())
}
