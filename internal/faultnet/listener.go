package faultnet

import (
	"net"
)

// listener is one open server address. Its fields but addr are guarded by net.mu.
type listener struct {
	net     *Network
	addr    *net.TCPAddr
	count   *counters
	backlog []*Conn // server ends that wait for Accept, oldest first
	closed  bool
}

// Accept waits for the next connection; after Close it fails with net.ErrClosed.
func (l *listener) Accept() (net.Conn, error) {
	n := l.net
	n.mu.Lock()
	defer n.mu.Unlock()
	for {
		if l.closed {
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
		}
		if len(l.backlog) > 0 {
			conn := l.backlog[0]
			l.backlog = l.backlog[1:]
			l.count.accepted.Add(1)
			n.changed.Broadcast() // a dial may wait for room
			return conn, nil
		}
		n.changed.Wait()
	}
}

// Close stops listening and resets the connections nobody accepted; accepted ones
// live on. A second Close fails with net.ErrClosed.
func (l *listener) Close() error {
	n := l.net
	n.mu.Lock()
	if l.closed {
		n.mu.Unlock()
		return &net.OpError{Op: "close", Net: "tcp", Addr: l.addr, Err: net.ErrClosed}
	}
	l.closed = true
	delete(n.listeners, l.addr.String())
	orphans := l.backlog
	l.backlog = nil
	n.changed.Broadcast()
	n.mu.Unlock()
	for _, conn := range orphans {
		conn.link.cut()
	}
	return nil
}

// Addr is a *net.TCPAddr with the real port, also after Listen(":0").
func (l *listener) Addr() net.Addr { return l.addr }
