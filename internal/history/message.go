package history

import "slices"

// remembered is how many settled messages are kept, so that repetitions can be compared with what was sent.
const remembered = 1 << 16

type messageKey struct {
	producer string
	seq      int64
}

// message is one message as its producer sees it; it may be stored several times.
type message struct {
	key    messageKey
	hash   Hash // 0: not known
	sent   Event
	stored int64     // how often producers stored it
	before int64     // stored, when the latest call began
	vague  bool      // an earlier call ended without saying whether it was stored
	told   bool      // a producer was told that it is stored
	open   bool      // counted in Checker.open
	listed bool      // in Checker.recent
	by     []verdict // by group
}

// verdict is what a group made of a message.
type verdict struct {
	wanted    bool // stored where the group reads
	succeeded int
	dead      bool
	skipped   bool // by a reset, or before the group began
	delivered bool
	attempt   int32   // the highest
	slots     []*slot // where it is stored for this group, until each is done
}

func (v *verdict) settled() bool { return v.succeeded > 0 || v.dead || v.skipped }

func (m *message) verdict(g *group) *verdict {
	for len(m.by) <= g.index {
		m.by = append(m.by, verdict{})
	}
	return &m.by[g.index]
}

// unsettled reports whether some group still has to consume m.
func (m *message) unsettled() bool {
	for i := range m.by {
		if v := &m.by[i]; v.wanted && !v.settled() {
			return true
		}
	}
	return false
}

// busy reports whether m must be kept: not settled, or a copy of it is still on its way.
func (m *message) busy() bool {
	return m.unsettled() || slices.ContainsFunc(m.by, func(v verdict) bool { return len(v.slots) > 0 })
}

func (v *verdict) forget(s *slot) {
	if i := slices.Index(v.slots, s); i >= 0 {
		v.slots = slices.Delete(v.slots, i, i+1)
	}
}

// sender is what is known of one producer.
type sender struct {
	settled intervals        // numbers of messages that were settled and forgotten
	keys    map[string]Event // the latest first storage of each key and queue
}

func (c *Checker) sender(producer string) *sender {
	s := c.senders[producer]
	if s == nil {
		s = &sender{keys: map[string]Event{}}
		c.senders[producer] = s
	}
	return s
}

// lookup finds the message that an event speaks of; nil when nobody sent it. One that was settled and forgotten comes back
// without its fingerprint.
func (c *Checker) lookup(e *Event) *message {
	key := messageKey{e.Producer, e.Seq}
	if m := c.messages[key]; m != nil {
		return m
	}
	s := c.senders[e.Producer]
	if s == nil || !s.settled.has(e.Seq) {
		return nil
	}
	m := &message{key: key, stored: 1, told: true, by: make([]verdict, len(c.list))}
	for i := range m.by {
		m.by[i] = verdict{succeeded: 1}
	}
	c.messages[key] = m
	c.update(m)
	return m
}

func (c *Checker) newMessage(e *Event) *message {
	c.sender(e.Producer)
	m := &message{key: messageKey{e.Producer, e.Seq}}
	c.messages[m.key] = m
	return m
}

// update brings the count of open messages in line with m, and lets go of one that needs no more watching.
func (c *Checker) update(m *message) {
	if open := m.unsettled(); open != m.open {
		m.open = open
		if open {
			c.open++
		} else {
			c.open--
		}
	}
	if !m.listed && m.stored > 0 && len(m.by) > 0 && !m.busy() {
		c.remember(m)
	}
}

// remember enters a settled message; the one that has been there for longest is forgotten.
func (c *Checker) remember(m *message) {
	m.listed = true
	if len(c.recent) < c.keep {
		c.recent = append(c.recent, m)
		return
	}
	old := c.recent[c.oldest]
	c.recent[c.oldest] = m
	c.oldest = (c.oldest + 1) % len(c.recent)
	old.listed = false
	if !old.busy() {
		delete(c.messages, old.key)
		c.sender(old.key.producer).settled.add(old.key.seq)
	}
}

// intervals is a set of numbers that mostly follow each other, as sorted ranges.
type intervals []struct{ from, to int64 } // to is not in it

func (s intervals) find(n int64) (i int, in bool) {
	i, _ = slices.BinarySearchFunc(s, n, func(r struct{ from, to int64 }, n int64) int {
		if r.to <= n {
			return -1
		}
		return 1
	})
	return i, i < len(s) && s[i].from <= n
}

func (s intervals) has(n int64) bool {
	_, in := s.find(n)
	return in
}

func (s *intervals) add(n int64) {
	i, in := s.find(n)
	if in {
		return
	}
	joinsLeft := i > 0 && (*s)[i-1].to == n
	joinsRight := i < len(*s) && (*s)[i].from == n+1
	switch {
	case joinsLeft && joinsRight:
		(*s)[i-1].to = (*s)[i].to
		*s = slices.Delete(*s, i, i+1)
	case joinsLeft:
		(*s)[i-1].to = n + 1
	case joinsRight:
		(*s)[i].from = n
	default:
		*s = slices.Insert(*s, i, struct{ from, to int64 }{n, n + 1})
	}
}
