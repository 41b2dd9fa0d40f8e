package history

import (
	"fmt"
	"slices"
)

// maxRewind bounds how many settled messages a reset brings back, so that a typing error in a history does no harm.
const maxRewind = 1 << 20

// onCommit checks a stored offset.
func (c *Checker) onCommit(e *Event) {
	c.report.Counts.Commits++
	q := c.group(e.Group).queue(e.Queue)
	if e.By != ByTool {
		c.checkDone(q, e)
		c.checkRise(q, e)
	}
	q.committed, q.commit = e.Offset, *e
	q.mark(e.At, e.Offset)
	q.trim()
}

// checkDone: everything below a commit is done.
func (c *Checker) checkDone(q *queue, e *Event) {
	for _, s := range q.slots[q.head:] {
		if s.offset >= e.Offset {
			return
		}
		if s.done || s.exempt || s.reported {
			continue
		}
		s.reported = true
		what := "was never delivered"
		switch {
		case s.running > 0:
			what = "is being handled"
		case s.deliveries > 0:
			what = "is not done"
		}
		c.violate(I4, q, fmt.Sprintf("the commit of %d passes offset %d, which %s", e.Offset, s.offset, what), append(slices.Clone(s.trail), *e)...)
	}
}

// checkRise: a commit does not fall within an epoch, nor at the broker. Where two members believed for a moment that they
// own the queue, the later commit may be the lower one: RocketMQ has nothing to prevent that.
func (c *Checker) checkRise(q *queue, e *Event) {
	o := q.owners[e.Member]
	if o != nil {
		if o.commit.At != 0 && e.Offset < o.commit.Offset {
			c.violate(I5, q, fmt.Sprintf("%s committed %d after %d in one epoch", e.Member, e.Offset, o.commit.Offset), o.taken, o.commit, *e)
			o.commit = *e
			return
		}
		o.commit = *e
	}
	if e.Offset >= q.committed || q.commit.At == 0 {
		return
	}
	if c.handover(q, o, e) {
		c.report.Counts.HandoverFalls++
		return
	}
	c.violate(I5, q, fmt.Sprintf("the commit fell from %d to %d", q.committed, e.Offset), q.commit, *e)
}

// handover reports whether a fall has its cause in two members that owned the queue at a time: the one that commits less
// had begun before the higher commit could be known to it, or it is not the owner any more and does not know it yet.
func (c *Checker) handover(q *queue, o *ownership, e *Event) bool {
	other := q.commit.Member
	if o == nil || other == e.Member || other == "" {
		return false
	}
	if h := q.owners[other]; q.group.orderly && q.group.locks && !o.unlocked && (h == nil || !h.unlocked) {
		return false // the lock keeps members apart
	}
	return o != q.latest || o.taken.At <= q.commit.At+int64(answerWindow)
}

// onReset: somebody wants the group to go on elsewhere. What lies behind is to be delivered again, what lies ahead of the
// old position and before the new one is skipped.
func (c *Checker) onReset(e *Event) {
	c.report.Counts.Resets++
	q := c.group(e.Group).queue(e.Queue)
	for offset := e.Offset; offset < q.low && offset < e.Offset+maxRewind; offset++ {
		if q.at(offset) == nil {
			q.insert(&slot{offset: offset, deliveries: 1})
		}
	}
	q.low = min(q.low, e.Offset)
	for _, s := range q.slots[q.head:] {
		if s.offset >= e.Offset && s.deliveries > 0 {
			s.done, s.again, s.reported = false, true, false
			s.note(e)
		}
	}
	c.skip(q, e.Offset)
	q.committed, q.commit = e.Offset, *e
	q.marks = append(q.marks[:0], mark{e.At - 2*int64(answerWindow), e.Offset})
	for _, o := range q.owners {
		o.commit = Event{}
	}
}
