package remoting

import (
	"errors"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// DefaultMaxConns is how many connections a server keeps at most.
const DefaultMaxConns = 1024

// Pauses after an accept that failed, as when the process has no file descriptor left.
const (
	acceptPause    = 5 * time.Millisecond
	maxAcceptPause = time.Second
)

// ServerConfig sets up a Server. The zero value works; of the time limits, zero stands for the default and a negative
// value for none.
type ServerConfig struct {
	MaxFrame     int           // largest frame in either direction, bytes; default protocol.DefaultMaxFrame
	MaxConns     int           // further connections are closed at once; default DefaultMaxConns
	MaxPending   int           // bytes that may wait for a peer that reads slowly; default DefaultMaxPending
	WriteTimeout time.Duration // default DefaultWriteTimeout
	FrameTimeout time.Duration // default DefaultFrameTimeout
	IdleTimeout  time.Duration // default DefaultIdleTimeout

	// Handle gets every request, on the reader of its connection: while it runs, nothing else of that connection is read.
	// It answers by Conn.Send, then or later. A panic is answered with SYSTEM_ERROR.
	Handle func(c *Conn, req *protocol.Command)
	// OnClose is called once for every connection that has ended, after its last Handle.
	OnClose func(c *Conn)
	Wire    *WireLog     // nil: frames are not logged
	Logger  *slog.Logger // nil: nothing is logged
}

// Server accepts connections and hands their requests to a handler.
type Server struct {
	cfg      ServerConfig
	conn     connConfig
	maxConns int
	l        net.Listener
	lastID   atomic.Uint64
	refused  atomic.Uint64
	quit     chan struct{}
	accepted chan struct{} // closed when the accept loop has ended
	mu       sync.Mutex
	conns    map[*Conn]struct{}
	closed   bool
}

// Serve starts to accept connections of l, which the server owns from here on. It needs Close.
func Serve(l net.Listener, cfg ServerConfig) *Server {
	s := &Server{
		cfg: cfg, maxConns: positiveOr(cfg.MaxConns, DefaultMaxConns), l: l,
		quit: make(chan struct{}), accepted: make(chan struct{}), conns: map[*Conn]struct{}{},
	}
	s.conn = connConfig{
		maxFrame: positiveOr(cfg.MaxFrame, protocol.DefaultMaxFrame), maxPending: positiveOr(cfg.MaxPending, DefaultMaxPending),
		maxBuffer: serverBuffer, jsonOnly: true,
		limits: limits{
			write: limitOr(cfg.WriteTimeout, DefaultWriteTimeout), frame: limitOr(cfg.FrameTimeout, DefaultFrameTimeout),
			idle: limitOr(cfg.IdleTimeout, DefaultIdleTimeout), silence: never,
		},
		request: s.receive, detach: func(*Conn) {}, ended: s.connEnded, gone: s.connGone,
		wire: cfg.Wire, log: loggerOr(cfg.Logger), lastID: &s.lastID,
	}
	go s.acceptLoop()
	return s
}

// Addr is where the server listens.
func (s *Server) Addr() net.Addr { return s.l.Addr() }

// Conns is the number of connections that are open.
func (s *Server) Conns() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Refused counts the connections that were closed at once because there were too many.
func (s *Server) Refused() uint64 { return s.refused.Load() }

// Close stops listening, cuts every connection and waits until every goroutine of the server has ended. It waits
// for handlers, so none may call it. Closing twice is harmless.
func (s *Server) Close() error {
	s.mu.Lock()
	first := !s.closed
	s.closed = true
	var conns []*Conn
	for c := range s.conns {
		conns = append(conns, c)
	}
	s.mu.Unlock()
	var err error
	if first {
		close(s.quit)
		err = s.l.Close()
	}
	for _, c := range conns {
		c.die(ErrClosed)
	}
	<-s.accepted
	for _, c := range conns {
		<-c.over
	}
	return err
}

// acceptLoop ends when the listener is closed; Close waits for it.
func (s *Server) acceptLoop() {
	defer close(s.accepted)
	pause := acceptPause
	for {
		nc, err := s.l.Accept()
		if err == nil {
			s.accept(nc)
			pause = acceptPause
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		s.conn.log.Warn("accepting a connection", "addr", s.l.Addr(), "err", err)
		select {
		case <-s.quit:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, maxAcceptPause)
	}
}

func (s *Server) accept(nc net.Conn) {
	if s.admit(nc) {
		return
	}
	if err := nc.Close(); err != nil {
		s.conn.log.Debug("closing a connection", "addr", nc.RemoteAddr(), "err", err)
	}
}

func (s *Server) admit(nc net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if len(s.conns) >= s.maxConns {
		s.refused.Add(1)
		return false
	}
	addr := "unknown"
	if a := nc.RemoteAddr(); a != nil {
		addr = a.String()
	}
	c := newConn(nc, addr, &s.conn)
	s.conns[c] = struct{}{}
	c.run()
	return true
}

func (s *Server) receive(c *Conn, req *protocol.Command) {
	if s.cfg.Handle == nil {
		respond(c, req, protocol.NewResponse(req, protocol.CodeRequestCodeNotSupported, "no request is served here", nil, nil))
		return
	}
	defer recoverHandler(c, req)
	s.cfg.Handle(c, req)
}

func (s *Server) connEnded(c *Conn, cause error) {
	s.conn.log.Debug("connection ended", "addr", c.addr, "err", cause)
	if s.cfg.OnClose != nil {
		s.cfg.OnClose(c)
	}
}

func (s *Server) connGone(c *Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}
