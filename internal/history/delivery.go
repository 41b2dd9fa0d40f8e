package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// onDeliver checks one message that a handler begins with.
func (c *Checker) onDeliver(e *Event) {
	c.report.Counts.Delivered++
	q := c.group(e.Group).queue(e.Queue)
	s := c.slotOf(q, e)
	c.checkContent(q, s, e)
	o := c.checkOwner(q, s, e)
	if q.group.orderly {
		c.checkLock(q, e)
		c.checkAlone(q, e)
		if o != nil {
			c.checkOrder(q, o, e)
		}
	}
	c.checkRepetition(q, s, o, e)
	if q.batch[e.Member].Batch != e.Batch || q.running[e.Member] == 0 {
		q.batch[e.Member] = *e
	}
	s.note(e)
	s.deliveries++
	s.running++
	s.member, s.epoch, s.result, s.settled, s.attempt = e.Member, e.Epoch, "", false, e.Attempt
	q.running[e.Member]++
	c.member(e.Member).running[handling{s, e.Batch}] = q
	if s.content != nil {
		v := s.content.verdict(q.group)
		v.delivered = true
		v.attempt = max(v.attempt, e.Attempt)
	}
}

// slotOf is the slot of a delivery. One that was settled and forgotten comes back as done.
func (c *Checker) slotOf(q *queue, e *Event) *slot {
	if s := q.at(e.Offset); s != nil {
		return s
	}
	s := &slot{offset: e.Offset}
	switch {
	case e.Offset < q.low:
		s.done, s.deliveries = true, 1
	case c.observed && q.group.known:
		c.violate(I2, q, fmt.Sprintf("offset %d was delivered but nothing is stored there", e.Offset), *e)
	}
	q.insert(s)
	return s
}

// checkContent compares what was delivered with what was sent and stored there.
func (c *Checker) checkContent(q *queue, s *slot, e *Event) {
	if e.Producer == "" {
		s.content = nil
		if s.msg != nil {
			c.violate(I2, q, fmt.Sprintf("offset %d was delivered without its identity", e.Offset), append(s.trail, *e)...)
		}
		return
	}
	m := c.lookup(e)
	s.content = m
	if m == nil {
		c.report.Counts.Unverified++
		if _, known := c.senders[e.Producer]; known || c.observed {
			c.violate(I2, q, fmt.Sprintf("message %d of %s was delivered but never sent", e.Seq, e.Producer), *e)
		}
		return
	}
	switch {
	case s.msg != nil && s.msg != m:
		c.violate(I2, q, fmt.Sprintf("offset %d was delivered as message %d of %s, stored there is message %d of %s",
			e.Offset, e.Seq, e.Producer, s.msg.key.seq, s.msg.key.producer), append(slices.Clone(s.trail), *e)...)
	case m.hash == 0 || e.Hash == 0:
		c.report.Counts.Unverified++
	case m.hash != e.Hash:
		c.violate(I2, q, fmt.Sprintf("message %d of %s was delivered with another body than it was sent with", e.Seq, e.Producer), m.sent, *e)
	}
	c.link(q, s, m)
}

// checkOwner: only whoever owns a queue may handle its messages. It returns the epoch of the delivery, nil when that is
// not known.
func (c *Checker) checkOwner(q *queue, s *slot, e *Event) *ownership {
	if !q.group.owned {
		return nil
	}
	inv := I6
	if q.group.orderly {
		inv = I3
	}
	o := q.owners[e.Member]
	switch {
	case o == nil || e.Epoch > o.taken.Epoch:
		c.violate(inv, q, fmt.Sprintf("%s handles offset %d without having taken the queue over", e.Member, e.Offset), *e)
		return nil
	case e.Epoch < o.taken.Epoch:
		if e.At > o.taken.At+c.slack {
			c.violate(inv, q, fmt.Sprintf("%s handles offset %d of an epoch that has ended", e.Member, e.Offset), o.taken, *e)
		}
		return nil
	case !o.held() && e.At > o.dropped.At+c.slack:
		c.violate(inv, q, fmt.Sprintf("%s handles offset %d after it has given the queue up", e.Member, e.Offset), o.taken, o.dropped, *e)
	}
	if o != q.latest {
		c.report.Counts.Explained++ // the new owner will repeat it, or has done so
	}
	return o
}

// checkOrder: offsets rise within an epoch, and a batch that failed comes again first.
func (c *Checker) checkOrder(q *queue, o *ownership, e *Event) {
	first := o.last.At == 0
	switch {
	case o.waits && e.Offset > o.waitsAt:
		if s := q.openBetween(o.waitsAt, e.Offset); s != nil {
			c.violate(I3, q, fmt.Sprintf("offset %d overtakes offset %d, which failed and is not done", e.Offset, s.offset), append(slices.Clone(s.trail), *e)...)
		}
	case o.waits && e.Offset == o.waitsAt:
	case !first && e.Offset <= o.last.Offset:
		c.violate(I3, q, fmt.Sprintf("offset %d was handled after offset %d in one epoch", e.Offset, o.last.Offset), o.taken, o.last, *e)
	}
	if first && e.Offset < o.taken.Offset {
		c.violate(I3, q, fmt.Sprintf("offset %d was handled in an epoch that begins at %d", e.Offset, o.taken.Offset), o.taken, *e)
	}
	o.waits = false
	o.last = *e
}

// openBetween is the first slot from one offset to before another that is not done.
func (q *queue) openBetween(from, to int64) *slot {
	i, _ := q.find(from)
	for ; i < len(q.slots) && q.slots[i].offset < to; i++ {
		if s := q.slots[i]; !s.done {
			return s
		}
	}
	return nil
}

// checkRepetition: a message is delivered again only when the handler asked for it, or when a new epoch began at or before
// it.
func (c *Checker) checkRepetition(q *queue, s *slot, o *ownership, e *Event) {
	same := s.deliveries > 0 && s.member == e.Member && s.epoch == e.Epoch
	switch {
	case s.deliveries == 0 || s.again:
		s.again = false
		return
	case slices.Contains(s.failed, e.Member) && (!s.done || c.disturbed):
		s.failed = slices.DeleteFunc(s.failed, func(name string) bool { return name == e.Member })
		return // as the handler wanted; that a copy is stored elsewhere may not be known
	}
	c.report.Counts.Redelivered++
	switch {
	case o == nil:
		if !q.group.owned && !c.disturbed {
			c.violate(I6, q, fmt.Sprintf("offset %d was delivered again without a cause", e.Offset), append(slices.Clone(s.trail), *e)...)
		}
	case same:
		c.violate(I6, q, fmt.Sprintf("offset %d was delivered twice in one epoch", e.Offset), append(slices.Clone(s.trail), o.taken, *e)...)
	case e.Offset < o.taken.Offset, o.commit.At != 0 && e.Offset < o.commit.Offset:
		c.violate(I6, q, fmt.Sprintf("offset %d was delivered again below where the epoch stands, %d", e.Offset, o.position()), append(slices.Clone(s.trail), o.taken, o.commit, *e)...)
	}
}

func (c *Checker) onDone(e *Event) {
	g := c.group(e.Group)
	q := g.queue(e.Queue)
	s := q.at(e.Offset)
	m := c.member(e.Member)
	if s == nil || m.running[handling{s, e.Batch}] == nil {
		return // of a member that has crashed, or not in this history
	}
	c.ended(q, handling{s, e.Batch}, e.Member)
	s.note(e)
	o := q.owners[e.Member]
	if s.member == e.Member && s.epoch == e.Epoch {
		s.result, s.settled = e.Result, e.Result == ResultSuccess && o != nil && o.held()
	}
	if e.Result == ResultSuccess {
		c.report.Counts.Succeeded++
		c.lastDone = e.At
		c.finishSlot(q, s)
		if s.content != nil {
			s.content.verdict(g).succeeded++
			c.update(s.content)
		}
	} else {
		c.report.Counts.Later++
		if o == nil || o.taken.Epoch == e.Epoch {
			s.failed = append(s.failed, e.Member)
		}
		if o != nil && o.taken.Epoch == e.Epoch && (!o.waits || e.Offset < o.waitsAt) {
			o.waits, o.waitsAt = true, e.Offset
		}
	}
	q.trim()
}

// ended notes that a handler of a member is through with a message.
func (c *Checker) ended(q *queue, h handling, name string) {
	h.slot.running--
	delete(c.member(name).running, h)
	if q.running[name]--; q.running[name] <= 0 {
		delete(q.running, name)
	}
}

// finishSlot notes that commits may pass s.
func (c *Checker) finishSlot(q *queue, s *slot) {
	s.done, s.again = true, false
	if s.msg != nil {
		s.msg.verdict(q.group).forget(s)
	}
}

// onSentBack: the broker has the message once more, so its place in the queue is done.
func (c *Checker) onSentBack(e *Event) {
	g := c.group(e.Group)
	dead := e.Type == TypeDead
	if dead {
		c.report.Counts.Dead++
	} else {
		c.report.Counts.SentBack++
	}
	if e.Queue != "" {
		q := g.queue(e.Queue)
		if s := q.at(e.Offset); s != nil {
			s.note(e)
			s.settled = !c.disturbed // otherwise its member may not know
			c.finishSlot(q, s)
			defer q.trim()
		}
	}
	if e.Producer == "" {
		return
	}
	m := c.lookup(e)
	if m == nil {
		c.violate(I2, nil, fmt.Sprintf("message %d of %s was sent back but never sent", e.Seq, e.Producer), *e)
		return
	}
	v := m.verdict(g)
	if e.Queue == "" {
		c.finishFailed(g, v, e)
	}
	if dead {
		c.checkAttempts(g, m, v, e)
		v.dead = true
	}
	c.update(m)
}

// finishFailed closes the place of a message whose delivery failed. A copy that a member sent by itself does not say where
// the message came from: the attempt tells, or else it is the oldest place.
func (c *Checker) finishFailed(g *group, v *verdict, e *Event) {
	failed := slices.DeleteFunc(slices.Clone(v.slots), func(s *slot) bool { return s.deliveries == 0 || s.done || len(s.trail) == 0 })
	slices.SortStableFunc(failed, func(a, b *slot) int { return cmp.Compare(matches(b, e), matches(a, e)) })
	for _, s := range failed {
		q := g.queue(s.trail[0].Queue)
		s.note(e)
		s.settled = !c.disturbed
		c.finishSlot(q, s)
		q.trim()
		return
	}
}

// matches is how well a copy fits to a place: the handler has ended, and the copy counts one attempt more.
func matches(s *slot, e *Event) (n int) {
	if s.running == 0 {
		n++
	}
	if s.attempt == e.Attempt-1 {
		n += 2
	}
	return n
}

// checkAttempts: a dead letter has had its attempts, neither fewer nor, where nothing was broken, more.
func (c *Checker) checkAttempts(g *group, m *message, v *verdict, e *Event) {
	had := v.attempt + 1
	if !v.delivered {
		had = 0
	}
	if g.attempts == 0 || had == g.attempts || had > g.attempts && c.disturbed {
		return
	}
	events := []Event{m.sent, *e}
	for _, s := range v.slots {
		events = append(events, s.trail...)
	}
	c.violate(I1, nil, fmt.Sprintf("message %d of %s became a dead letter after %d of %d attempts", m.key.seq, m.key.producer, had, g.attempts), events...)
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
