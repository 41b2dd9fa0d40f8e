package remoting

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// The defaults of a connection's limits.
const (
	// DefaultDialTimeout is how long making a connection may take, Java's connectTimeoutMillis.
	DefaultDialTimeout = 3 * time.Second
	// DefaultWriteTimeout is how long a peer may take none of the bytes that wait for it.
	DefaultWriteTimeout = 10 * time.Second
	// DefaultFrameTimeout is how long a frame that has begun may take to arrive.
	DefaultFrameTimeout = 15 * time.Second
	// DefaultIdleTimeout is how long a connection may be without any traffic, Java's clientChannelMaxIdleTimeSeconds.
	DefaultIdleTimeout = 120 * time.Second
	// DefaultSilenceTimeout is how long an unanswered request must have seen nothing at all arrive before the connection
	// is taken for dead. Java closes a connection at every request that times out.
	DefaultSilenceTimeout = 2 * time.Second
)

// scanSpacing is the least time between two scans of the open requests: a thousand limits a millisecond apart must not
// cost a thousand scans.
const scanSpacing = int64(5 * time.Millisecond)

// limits are the times after which a connection is cut.
type limits struct {
	write, frame, idle, silence time.Duration
}

// limitOr is the configured limit: zero stands for the default, a negative one for none.
func limitOr(configured, standard time.Duration) time.Duration {
	switch {
	case configured == 0:
		return standard
	case configured < 0:
		return never
	}
	return configured
}

// watch is a connection's one timer. It fires at the earliest thing that may be overdue: a request, a frame that began, a
// write, any traffic. Deadlines on the net.Conn would cost a timer operation for every read and write instead.
type watch struct {
	mu    sync.Mutex
	timer *time.Timer
	at    atomic.Int64 // when it fires, on the connection's clock; never while its function runs
	off   bool
}

// due is when the timer fires next, on the connection's clock.
func (w *watch) due() int64 { return w.at.Load() }

func (c *Conn) startWatch() {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	at := c.nextCheck(0)
	c.watch.at.Store(at)
	c.refs.Add(1)
	c.watch.timer = time.AfterFunc(time.Duration(at), c.check)
}

// stopWatch ends the timer; its function may still be running and then counts among the connection's goroutines.
func (c *Conn) stopWatch() {
	c.watch.mu.Lock()
	stopped := !c.watch.off && c.watch.timer.Stop()
	c.watch.off = true
	c.watch.mu.Unlock()
	if stopped {
		c.release()
	}
}

// checkAt makes the timer fire at a time on the connection's clock, if it would fire later.
func (c *Conn) checkAt(at int64) {
	c.watch.mu.Lock()
	defer c.watch.mu.Unlock()
	if c.watch.off || at >= c.watch.at.Load() {
		return
	}
	c.watch.at.Store(at)
	c.refs.Add(1)
	if c.watch.timer.Reset(time.Duration(at - c.now())) {
		c.refs.Add(-1) // it was armed already, and counted
	}
}

// check runs when the timer fires.
func (c *Conn) check() {
	defer c.release()
	c.watch.at.Store(never) // from here on, a new request arms the timer itself

	now := c.now()
	if cause := c.overdue(now); cause != nil {
		c.die(cause)
		return
	}
	late, next := c.calls.expired(now)
	silent := false
	for _, w := range late {
		waited := time.Duration(now - w.start)
		silent = silent || c.showsSilence(w, now)
		c.complete(w, nil, &limitError{waited: waited}) // w may be in use again from here on
	}
	if silent {
		c.die(c.silence(now))
		return
	}
	if next != never {
		next = max(next, now+scanSpacing)
	}
	c.checkAt(min(next, c.nextCheck(now)))
}

// overdue is why the connection has to be cut, or nil.
func (c *Conn) overdue(now int64) error {
	l := &c.cfg.limits
	if at := c.in.beganAt.Load(); at != 0 && now-at >= int64(l.frame) {
		return lost("a frame that the peer began did not arrive in %v", l.frame)
	}
	if at := c.writeBegan.Load(); at != 0 && now-at >= int64(l.write) {
		return lost("the peer stopped reading: it took nothing for %v", l.write)
	}
	if now-max(c.in.lastRead.Load(), c.lastWrite.Load()) >= int64(l.idle) {
		return lost("no traffic for %v", l.idle)
	}
	return nil
}

// nextCheck is when a limit of the connection may be overdue. What begins after now cannot be overdue before its limit
// has passed, so looking again after the shortest limit misses nothing.
func (c *Conn) nextCheck(now int64) int64 {
	l := &c.cfg.limits
	next := after(now, min(l.frame, l.write, l.idle))
	if at := c.in.beganAt.Load(); at != 0 {
		next = min(next, after(at, l.frame))
	}
	if at := c.writeBegan.Load(); at != 0 {
		next = min(next, after(at, l.write))
	}
	return min(next, after(max(c.in.lastRead.Load(), c.lastWrite.Load()), l.idle))
}

func after(at int64, d time.Duration) int64 {
	if d == never {
		return never
	}
	return at + int64(d)
}

// showsSilence reports whether a request without an answer shows that the connection is dead: nothing whatever has
// arrived since it was sent, for long enough. A connection whose other end vanished gives no other sign.
func (c *Conn) showsSilence(w *waiter, now int64) bool {
	return now-w.start >= int64(c.cfg.limits.silence) && c.in.readsDone.Load() == w.reads
}

func (c *Conn) silence(now int64) error {
	return lost("nothing arrived for %v and a request went unanswered", time.Duration(now-c.in.lastRead.Load()).Round(time.Millisecond))
}

func isTimeout(err error) bool { return errors.Is(err, os.ErrDeadlineExceeded) }
