package remoting

import (
	"math"
	"sync"

	"mqctl/internal/protocol"
)

// never is a time on the connection's clock that does not come.
const never = math.MaxInt64

// maxFreeWaiters bounds the waiters that a connection keeps for reuse.
const maxFreeWaiters = 1024

// waiter is one request that waits for its answer. Whoever takes it out of the table completes it, and nobody else: that
// is what makes "exactly once" hold between the reader, the timer, the caller's context and the end of the connection.
type waiter struct {
	answer   chan answer                    // for Call; has room for one, so completing never blocks
	done     func(*protocol.Command, error) // for Start
	code     protocol.RequestCode           // names the request in errors
	start    int64                          // when it was registered, on the connection's clock
	deadline int64                          // when it is given up, or never
	reads    uint64                         // that the connection had done at the start; more now means that something arrived
}

type answer struct {
	cmd *protocol.Command
	err error
}

// calls is a connection's table of open requests, opaque to waiter. The mutex is held for a map operation only.
type calls struct {
	mu   sync.Mutex
	open map[int32]*waiter
	free []*waiter // for reuse; kept per connection since a channel must not cross synctest bubbles
	last int32     // the opaque given out last
	err  error     // why no request is taken any more; the connection's cause of death
}

// add registers a request and gives it an opaque that no other open request has.
func (t *calls) add(code protocol.RequestCode, done func(*protocol.Command, error), start, deadline int64, reads uint64) (*waiter, int32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, 0, t.err
	}
	w := t.reuse()
	w.code, w.done, w.start, w.deadline, w.reads = code, done, start, deadline, reads
	if done == nil && w.answer == nil {
		w.answer = make(chan answer, 1)
	}
	opaque := t.nextOpaque()
	t.open[opaque] = w
	return w, opaque, nil
}

func (t *calls) reuse() *waiter {
	n := len(t.free)
	if n == 0 {
		return &waiter{}
	}
	w := t.free[n-1]
	t.free = t.free[:n-1]
	return w
}

// nextOpaque skips numbers that are still in use: after 2^31 requests a long poll may hold one.
func (t *calls) nextOpaque() int32 {
	for {
		t.last = (t.last + 1) & math.MaxInt32
		if _, used := t.open[t.last]; !used {
			return t.last
		}
	}
}

// opaque is a fresh number for a request that nobody waits for.
func (t *calls) opaque() int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.nextOpaque()
}

// take removes the waiter of an opaque; nil when it was taken before or never was.
func (t *calls) take(opaque int32) *waiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	w := t.open[opaque]
	if w != nil {
		delete(t.open, opaque)
	}
	return w
}

// recycle gives back a waiter that is out of the table and whose channel is empty.
func (t *calls) recycle(w *waiter) {
	w.done = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.free) < maxFreeWaiters {
		t.free = append(t.free, w)
	}
}

// expired takes out every waiter whose deadline has passed and says when the next one will.
func (t *calls) expired(now int64) (late []*waiter, next int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next = never
	for opaque, w := range t.open {
		if w.deadline > now {
			next = min(next, w.deadline)
			continue
		}
		delete(t.open, opaque)
		late = append(late, w)
	}
	return late, next
}

// close refuses further requests with err and hands over the open ones. Only the first call does; first tells it so.
func (t *calls) close(err error) (open []*waiter, first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err != nil {
		return nil, false
	}
	t.err = err
	for _, w := range t.open {
		open = append(open, w)
	}
	clear(t.open)
	return open, true
}

// cause is why the connection ended, nil while it lives.
func (t *calls) cause() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
