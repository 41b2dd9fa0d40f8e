package sandbox

import (
	"context"
	"errors"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// askPatience is how long a broker waits for a client that an admin has a question for.
const askPatience = 10 * time.Second

// errNoAnswer says that a client has not answered a broker's question in time.
var errNoAnswer = errors.New("no answer in time")

// life is the time between New and Close, as a context.
type life struct{ over <-chan struct{} }

// Deadline is none.
func (life) Deadline() (time.Time, bool) { return time.Time{}, false }

// Done is closed when the sandbox has ended.
func (l life) Done() <-chan struct{} { return l.over }

// Err is context.Canceled from then on.
func (l life) Err() error {
	select {
	case <-l.over:
		return context.Canceled
	default:
		return nil
	}
}

// Value is nil.
func (life) Value(any) any { return nil }

// ask puts a broker's own question to a client; done gets the answer, or why there is none, on the run goroutine. Such
// questions have JSON headers. The connection gets no time limit, since it would take a client that answers nothing for
// dead: a real broker goes on with such a client.
func (b *broker) ask(p *peer, req *protocol.Command, patience time.Duration, done func(*protocol.Command, error)) {
	s := b.sandbox
	req.Version = s.opt.Version
	var late *alarm
	over := false
	finish := func(resp *protocol.Command, err error) {
		if over {
			return
		}
		over = true
		s.alarms.cancel(late)
		done(resp, err)
	}
	late = s.alarms.set(s.now().Add(patience), func() { finish(nil, errNoAnswer) })
	s.asking.Go(func() { // Start waits while a client reads nothing
		p.conn.Start(life{s.done}, req, 0, func(resp *protocol.Command, err error) {
			s.post(event{call: func() { finish(resp, err) }})
		})
	})
}

// callConsumer passes a question on to one client of a group, Java's callConsumer, and the client's answer back.
func (r *request) callConsumer(group, clientID string, ext protocol.ExtFields, body []byte) *protocol.Command {
	b := r.broker
	m := b.findMember(group, clientID)
	if m == nil {
		return r.failf(protocol.CodeSystemError, "The Consumer <%s> <%s> not online", group, clientID)
	}
	req := protocol.NewBodyRequest(r.RequestCode(), body)
	req.Ext = ext
	b.ask(m.peer, req, askPatience, func(resp *protocol.Command, err error) {
		switch {
		case err == nil:
			r.passBack(resp)
		case errors.Is(err, errNoAnswer):
			b.sandbox.answer(r, r.failf(protocol.CodeConsumeMsgTimeout, "consumer <%s> <%s> Timeout: %v", group, clientID, err))
		default:
			b.sandbox.answer(r, r.failf(protocol.CodeSystemError, "invoke consumer <%s> <%s> Exception: %v", group, clientID, err))
		}
	})
	return nil
}

// findMember is the client of a group with an id, nil for none.
func (b *broker) findMember(group, clientID string) *member {
	g := b.consumers[group]
	if g == nil {
		return nil
	}
	if i := slices.IndexFunc(g.members, func(m *member) bool { return m.clientID == clientID }); i >= 0 {
		return g.members[i]
	}
	return nil
}

// passBack answers r with what a client has answered in the broker's place: language, version and remark are the client's.
func (r *request) passBack(resp *protocol.Command) {
	copied := *resp
	copied.Opaque, copied.Serialize = r.Opaque, r.Serialize
	r.sandbox.passOn(r, &copied)
}
