package sandbox

import (
	"fmt"
	"log/slog"
	"net/netip"
	"runtime/debug"
	"slices"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

const (
	// inboxSize is how many events may wait for the run goroutine before connections stop reading.
	inboxSize = 1024
	// burst is how many waiting events are handled before parked pulls are looked at: a pull that wakes up under load
	// then takes what a whole burst of sends has brought.
	burst = 64
)

// event is one thing for the run goroutine to do: a request, a closed connection (cmd is nil) or a call from outside.
type event struct {
	conn *remoting.Conn
	cmd  *protocol.Command
	at   *broker // nil when conn is the name server's
	call func()
}

// post hands e to the run goroutine; it gives up when that has ended.
func (s *Sandbox) post(e event) {
	select {
	case s.inbox <- e:
	case <-s.done:
	}
}

// do runs fn on the run goroutine and waits for it. It reports false, without running fn, on a closed sandbox.
func (s *Sandbox) do(fn func()) bool {
	ran := make(chan struct{})
	s.post(event{call: func() {
		defer close(ran)
		fn()
	}})
	select {
	case <-ran:
		return true
	case <-s.done:
		return false
	}
}

// run owns all state of the sandbox: topics, logs, offsets, groups, locks and parked pulls are touched by nobody else, so
// that no handler needs a lock. Close waits for it.
func (s *Sandbox) run() {
	defer close(s.done)
	defer s.alarms.timer.Stop()
	for {
		s.alarms.arm()
		select {
		case e := <-s.inbox:
			s.clock = time.Now()
			s.handle(e)
			s.drain()
		case <-s.alarms.timer.C:
			s.clock = time.Now()
			s.alarms.armed = time.Time{}
		case <-s.quit:
			return
		}
		s.alarms.fire(s.clock)
		s.wakeDirty()
	}
}

// drain handles what has queued up meanwhile.
func (s *Sandbox) drain() {
	for range burst - 1 {
		select {
		case e := <-s.inbox:
			s.handle(e)
		default:
			return
		}
	}
}

func (s *Sandbox) handle(e event) {
	switch {
	case e.call != nil:
		e.call()
	case e.cmd != nil:
		s.receive(e)
	default:
		s.forget(e.conn)
	}
}

// now is the time of the event that is being handled.
func (s *Sandbox) now() time.Time { return s.clock }

// peer is one connection as the run goroutine sees it.
type peer struct {
	conn    *remoting.Conn
	addr    netip.AddrPort // the client's
	broker  *broker        // nil for the name server
	held    map[*hold]struct{}
	version int32             // of its latest request
	lang    protocol.Language // of its latest request
}

// request is one request on its way through the sandbox.
type request struct {
	*protocol.Command
	sandbox *Sandbox
	broker  *broker // nil for the name server
	peer    *peer
	fault   *outcome // what the faults made of it, nil for nothing
}

// handler answers a request; nil means not now (a parked pull) or not at all (a one-way request).
type handler func(r *request) *protocol.Command

// receive counts a request, lets the faults have it, and handles it.
func (s *Sandbox) receive(e event) {
	p := s.peers[e.conn]
	if p == nil {
		p = &peer{conn: e.conn, addr: e.conn.RemoteAddr(), broker: e.at}
		s.peers[e.conn] = p
	}
	p.version, p.lang = e.cmd.Version, e.cmd.Language
	if e.cmd.Serialize == protocol.SerializeRocketMQ {
		e.cmd.Ext = withoutEmpty(e.cmd.Ext)
	}
	s.counts[e.cmd.RequestCode()]++
	r := &request{Command: e.cmd, sandbox: s, broker: e.at, peer: p}
	if len(s.rules) > 0 && !s.applyRules(r) {
		return
	}
	s.dispatch(r)
}

// withoutEmpty drops fields with empty values: in a binary header Java reads those as null, as if they were not there.
func withoutEmpty(ext protocol.ExtFields) protocol.ExtFields {
	empty := func(f protocol.ExtField) bool { return f.Value == "" }
	if slices.ContainsFunc(ext, empty) {
		return slices.DeleteFunc(ext, empty)
	}
	return ext
}

// dispatch runs the handler of r's code and sends its answer.
func (s *Sandbox) dispatch(r *request) {
	s.changes.request = r
	resp := s.call(r)
	s.changes.request = nil
	if resp != nil {
		s.answer(r, resp)
	}
}

// call runs a handler. A handler that panics has met a request it was not made for: its sender is told, everybody else
// goes on.
func (s *Sandbox) call(r *request) (resp *protocol.Command) {
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("a handler panicked", slog.String("request", r.RequestCode().String()),
				slog.Any("panic", v), slog.String("stack", string(debug.Stack())))
			resp = r.fail(protocol.CodeSystemError, fmt.Sprintf("internal error of the sandbox: %v", v))
		}
	}()
	table := brokerHandlers
	if r.broker == nil {
		table = nameServerHandlers
	}
	if r.broker != nil && r.broker.master != nil {
		table = replicaHandlers
	}
	h := table[r.RequestCode()]
	if h == nil || !s.speaks(r.RequestCode()) {
		return r.fail(protocol.CodeRequestCodeNotSupported, fmt.Sprintf(" request type %d not supported", r.Code))
	}
	return h(r)
}

// answer sends resp unless the request was one-way or a fault has other plans.
func (s *Sandbox) answer(r *request, resp *protocol.Command) {
	if r.IsOneway() {
		return
	}
	resp.Version = s.opt.Version
	s.passOn(r, resp)
}

// passOn is answer without the broker's own stamp: for what a client has answered in the broker's place.
func (s *Sandbox) passOn(r *request, resp *protocol.Command) {
	if r.fault != nil {
		r.fault.answer(r, resp)
		return
	}
	s.send(r.peer, resp)
}

// send queues a frame on a connection. A connection that is gone has taken its members and parked pulls with it, so its
// error interests nobody.
func (s *Sandbox) send(p *peer, cmd *protocol.Command) {
	if err := p.conn.Send(cmd); err != nil {
		s.log.Debug("could not send", slog.Any("error", err))
	}
}

// forget removes everything that a closed connection stood for.
func (s *Sandbox) forget(c *remoting.Conn) {
	p := s.peers[c]
	if p == nil {
		return
	}
	delete(s.peers, c)
	for h := range p.held {
		h.release(s)
	}
	if p.broker != nil {
		p.broker.dropPeer(p)
	}
}

// ok is a successful answer; header may be nil or a typed struct.
func (r *request) ok(header any, body []byte) *protocol.Command {
	return protocol.NewResponse(r.Command, protocol.CodeSuccess, "", header, body)
}

// okRemark is a success with the remark that Java forgets in many admin answers: readers must not judge by it.
func (r *request) okRemark() *protocol.Command {
	return protocol.NewResponse(r.Command, protocol.CodeSuccess, "not set any response code", nil, nil)
}

func (r *request) fail(code protocol.ResponseCode, remark string) *protocol.Command {
	return protocol.NewResponse(r.Command, code, remark, nil, nil)
}

func (r *request) failf(code protocol.ResponseCode, format string, args ...any) *protocol.Command {
	return r.fail(code, fmt.Sprintf(format, args...))
}

// decode reads the request's header into h. A missing field or a bad number becomes the answer that a real broker gives
// after its NullPointerException or NumberFormatException: code 1.
func (r *request) decode(h any) *protocol.Command {
	if err := r.DecodeHeader(h); err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	return nil
}

// ext is an ext field of the request, "" when it is absent.
func (r *request) ext(name string) string {
	v, _ := r.Ext.Get(name)
	return v
}
