package history

import "fmt"

// onSend: a producer begins to send a message, for the first time or again.
func (c *Checker) onSend(e *Event) {
	c.report.Counts.Sends++
	if c.firstSend == 0 {
		c.firstSend = e.At
	}
	m := c.lookup(e)
	if m == nil {
		m = c.newMessage(e)
	}
	if m.hash != 0 && e.Hash != 0 && m.hash != e.Hash {
		c.violate(I2, nil, fmt.Sprintf("message %d of %s was sent with two different bodies", e.Seq, e.Producer), m.sent, *e)
	}
	if m.sent.At == 0 {
		m.sent, m.hash = *e, e.Hash
	}
	m.before = m.stored
}

// onSendAck takes in what was stored. What the broker says makes the message somebody's duty; what a producer was told is
// compared with it, or counts by itself when nobody watches the broker.
func (c *Checker) onSendAck(e *Event) {
	var m *message
	if e.Producer != "" {
		if m = c.lookup(e); m == nil {
			m = c.newMessage(e)
			if e.By != ByClient {
				c.violate(I2, nil, fmt.Sprintf("message %d of %s is stored but nobody sent it", e.Seq, e.Producer), *e)
			}
		}
	}
	if e.By == ByClient {
		c.onTold(m, e)
		return
	}
	c.store(m, e)
}

// onTold takes in what a producer was told.
func (c *Checker) onTold(m *message, e *Event) {
	if m == nil {
		return
	}
	switch e.Result {
	case ResultUnknown:
		m.vague = true
	case ResultFailed:
		if c.observed && m.stored > m.before && !m.vague {
			c.violate(I2, nil, fmt.Sprintf("message %d of %s is stored although its producer was told that it is not", e.Seq, e.Producer), m.sent, *e)
		}
	default:
		m.told = true
		if !c.observed {
			c.store(m, e)
		} else if m.stored == 0 {
			c.violate(I1, nil, fmt.Sprintf("message %d of %s was acknowledged but is stored nowhere", e.Seq, e.Producer), m.sent, *e)
			m.told = false
		}
	}
}

// store enters a stored message in the queues of every group that reads its topic.
func (c *Checker) store(m *message, e *Event) {
	topic := topicOf(e.Queue)
	retry := len(topic) > 0 && topic[0] == '%'
	if m != nil && !retry {
		if m.stored++; m.stored == 1 {
			c.report.Counts.Stored++
			c.checkKeyOrder(m, e)
		} else {
			c.report.Counts.Copies++
		}
	}
	for _, g := range c.list {
		if !g.reads(topic) {
			continue
		}
		q := g.queue(e.Queue)
		s := q.at(e.Offset)
		if s == nil {
			s = &slot{offset: e.Offset}
			q.insert(s)
		}
		s.note(e)
		c.link(q, s, m)
	}
	if m != nil {
		c.update(m)
	}
}

// link notes that s holds m.
func (c *Checker) link(q *queue, s *slot, m *message) {
	if m == nil || s.msg != nil {
		return
	}
	s.msg = m
	v := m.verdict(q.group)
	v.wanted = true
	if !s.done {
		v.slots = append(v.slots, s)
	}
}

// checkKeyOrder: messages of one producer and key stand in a queue in the order in which they were sent. Only the first
// copy of each counts: what a second attempt stored late is a duplicate.
func (c *Checker) checkKeyOrder(m *message, e *Event) {
	if m.sent.Key == "" {
		return
	}
	s := c.sender(e.Producer)
	place := m.sent.Key + "\x00" + e.Queue
	if last, ok := s.keys[place]; ok && last.Seq > e.Seq {
		c.violate(I3, nil, fmt.Sprintf("message %d of %s with key %s is stored after message %d", e.Seq, e.Producer, m.sent.Key, last.Seq), last, m.sent, *e)
		return
	}
	s.keys[place] = *e
}
