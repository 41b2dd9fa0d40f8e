package history

import (
	"fmt"
	"time"
)

// onOwn: a member begins to read a queue.
func (c *Checker) onOwn(e *Event) {
	c.report.Counts.Takeovers++
	g := c.group(e.Group)
	g.owned = true
	q := g.queue(e.Queue)
	c.checkStart(q, e)
	if !q.began {
		q.began = true
		if !g.fromFirst && q.committed < 0 {
			c.skip(q, e.Offset)
		}
	}
	c.explain(q, e)
	if old := q.owners[e.Member]; old != nil && old.held() {
		old.dropped, old.droppedAt = *e, c.report.Counts.Events
	}
	o := &ownership{taken: *e}
	q.owners[e.Member], q.latest = o, o
	q.retire()
	q.trim()
}

// maxOwners bounds the members that a queue remembers: a commit of one that gave it up long ago may still arrive.
const maxOwners = 64

// retire forgets whoever gave the queue up first.
func (q *queue) retire() {
	if len(q.owners) <= maxOwners {
		return
	}
	oldest := ""
	for name, o := range q.owners {
		if !o.held() && (oldest == "" || o.droppedAt < q.owners[oldest].droppedAt) {
			oldest = name
		}
	}
	delete(q.owners, oldest)
}

// checkStart: a new epoch begins at a commit, as it was when the member asked.
func (c *Checker) checkStart(q *queue, e *Event) {
	lowest, known := q.lowestCommit(e.At)
	if !known || e.Offset >= lowest {
		return
	}
	inv := I5
	if q.group.orderly {
		inv = I3
	}
	c.violate(inv, q, fmt.Sprintf("%s begins at %d, behind the commit of %d", e.Member, e.Offset, lowest), q.commit, *e)
}

// lowestCommit is the lowest commit that was in force at some time of the answer window before at; false when for some of
// that time there was none.
func (q *queue) lowestCommit(at int64) (lowest int64, known bool) {
	since := at - int64(answerWindow)
	for i, m := range q.marks {
		if i+1 < len(q.marks) && q.marks[i+1].at < since {
			continue // replaced before the window
		}
		if i == 0 && m.at > since {
			return 0, false
		}
		if !known || m.offset < lowest {
			lowest, known = m.offset, true
		}
	}
	return lowest, known
}

// mark notes a commit, and forgets those that no window reaches any more.
func (q *queue) mark(at, offset int64) {
	since := at - 2*int64(answerWindow)
	n := 0
	for n+1 < len(q.marks) && q.marks[n+1].at < since {
		n++
	}
	q.marks = append(q.marks[n:], mark{at, offset})
}

// skip exempts what lies before offset: the group was never to get it.
func (c *Checker) skip(q *queue, offset int64) {
	for _, s := range q.slots[q.head:] {
		if s.offset >= offset || s.done {
			continue
		}
		s.exempt = true
		if s.msg != nil {
			v := s.msg.verdict(q.group)
			v.skipped = true
			v.forget(s)
			c.update(s.msg)
		}
	}
}

// explain counts what the new epoch may repeat: everything from its start on that was delivered already.
func (c *Checker) explain(q *queue, e *Event) {
	if e.Offset < q.low {
		c.report.Counts.Explained += q.low - e.Offset
	}
	i, _ := q.find(e.Offset)
	for ; i < len(q.slots); i++ {
		if s := q.slots[i]; s.deliveries > 0 && s.offset >= q.low {
			c.report.Counts.Explained++
		}
	}
}

func (c *Checker) onDrop(e *Event) {
	q := c.group(e.Group).queue(e.Queue)
	if o := q.owners[e.Member]; o != nil && o.taken.Epoch == e.Epoch && o.held() {
		o.dropped, o.droppedAt = *e, c.report.Counts.Events
		q.trim()
	}
}

// onCrash: what the member was doing has no end.
func (c *Checker) onCrash(e *Event) {
	c.report.Counts.Crashes++
	c.disturbed = true
	m := c.member(e.Member)
	for h, q := range m.running {
		c.ended(q, h, e.Member)
		h.slot.note(e)
	}
	c.eachOwned(e.Member, func(_ *queue, o *ownership) {
		if o.held() {
			o.dropped, o.droppedAt = *e, c.report.Counts.Events
		}
	})
}

func (c *Checker) eachOwned(name string, f func(*queue, *ownership)) {
	for _, g := range c.list {
		for _, key := range sortedKeys(g.queues) {
			q := g.queues[key]
			if o := q.owners[name]; o != nil {
				f(q, o)
				q.trim()
			}
		}
	}
}

// onStop: a clean stop has committed what it finished of every queue that it still had.
func (c *Checker) onStop(e *Event) {
	if e.Clean {
		c.report.Counts.CleanStops++
	} else {
		c.report.Counts.OtherStops++
		c.disturbed = true
	}
	stopping := c.member(e.Member).stopping
	c.eachOwned(e.Member, func(q *queue, o *ownership) {
		kept := o.held() || stopping != 0 && o.droppedAt > stopping
		if o.held() {
			o.dropped, o.droppedAt = *e, c.report.Counts.Events
		}
		if e.Clean && kept && q.latest == o {
			c.checkLeft(q, o, e)
		}
	})
}

// checkLeft: nothing that the epoch finished and could have committed is left uncommitted.
func (c *Checker) checkLeft(q *queue, o *ownership, e *Event) {
	want := o.position()
	var last *slot
	i, _ := q.find(want)
	for ; i < len(q.slots); i++ {
		s := q.slots[i]
		if !s.settled || s.member != e.Member || s.epoch != o.taken.Epoch {
			break
		}
		last, want = s, s.offset+1
	}
	if last == nil || q.committed >= want {
		return
	}
	c.violate(I6, q, fmt.Sprintf("%s stopped cleanly but left finished messages uncommitted: the commit is %d, done is everything below %d",
		e.Member, q.committed, want), append([]Event{o.taken, q.commit, *e}, last.trail...)...)
}

// lock is the broker's lock of a queue for a group, as far as it is known.
type lock struct {
	holder  string
	granted map[string]Event // by member: the latest grant
	refused map[string]Event // by member: the latest refusal after its latest grant
	lost    map[string]Event // by member: how it lost the lock without giving it back
}

func (c *Checker) onLock(e *Event) {
	g := c.group(e.Group)
	g.locks = true
	q := g.queue(e.Queue)
	l := &q.lock
	switch {
	case e.Type == TypeUnlock:
		if l.holder == e.Member {
			l.holder = ""
		}
		delete(l.granted, e.Member)
	case e.Type == TypeLockLost:
		q.loseLock(e)
		l.holder = ""
	case e.Result == ResultRefused:
		if _, held := l.granted[e.Member]; held && len(c.active) == 0 { // otherwise the answer may be lost
			l.refused[e.Member] = *e
		}
	default:
		c.checkGrant(q, e)
		if l.holder != e.Member {
			q.loseLock(e)
		}
		l.holder = e.Member
		l.granted[e.Member] = *e
		delete(l.refused, e.Member)
		delete(l.lost, e.Member)
	}
}

// loseLock notes that whoever held the lock has it no more, without its doing.
func (q *queue) loseLock(e *Event) {
	name := q.lock.holder
	if name == "" {
		return
	}
	q.lock.lost[name] = *e
	if o := q.owners[name]; o != nil {
		o.unlocked = true
	}
}

// checkGrant: a broker gives a lock to somebody else only after it was given back or has expired. It guards the checker's
// own picture of the locks more than the engine.
func (c *Checker) checkGrant(q *queue, e *Event) {
	l := &q.lock
	last, ok := l.granted[l.holder]
	if l.holder == "" || l.holder == e.Member || !ok || e.At-last.At > int64(brokerLease)-c.slack {
		return
	}
	c.violate(I3, q, fmt.Sprintf("the lock went to %s while %s held it", e.Member, l.holder), last, *e)
}

// checkLock: a handler begins only under a lock that is surely held.
func (c *Checker) checkLock(q *queue, e *Event) {
	if !q.group.locks {
		return
	}
	granted, ok := q.lock.granted[e.Member]
	refused, no := q.lock.refused[e.Member]
	switch {
	case !ok:
		c.violate(I3, q, fmt.Sprintf("%s handles offset %d without the lock", e.Member, e.Offset), *e)
	case e.At-granted.At > int64(lockLease)+c.slack:
		c.violate(I3, q, fmt.Sprintf("%s handles offset %d %s after its lock was granted", e.Member, e.Offset, time.Duration(e.At-granted.At)), granted, *e)
	case no && e.At-refused.At > int64(refusalGrace)+c.slack:
		c.violate(I3, q, fmt.Sprintf("%s handles offset %d although its lock was refused", e.Member, e.Offset), granted, refused, *e)
	}
}

// checkAlone: nobody else handles the queue, and the member itself handles one batch at a time.
func (c *Checker) checkAlone(q *queue, e *Event) {
	for _, other := range sortedKeys(q.running) {
		begun := q.batch[other]
		switch {
		case other != e.Member && (q.lock.lost[other].At != 0 || q.lock.lost[e.Member].At != 0 || !q.group.locks && c.disturbed):
			c.report.Counts.LockOverlaps++
		case other != e.Member:
			c.violate(I3, q, fmt.Sprintf("%s handles offset %d while %s handles offset %d", e.Member, e.Offset, other, begun.Offset), begun, *e)
		case begun.Batch != e.Batch:
			c.violate(I3, q, fmt.Sprintf("%s handles offset %d while it still handles offset %d", e.Member, e.Offset, begun.Offset), begun, *e)
		}
	}
}
