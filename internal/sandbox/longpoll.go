package sandbox

import (
	"time"

	"mqctl/internal/protocol"
)

// hold is a parked pull, Java's PullRequest of PullRequestHoldService.
type hold struct {
	r       *request
	q       *queue
	seen    int64 // offsets below were looked at and hold nothing that the pull wants
	filter  filter
	expires time.Time
	alarm   *alarm
	answer  func() *protocol.Command // reads again, without parking
}

// park keeps r until something that matches arrives in q, or until its time is up.
func (s *Sandbox) park(r *request, q *queue, f filter, wait time.Duration, answer func() *protocol.Command) {
	h := &hold{r: r, q: q, seen: q.maxOffset(), filter: f, expires: s.now().Add(wait), answer: answer}
	h.alarm = s.alarms.set(s.nextCheck(h.expires), func() { s.finish(h) })
	q.held = append(q.held, h)
	if r.peer.held == nil {
		r.peer.held = map[*hold]struct{}{}
	}
	r.peer.held[h] = struct{}{}
}

// nextCheck is when a pull that expires at t is found to have done so.
func (s *Sandbox) nextCheck(t time.Time) time.Time {
	every := s.opt.HoldCheck
	if every <= 0 {
		return t
	}
	if cut := t.Truncate(every); cut.Before(t) {
		return cut.Add(every)
	}
	return t
}

// wake notes that q has something new for its parked pulls. They are looked at when the burst of events that is being
// handled is through: a pull then takes all that the burst has brought.
func (b *broker) wake(q *queue) {
	if len(q.held) > 0 && !q.dirty {
		q.dirty = true
		b.sandbox.dirty = append(b.sandbox.dirty, q)
	}
}

// wakeDirty answers the parked pulls for which something has arrived.
func (s *Sandbox) wakeDirty() {
	for len(s.dirty) > 0 {
		q := s.dirty[len(s.dirty)-1]
		s.dirty = s.dirty[:len(s.dirty)-1]
		q.dirty = false
		for _, h := range append([]*hold(nil), q.held...) {
			if h.wanted() {
				s.finish(h)
			} else {
				s.recheck(h)
			}
		}
	}
}

// recheck ends a pull that has let messages pass at the next check: a real broker looks at offsets alone then.
func (s *Sandbox) recheck(h *hold) {
	if s.opt.HoldCheck <= 0 {
		return
	}
	if next := s.nextCheck(s.now().Add(1)); next.Before(h.alarm.at) {
		s.alarms.cancel(h.alarm)
		h.alarm = s.alarms.set(next, func() { s.finish(h) })
	}
}

// wanted reports whether a message that h's filter takes has arrived since it last looked. A changed minimum counts as an
// arrival: the pull has to be told that its offset is gone.
func (h *hold) wanted() bool {
	if h.seen < h.q.minOffset() || h.seen > h.q.maxOffset() {
		return true
	}
	for ; h.seen < h.q.maxOffset(); h.seen++ {
		if h.filter.match(h.q.entries.at(h.seen), h.r.broker) {
			return true
		}
	}
	return false
}

// finish answers a parked pull with what there is now.
func (s *Sandbox) finish(h *hold) {
	h.release(s)
	if resp := h.answer(); resp != nil {
		s.answer(h.r, resp)
	}
}

// release takes h out of everything that knows it.
func (h *hold) release(s *Sandbox) {
	s.alarms.cancel(h.alarm)
	delete(h.r.peer.held, h)
	for i, x := range h.q.held {
		if x == h {
			h.q.held = append(h.q.held[:i:i], h.q.held[i+1:]...)
			return
		}
	}
}
