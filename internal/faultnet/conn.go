package faultnet

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// Conn is one end of a connection. Besides net.Conn it offers CloseWrite, as
// *net.TCPConn does, and Faults. Its errors, but io.EOF, are *net.OpError around
// net.ErrClosed, os.ErrDeadlineExceeded, ECONNRESET or EPIPE.
type Conn struct {
	link          *link
	in, out       *stream
	peer          *Conn
	local, remote net.Addr

	// Guarded by link.mu.
	closed        bool
	writing       bool // a Write is under way: others wait, so that none is torn
	readDeadline  deadline
	writeDeadline deadline
}

// Faults is the set that acts on this connection alone, in addition to those of
// its address. Both ends share it.
func (c *Conn) Faults() *Faults { return c.link.own }

// Read returns what has arrived, at most len(p) bytes; io.EOF when the peer closed
// and everything before that was read.
func (c *Conn) Read(p []byte) (int, error) {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if err := c.broken(&c.readDeadline); err != nil {
			return 0, c.fail("read", err)
		}
		if len(p) == 0 {
			return 0, nil
		}
		now, pl := time.Now(), l.plan()
		n, wait := c.in.ready(now, pl)
		if n > 0 {
			if pl.chunk > 0 {
				n = min(n, 1+l.rng.IntN(pl.chunk))
			}
			return c.in.pop(p, n), nil
		}
		if c.in.buf.size == 0 && c.in.ended(now, pl) {
			return 0, io.EOF
		}
		if wait > 0 {
			l.wakeIn(c.in, wait)
		}
		c.in.cond.Wait()
	}
}

// Write queues all of p, waiting while the buffer (256 KiB) is full. Like a
// kernel it does not say whether the peer has seen a byte.
func (c *Conn) Write(p []byte) (int, error) {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for c.writing {
		if err := c.broken(&c.writeDeadline); err != nil {
			return 0, c.fail("write", err)
		}
		c.out.cond.Wait()
	}
	c.writing = true
	defer func() {
		c.writing = false
		c.out.cond.Broadcast()
	}()
	written := 0
	for {
		now, pl := time.Now(), l.plan()
		if err := c.writeError(now, pl); err != nil {
			return written, c.fail("write", err)
		}
		written += c.out.push(p[written:], now, pl, l.rng)
		if written == len(p) {
			return written, nil
		}
		if c.peer.closed && now.Before(c.in.finDue) {
			l.wakeIn(c.out, c.in.finDue.Sub(now))
		}
		c.out.cond.Wait()
	}
}

// broken is the error of an end that can no longer be used, or not in time.
func (c *Conn) broken(d *deadline) error {
	switch {
	case c.closed:
		return net.ErrClosed
	case c.link.reset:
		return syscall.ECONNRESET
	case d.expired:
		return os.ErrDeadlineExceeded
	}
	return nil
}

// writeError also knows the peer's end: it shows once its FIN has arrived here.
func (c *Conn) writeError(now time.Time, pl plan) error {
	if err := c.broken(&c.writeDeadline); err != nil {
		return err
	}
	if c.out.fin || c.peer.closed && c.in.ended(now, pl) {
		return syscall.EPIPE
	}
	return nil
}

func (c *Conn) fail(op string, err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		err = os.NewSyscallError(op, number)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close ends both directions. The peer reads what was written before, then io.EOF,
// and its writes fail. Waiting calls of this end fail with net.ErrClosed.
func (c *Conn) Close() error {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.closed = true
	c.readDeadline.stop()
	c.writeDeadline.stop()
	c.out.finish(time.Now(), l.plan(), l.rng)
	if c.peer.closed {
		l.end()
	}
	l.broadcast()
	return nil
}

// CloseWrite ends the direction of this end's writes only.
func (c *Conn) CloseWrite() error {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return c.fail("close", net.ErrClosed)
	}
	c.out.finish(time.Now(), l.plan(), l.rng)
	return nil
}

// awaitPeer waits until the other end is closed or the connection is reset, and
// says which: nil for a close.
func (c *Conn) awaitPeer() error {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	for !c.peer.closed && !l.reset {
		c.in.cond.Wait()
	}
	if l.reset {
		return c.fail("read", syscall.ECONNRESET)
	}
	return nil
}

// LocalAddr is this end's address, a *net.TCPAddr.
func (c *Conn) LocalAddr() net.Addr { return c.local }

// RemoteAddr is the other end's address, a *net.TCPAddr.
func (c *Conn) RemoteAddr() net.Addr { return c.remote }

// SetDeadline sets both deadlines; the zero time means none.
func (c *Conn) SetDeadline(t time.Time) error {
	if err := c.SetReadDeadline(t); err != nil {
		return err
	}
	return c.SetWriteDeadline(t)
}

// SetReadDeadline also ends a Read that waits already.
func (c *Conn) SetReadDeadline(t time.Time) error { return c.setDeadline(&c.readDeadline, c.in, t) }

// SetWriteDeadline also ends a Write that waits already.
func (c *Conn) SetWriteDeadline(t time.Time) error { return c.setDeadline(&c.writeDeadline, c.out, t) }

// deadline fires once and stays expired until it is set again.
type deadline struct {
	timer   *time.Timer
	expired bool
	version int // a timer that fires late must not expire its successor
}

func (d *deadline) stop() {
	d.version++
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (c *Conn) setDeadline(d *deadline, s *stream, t time.Time) error {
	l := c.link
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return c.fail("set", net.ErrClosed)
	}
	d.stop()
	d.expired = false
	if t.IsZero() {
		return nil
	}
	wait := time.Until(t)
	if wait <= 0 {
		d.expired = true
		s.cond.Broadcast()
		return nil
	}
	version := d.version
	d.timer = time.AfterFunc(wait, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if d.version == version {
			d.expired = true
			s.cond.Broadcast()
		}
	})
	return nil
}
