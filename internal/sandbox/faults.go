package sandbox

import (
	"fmt"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// AllRequests stands for every request code in On.
const AllRequests protocol.RequestCode = -1

// rule is one registered fault.
type rule struct {
	code protocol.RequestCode
	fn   func(*Control)
	left int // requests it will act on before it is removed, negative for no limit
}

// On has fn look at every request with the given code (AllRequests: at every one) before it is handled, at the name server
// and at all brokers. fn decides with the methods of Control; without any the request is handled as usual. Faults are asked
// in the order of their registration until one of them answers, drops or closes. fn runs on the goroutine that owns the
// sandbox: it must not block, and must not call the Sandbox's methods. remove ends the fault.
func (s *Sandbox) On(code protocol.RequestCode, fn func(*Control)) (remove func()) {
	r := &rule{code: code, fn: fn, left: -1}
	s.do(func() { s.rules = append(s.rules, r) })
	return func() { s.do(func() { s.removeRule(r) }) }
}

// ClearFaults removes every fault.
func (s *Sandbox) ClearFaults() { s.do(func() { s.rules = nil }) }

func (s *Sandbox) removeRule(gone *rule) {
	kept := make([]*rule, 0, len(s.rules))
	for _, r := range s.rules {
		if r != gone {
			kept = append(kept, r)
		}
	}
	s.rules = kept
}

// Control is one request in the hands of a fault.
type Control struct {
	Request *protocol.Command // must not be changed
	Broker  string            // "" at the name server; a replica is its broker's name, a dash and its number
	Client  string            // the client's address

	r       *request
	outcome outcome
	acted   bool
	limit   int // 0: not said
}

// outcome is what the faults have decided about a request.
type outcome struct {
	wait    time.Duration             // before it is handled
	delay   time.Duration             // before the answer leaves
	rewrite []func(*protocol.Command) // changes of the answer
	instead func(*Sandbox, *request)  // runs in place of the handler
	swallow bool                      // handled, but not answered
}

// Header reads the request's ext fields into a typed header, as the handler would.
func (c *Control) Header(h any) error { return c.Request.DecodeHeader(h) }

// Reply answers with a code and a remark; the request is not handled.
func (c *Control) Reply(code protocol.ResponseCode, remark string) {
	c.ReplyWith(func(req *protocol.Command) *protocol.Command {
		return protocol.NewResponse(req, code, remark, nil, nil)
	})
}

// ReplyWith answers with what build makes of the request (nil: nothing); the request is not handled.
func (c *Control) ReplyWith(build func(req *protocol.Command) *protocol.Command) {
	c.instead(func(s *Sandbox, r *request) {
		if resp := build(r.Command); resp != nil {
			s.answer(r, resp)
		}
	})
}

// Delay lets the request be handled at once but holds its answer back for d, as a slow network does. For a parked pull d
// counts from the moment it has its answer.
func (c *Control) Delay(d time.Duration) {
	c.acted = true
	c.outcome.delay += d
}

// Wait has the request handled only after d, as a busy broker does. Other requests go on meanwhile.
func (c *Control) Wait(d time.Duration) {
	c.acted = true
	c.outcome.wait += d
}

// Drop loses the request: it is neither handled nor answered.
func (c *Control) Drop() { c.instead(func(*Sandbox, *request) {}) }

// DropAnswer has the request handled and loses the answer.
func (c *Control) DropAnswer() {
	c.acted = true
	c.outcome.swallow = true
}

// Close cuts the connection; the request is not handled.
func (c *Control) Close() {
	c.instead(func(_ *Sandbox, r *request) { r.peer.conn.Abort() })
}

// BadFrame answers with a frame whose header is no header; the request is not handled.
func (c *Control) BadFrame() {
	c.instead(func(s *Sandbox, r *request) {
		const frame = "\x00\x00\x00\x0c\x00\x00\x00\x08{\"code\":"
		if err := r.peer.conn.SendRaw([]byte(frame)); err != nil {
			s.log.Debug("could not send a bad frame", "error", err)
		}
	})
}

// Rewrite has fn change the answer before it leaves.
func (c *Control) Rewrite(fn func(resp *protocol.Command)) {
	c.acted = true
	c.outcome.rewrite = append(c.outcome.rewrite, fn)
}

// Suggest has the answer to a pull name the replica to ask next, as a broker does that has fallen behind.
func (c *Control) Suggest(id int64) {
	c.Rewrite(func(resp *protocol.Command) {
		if h, ok := resp.Header.(*protocol.PullMessageResponse); ok {
			h.SuggestWhichBrokerID = id
		}
	})
}

// Once removes the fault after it has acted on one request; looking alone does not count. It is Times(1).
func (c *Control) Once() { c.Times(1) }

// Times removes the fault after it has acted on n requests, this one included, counted from the first call.
func (c *Control) Times(n int) { c.limit = n }

// Keep takes back what Once and Times have said before: the fault stays until it is removed, as it does by itself.
func (c *Control) Keep() { c.limit = -1 }

// Observe lets the request pass untouched, whatever was decided about it before; it does not count for Times.
func (c *Control) Observe() { c.outcome, c.acted = outcome{}, false }

func (c *Control) instead(fn func(*Sandbox, *request)) {
	c.acted = true
	c.outcome.instead = fn
}

// applyRules asks the faults about r and reports whether it is to be handled now.
func (s *Sandbox) applyRules(r *request) bool {
	all := outcome{}
	for _, rule := range s.rules { // removing replaces the slice, so this one stays as it is
		if rule.code != AllRequests && rule.code != r.RequestCode() {
			continue
		}
		c := s.consult(rule, r)
		all.add(&c.outcome)
		if all.instead != nil {
			break
		}
	}
	if all.wait == 0 && all.delay == 0 && all.instead == nil && !all.swallow && all.rewrite == nil {
		return true
	}
	r.fault = &all
	if all.wait > 0 {
		s.alarms.set(s.now().Add(all.wait), func() { s.proceed(r) })
		return false
	}
	s.proceed(r)
	return false
}

// proceed does what the faults have decided.
func (s *Sandbox) proceed(r *request) {
	if s.peers[r.peer.conn] != r.peer {
		return // the connection has ended while the request waited
	}
	if r.fault.instead != nil {
		r.fault.instead(s, r)
		return
	}
	s.dispatch(r)
}

// consult runs one fault. A fault that panics is removed: it would do so again.
func (s *Sandbox) consult(rule *rule, r *request) (c *Control) {
	c = &Control{Request: r.Command, Client: r.peer.addr.String(), r: r}
	if r.broker != nil {
		c.Broker = r.broker.node()
	}
	defer func() {
		if v := recover(); v != nil {
			s.log.Error("a fault panicked and was removed", "panic", v)
			s.removeRule(rule)
			c.instead(func(s *Sandbox, r *request) {
				s.answer(r, r.fail(protocol.CodeSystemError, fmt.Sprintf("a fault panicked: %v", v)))
			})
		}
	}()
	rule.fn(c)
	switch {
	case c.limit < 0:
		rule.left = -1
	case c.limit > 0 && rule.left < 0:
		rule.left = c.limit
	}
	if c.acted && rule.left > 0 {
		if rule.left--; rule.left == 0 {
			s.removeRule(rule)
		}
	}
	return c
}

func (o *outcome) add(x *outcome) {
	o.wait += x.wait
	o.delay += x.delay
	o.swallow = o.swallow || x.swallow
	o.rewrite = append(o.rewrite, x.rewrite...)
	if x.instead != nil {
		o.instead = x.instead
	}
}

// answer sends resp as the faults want it.
func (o *outcome) answer(r *request, resp *protocol.Command) {
	if o.swallow {
		return
	}
	if len(o.rewrite) > 0 {
		resp.Ext = slices.Clone(resp.Ext) // it may be shared with other answers
	}
	for _, fn := range o.rewrite {
		fn(resp)
	}
	s := r.sandbox
	if o.delay > 0 {
		s.alarms.set(s.now().Add(o.delay), func() { s.send(r.peer, resp) })
		return
	}
	s.send(r.peer, resp)
}
