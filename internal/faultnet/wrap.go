package faultnet

import (
	"errors"
	"io"
	"net"
	"sync"
)

// Wrap puts faults on a connection of any kind, such as a real TCP one: use the
// returned connection in its place and leave conn alone. Everything but Refuse
// works; ToServer is what the wrapped end writes. Two goroutines carry the bytes.
// They end when the returned connection is closed and what it wrote is delivered,
// so faults that hold bytes back must be healed or cut for them to end.
func Wrap(conn net.Conn, faults *Faults) net.Conn {
	l := newLink(conn.LocalAddr(), conn.RemoteAddr(), []*Faults{faults}, nil, 1, 0)
	b := &bridge{near: l.client, far: l.server, conn: conn}
	go b.carryOut() // ends after near's close, and closes conn
	go b.carryIn()  // ends when conn is closed
	return l.client
}

// bridge joins the far end of a link to a foreign connection.
type bridge struct {
	near, far *Conn
	conn      net.Conn
	once      sync.Once
}

// carryOut moves what near writes to the foreign connection.
func (b *bridge) carryOut() {
	_, err := io.Copy(b.conn, b.far)
	if err == nil {
		if half, ok := b.conn.(interface{ CloseWrite() error }); ok {
			err = ignoreClosed(half.CloseWrite())
		}
	}
	if err == nil {
		err = b.far.awaitPeer()
	}
	b.shut(err != nil)
}

// carryIn moves what the foreign connection sends to near.
func (b *bridge) carryIn() {
	_, err := io.Copy(b.far, b.conn)
	switch {
	case err == nil:
		err = b.far.CloseWrite()
	case errors.Is(err, net.ErrClosed):
		err = nil
	}
	if ignoreClosed(err) != nil && !b.nearClosed() {
		b.shut(true)
	}
}

func (b *bridge) nearClosed() bool {
	b.near.link.mu.Lock()
	defer b.near.link.mu.Unlock()
	return b.near.closed
}

// shut ends both sides, abruptly if something broke.
func (b *bridge) shut(abrupt bool) {
	b.once.Do(func() {
		if abrupt {
			b.near.link.cut()
			if tcp, ok := b.conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0) // a reset, not a FIN
			}
		}
		// The errors are those of connections that are gone already.
		_ = b.conn.Close()
		_ = b.far.Close()
	})
}

// ignoreClosed drops the error of closing what is closed.
func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
