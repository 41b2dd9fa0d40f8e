package remoting

import (
	"context"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// Dialer makes a connection to an address of the form host:port.
type Dialer = func(ctx context.Context, addr string) (net.Conn, error)

// PoolConfig sets up a Pool. The zero value works; of the time limits, zero stands for the default and a negative value
// for none.
type PoolConfig struct {
	Dial           Dialer        // default: TCP
	MaxFrame       int           // largest frame in either direction, bytes; default protocol.DefaultMaxFrame
	MaxPending     int           // bytes that answers to the peer's requests may pile up; default DefaultMaxPending
	DialTimeout    time.Duration // default DefaultDialTimeout
	WriteTimeout   time.Duration // default DefaultWriteTimeout
	FrameTimeout   time.Duration // default DefaultFrameTimeout
	IdleTimeout    time.Duration // default DefaultIdleTimeout
	SilenceTimeout time.Duration // default DefaultSilenceTimeout
	JSONOnly       bool          // never use the binary header

	// Handler answers requests of the peers; nil means no answer. One goroutine of the pool runs it, one request at a
	// time; ctx ends with the connection. A panic is answered with SYSTEM_ERROR. Without a Handler the answer is
	// REQUEST_CODE_NOT_SUPPORTED.
	Handler func(ctx context.Context, from *Conn, req *protocol.Command) *protocol.Command
	// Prepare has the last touch of every request before it is encoded, such as signing. It gets a copy.
	Prepare func(addr string, cmd *protocol.Command) error
	// OnDisconnect is called once for every connection that has ended, also when this side closed it, after every open
	// request was failed.
	OnDisconnect func(addr string, err error)
	Wire         *WireLog     // nil: frames are not logged
	Logger       *slog.Logger // nil: nothing is logged
}

// DefaultMaxPending is how many bytes may wait for a peer that reads slowly before it is cut.
const DefaultMaxPending = 64 << 20

// Pool keeps one connection for each address. A connection is made when it is first needed and again after it was lost.
type Pool struct {
	cfg     PoolConfig
	conn    connConfig
	lastID  atomic.Uint64
	inbox   chan inboundRequest // requests of the peers, for the callback worker
	quit    chan struct{}
	worker  chan struct{} // closed when the callback worker has ended
	mu      sync.Mutex    // guards what follows; never held while dialling or calling back
	slots   map[string]*slot
	live    map[*Conn]struct{} // connections with a goroutine left, in a slot or not
	dialing map[*slot]struct{} // attempts that are under way, in the table or forgotten
	closed  bool
}

// slot is the connection of one address, or the attempt to make it.
type slot struct {
	addr   string
	ready  chan struct{} // closed when conn or err is set
	conn   *Conn         // guarded by Pool.mu until ready
	err    error
	cancel context.CancelFunc // ends the attempt and then the connection's context
}

// NewPool makes a pool. It needs Close.
func NewPool(cfg PoolConfig) *Pool {
	p := &Pool{
		cfg:   cfg,
		quit:  make(chan struct{}),
		slots: map[string]*slot{}, live: map[*Conn]struct{}{}, dialing: map[*slot]struct{}{},
	}
	if p.cfg.Dial == nil {
		p.cfg.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "tcp", addr)
		}
	}
	p.cfg.DialTimeout = limitOr(cfg.DialTimeout, DefaultDialTimeout)
	p.conn = connConfig{
		maxFrame: positiveOr(cfg.MaxFrame, protocol.DefaultMaxFrame), maxPending: positiveOr(cfg.MaxPending, DefaultMaxPending),
		maxBuffer: poolBuffer, jsonOnly: cfg.JSONOnly,
		limits: limits{
			write: limitOr(cfg.WriteTimeout, DefaultWriteTimeout), frame: limitOr(cfg.FrameTimeout, DefaultFrameTimeout),
			idle: limitOr(cfg.IdleTimeout, DefaultIdleTimeout), silence: limitOr(cfg.SilenceTimeout, DefaultSilenceTimeout),
		},
		prepare: cfg.Prepare, request: p.receive, detach: p.detach, ended: p.connEnded, gone: p.connGone,
		wire: cfg.Wire, log: loggerOr(cfg.Logger), lastID: &p.lastID,
	}
	p.startWorker()
	return p
}

func positiveOr(n, standard int) int {
	if n > 0 {
		return n
	}
	return standard
}

func loggerOr(l *slog.Logger) *slog.Logger {
	if l == nil {
		return slog.New(slog.DiscardHandler)
	}
	return l
}

// Call sends a request to addr and waits for the answer, as long as ctx allows. An answer with an error code is no error.
// Every failure is an *Error. req is not changed.
func (p *Pool) Call(ctx context.Context, addr string, req *protocol.Command) (*protocol.Command, error) {
	return p.CallWithin(ctx, addr, req, 0)
}

// CallWithin is Call with a time limit beside the context's. The limit costs no timer of its own and does not count the
// time that making a connection takes, which has a limit too.
func (p *Pool) CallWithin(ctx context.Context, addr string, req *protocol.Command, limit time.Duration) (*protocol.Command, error) {
	for retry := false; ; retry = true {
		c, err := p.get(ctx, addr, req)
		if err != nil {
			return nil, err
		}
		resp, queued, err := c.call(ctx, req, limit)
		if queued || err == nil || retry || c.calls.cause() == nil {
			return resp, err
		}
	}
}

// Start sends a request and calls done with the answer or the error, exactly once. done may run on a connection's reader
// and must not block; when the request cannot be sent it runs before Start returns. Start itself waits, as long as ctx
// allows, for the connection and while too much is queued; once the request is queued only limit counts (0: none).
func (p *Pool) Start(ctx context.Context, addr string, req *protocol.Command, limit time.Duration, done func(*protocol.Command, error)) {
	for retry := false; ; retry = true {
		c, err := p.get(ctx, addr, req)
		if err != nil {
			done(nil, err)
			return
		}
		queued, err := c.start(ctx, req, limit, done)
		if queued {
			return
		}
		if retry || c.calls.cause() == nil {
			done(nil, err)
			return
		}
	}
}

// Oneway sends a request that nobody answers. It returns when the request is queued; Close lets it leave.
func (p *Pool) Oneway(ctx context.Context, addr string, req *protocol.Command) error {
	for retry := false; ; retry = true {
		c, err := p.get(ctx, addr, req)
		if err != nil {
			return err
		}
		queued, err := c.oneway(ctx, req)
		if queued || retry || c.calls.cause() == nil {
			return err
		}
	}
}

// get is the connection to addr. The first caller starts the attempt to make it; every caller waits with its own ctx.
func (p *Pool) get(ctx context.Context, addr string, req *protocol.Command) (*Conn, error) {
	p.mu.Lock()
	s := p.slots[addr]
	if s != nil && s.conn != nil {
		p.mu.Unlock()
		return s.conn, nil
	}
	if p.closed {
		p.mu.Unlock()
		return nil, &Error{Addr: addr, Op: req.RequestCode().String(), Err: ErrClosed}
	}
	if s == nil {
		s = p.newSlot(ctx, addr)
	}
	p.mu.Unlock()
	began := time.Now()
	select {
	case <-s.ready:
		return s.conn, s.err
	case <-ctx.Done():
		err := endOfContext(ctx, time.Since(began), "still connecting")
		return nil, &Error{Addr: addr, Op: req.RequestCode().String(), Err: err}
	}
}

// newSlot starts an attempt. It outlives the caller's ctx, since others may wait for it as well.
func (p *Pool) newSlot(ctx context.Context, addr string) *slot {
	s := &slot{addr: addr, ready: make(chan struct{})}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	p.slots[addr] = s
	p.dialing[s] = struct{}{}
	go p.dial(ctx, s)
	return s
}

// dial makes the connection of a slot; Close waits for it.
func (p *Pool) dial(ctx context.Context, s *slot) {
	began := time.Now()
	limited, cancel := context.WithTimeout(ctx, p.cfg.DialTimeout)
	nc, err := p.cfg.Dial(limited, s.addr)
	cancel()
	if err != nil {
		err = &Error{Addr: s.addr, Op: "connect", Err: dialError(err, time.Since(began))}
	}
	if unwanted := p.dialed(ctx, s, nc, err); unwanted != nil {
		if err := unwanted.Close(); err != nil {
			p.conn.log.Debug("closing a connection", "addr", s.addr, "err", err)
		}
	}
	close(s.ready)
}

// dialed settles a slot, and returns the connection if it came too late to be of use.
func (p *Pool) dialed(ctx context.Context, s *slot, nc net.Conn, err error) (unwanted net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.dialing, s)
	switch {
	case p.closed:
		s.err = &Error{Addr: s.addr, Op: "connect", Err: ErrClosed}
	case p.slots[s.addr] != s:
		s.err = &Error{Addr: s.addr, Op: "connect", Err: ErrForgotten}
	case err != nil:
		s.err = err
		delete(p.slots, s.addr) // the next use tries again
	default:
		s.conn = newConn(nc, s.addr, &p.conn)
		s.conn.ctx, s.conn.cancel = ctx, s.cancel
		p.live[s.conn] = struct{}{}
		s.conn.run()
		return nil
	}
	s.cancel()
	return nc
}

// detach makes the next use of the address dial again.
func (p *Pool) detach(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s := p.slots[c.addr]; s != nil && s.conn == c {
		delete(p.slots, c.addr)
	}
}

func (p *Pool) connEnded(c *Conn, cause error) {
	p.conn.log.Debug("connection ended", "addr", c.addr, "err", cause)
	if p.cfg.OnDisconnect != nil {
		p.cfg.OnDisconnect(c.addr, cause)
	}
}

func (p *Pool) connGone(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.live, c)
}

// Forget closes the connection to an address that nothing names any more, or ends the attempt to make it. Open requests
// fail with ErrForgotten. A later use makes a new connection.
func (p *Pool) Forget(addr string) {
	p.mu.Lock()
	s := p.slots[addr]
	delete(p.slots, addr)
	var c *Conn
	if s != nil {
		c = s.conn
	}
	p.mu.Unlock()
	switch {
	case c != nil:
		c.shutdown(ErrForgotten)
	case s != nil:
		s.cancel()
	}
}

// Addrs lists the addresses that are connected or being connected, sorted.
func (p *Pool) Addrs() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	addrs := make([]string, 0, len(p.slots))
	for addr := range p.slots {
		addrs = append(addrs, addr)
	}
	slices.Sort(addrs)
	return addrs
}

// Stats are the counters of the connection to addr; ok is false when there is none.
func (p *Pool) Stats(addr string) (s Stats, ok bool) {
	p.mu.Lock()
	var c *Conn
	if slot := p.slots[addr]; slot != nil {
		c = slot.conn
	}
	p.mu.Unlock()
	if c == nil {
		return Stats{}, false
	}
	return c.Stats(), true
}

// Close fails every open request with ErrClosed, lets what was sent before leave, and waits until every goroutine of the
// pool has ended. When ctx ends first, it cuts the connections and returns without waiting further. It must not be called
// from a handler or callback of the pool. Closing twice is harmless.
func (p *Pool) Close(ctx context.Context) error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.quit)
	}
	clear(p.slots)
	var dials []*slot
	for s := range p.dialing {
		dials = append(dials, s)
	}
	var conns []*Conn
	for c := range p.live {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, s := range dials {
		s.cancel()
	}
	for _, c := range conns {
		c.shutdown(ErrClosed)
	}
	err := p.wait(ctx, dials, conns)
	if err != nil {
		for _, c := range conns {
			c.die(ErrClosed)
		}
	}
	return err
}

func (p *Pool) wait(ctx context.Context, dials []*slot, conns []*Conn) error {
	ends := make([]<-chan struct{}, 0, len(dials)+len(conns)+1)
	for _, s := range dials {
		ends = append(ends, s.ready)
	}
	for _, c := range conns {
		ends = append(ends, c.over)
	}
	for _, end := range append(ends, p.worker) {
		select {
		case <-end:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}
