// Package remoting carries protocol commands over connections: framing, matching answers to requests, a pool of dialled
// connections and the accepting side. It knows no request.
//
// A connection has one reader and one writer goroutine, and one timer that enforces every limit.
package remoting

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"runtime/debug"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// binaryVersion is the first version whose servers read the binary header: V4_0_0, Java's MQVersion ordinal.
const binaryVersion = 213

// connConfig is what the pool or the server decides for its connections.
type connConfig struct {
	maxFrame   int
	maxPending int // bytes that Send may pile up before the connection is cut
	maxBuffer  int // of the reader
	limits     limits
	jsonOnly   bool
	prepare    func(addr string, cmd *protocol.Command) error
	request    func(c *Conn, req *protocol.Command) // a request of the peer; runs on the reader
	detach     func(c *Conn)                        // the connection takes no request any more; may be called twice
	ended      func(c *Conn, cause error)           // the reader's last act, after every waiter was failed
	gone       func(c *Conn)                        // none of its goroutines is left
	wire       *WireLog
	log        *slog.Logger
	lastID     *atomic.Uint64
}

// Conn is one connection, of either side. All methods may be called by several goroutines at once.
type Conn struct {
	id     uint64
	addr   string
	nc     net.Conn
	cfg    *connConfig
	born   time.Time
	ctx    context.Context // ends with the connection; the pool's handler gets it; nil on the server side
	cancel context.CancelFunc

	calls  calls
	out    outbox
	in     frameReader
	watch  watch
	binary atomic.Bool // the peer has shown that it reads the binary header

	writeBegan atomic.Int64 // when the write that is under way began, 0 for none
	lastWrite  atomic.Int64
	bytesOut   atomic.Uint64
	writes     atomic.Uint64
	unmatched  atomic.Uint64
	writeErr   atomic.Pointer[error]

	refs   atomic.Int32  // goroutines that run for it, an armed timer counting as one
	failed chan struct{} // closed when every waiter has been failed
	over   chan struct{} // closed when refs is zero
}

// Stats counts what went over a connection.
type Stats struct {
	FramesIn, FramesOut uint64 // FramesOut counts encoded frames, the last of which may not have left yet
	BytesIn, BytesOut   uint64
	Reads, Writes       uint64 // calls of Read that brought bytes, calls of Write
	Unmatched           uint64 // answers that nobody waited for, mostly late ones; dropped
}

func newConn(nc net.Conn, addr string, cfg *connConfig) *Conn {
	c := &Conn{
		id: cfg.lastID.Add(1), addr: addr, nc: nc, cfg: cfg, born: time.Now(),
		failed: make(chan struct{}), over: make(chan struct{}),
	}
	c.calls.open = map[int32]*waiter{}
	c.out.wake.L = &c.out.mu
	c.in = frameReader{nc: nc, clock: c.now, maxFrame: cfg.maxFrame, maxBuf: cfg.maxBuffer}
	return c
}

// run starts the two goroutines; c.over tells when they have ended.
func (c *Conn) run() {
	c.refs.Store(2)
	c.startWatch()
	go c.readLoop()
	go c.writeLoop()
}

// now is the connection's clock: nanoseconds since it was made, at least 1.
func (c *Conn) now() int64 { return int64(time.Since(c.born)) + 1 }

// ID tells the connections of one pool or server apart; the first has 1.
func (c *Conn) ID() uint64 { return c.id }

// Addr is the address as it was dialled, or the peer's on the server side.
func (c *Conn) Addr() string { return c.addr }

// RemoteAddr is the peer's address, the zero AddrPort on networks without such addresses.
func (c *Conn) RemoteAddr() netip.AddrPort { return addrPort(c.nc.RemoteAddr()) }

// LocalAddr is this side's address, the zero AddrPort on networks without such addresses.
func (c *Conn) LocalAddr() netip.AddrPort { return addrPort(c.nc.LocalAddr()) }

func addrPort(a net.Addr) netip.AddrPort {
	if a == nil {
		return netip.AddrPort{}
	}
	ap, err := netip.ParseAddrPort(a.String())
	if err != nil {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(ap.Addr().Unmap(), ap.Port())
}

// Stats is a snapshot of the counters.
func (c *Conn) Stats() Stats {
	return Stats{
		FramesIn: c.in.framesIn.Load(), FramesOut: c.out.framesOut(),
		BytesIn: c.in.bytesIn.Load(), BytesOut: c.bytesOut.Load(),
		Reads: c.in.readsDone.Load(), Writes: c.writes.Load(), Unmatched: c.unmatched.Load(),
	}
}

// Close ends the connection: open requests fail with ErrClosed, what was sent before still leaves, within the write
// limit. It does not wait.
func (c *Conn) Close() { c.shutdown(ErrClosed) }

// Abort ends the connection at once; what has not left yet is lost. It does not wait.
func (c *Conn) Abort() { c.die(ErrClosed) }

// fail refuses further requests and completes the open ones with cause. Only the first cause counts.
func (c *Conn) fail(cause error) {
	c.cfg.detach(c) // first, so that a waiter that tries again does not meet this connection
	open, first := c.calls.close(cause)
	if !first {
		return
	}
	if c.cancel != nil {
		c.cancel()
	}
	for _, w := range open {
		c.complete(w, nil, cause)
	}
	close(c.failed)
}

// shutdown ends the connection after the frames that were sent so far.
func (c *Conn) shutdown(cause error) {
	c.fail(cause)
	c.out.close(c.calls.cause(), false)
}

// die ends the connection now. Closing nc ends the reader and the writer.
func (c *Conn) die(cause error) {
	c.fail(cause)
	c.out.close(c.calls.cause(), true)
	c.stopWatch()
	if err := c.nc.Close(); err != nil {
		c.cfg.log.Debug("closing a connection", "addr", c.addr, "err", err)
	}
}

// release gives up one of the references; the last one out says so.
func (c *Conn) release() {
	if c.refs.Add(-1) == 0 {
		c.cfg.gone(c)
		close(c.over)
	}
}

func (c *Conn) readLoop() {
	defer c.release()
	for {
		cmd, err := c.in.next()
		if err != nil {
			c.die(c.readerCause(err))
			break
		}
		c.dispatch(cmd)
	}
	<-c.failed // another goroutine may still be failing the waiters
	c.cfg.ended(c, c.calls.cause())
}

// dispatch hands on one command. Only the flag tells answers from requests: brokers number their own requests, and such a
// number may equal one of ours.
func (c *Conn) dispatch(cmd *protocol.Command) {
	if !cmd.IsResponse() {
		c.logIncoming(cmd, cmd.RequestCode())
		c.cfg.request(c, cmd)
		return
	}
	if !c.binary.Load() && cmd.Version >= binaryVersion {
		c.binary.Store(true)
	}
	w := c.calls.take(cmd.Opaque)
	if w == nil {
		c.unmatched.Add(1)
		c.logIncoming(cmd, unknownRequest)
		return
	}
	c.logIncoming(cmd, w.code)
	c.complete(w, cmd, nil)
}

// complete gives a waiter that was taken out of the table its answer, or the reason why there is none.
func (c *Conn) complete(w *waiter, cmd *protocol.Command, err error) {
	if err != nil {
		err = c.errorFor(w.code, err)
	}
	if w.done == nil {
		w.answer <- answer{cmd, err}
		return
	}
	done := w.done
	c.calls.recycle(w)
	c.callBack(done, cmd, err)
}

// callBack keeps a panic in a callback from ending the reader, and with it everybody else's requests.
func (c *Conn) callBack(done func(*protocol.Command, error), cmd *protocol.Command, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.cfg.log.Error("a callback panicked", "addr", c.addr, "panic", p, "stack", string(debug.Stack()))
		}
	}()
	done(cmd, err)
}

func (c *Conn) errorFor(code protocol.RequestCode, err error) error {
	return &Error{Addr: c.addr, Op: code.String(), Err: err}
}

func (c *Conn) logIncoming(cmd *protocol.Command, code protocol.RequestCode) {
	if c.cfg.wire != nil {
		c.cfg.wire.incoming(c.addr, cmd, code, c.in.header)
	}
}
