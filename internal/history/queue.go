package history

import (
	"slices"
	"strings"
)

// group is one consumer group.
type group struct {
	name      string
	index     int
	known     bool // a Meta spoke of it
	orderly   bool
	fromFirst bool
	attempts  int32
	topics    []string
	owned     bool // members tell what they own
	locks     bool // the broker tells who holds locks
	queues    map[string]*queue
}

// reads reports whether the group consumes a topic.
func (g *group) reads(topic string) bool {
	if retry, ok := strings.CutPrefix(topic, "%RETRY%"); ok {
		return retry == g.name
	}
	if strings.HasPrefix(topic, "%DLQ%") {
		return false
	}
	return len(g.topics) == 0 || slices.Contains(g.topics, topic)
}

// queue is one queue as a group sees it.
type queue struct {
	name  string
	group *group
	slots []*slot // from head on, by offset
	head  int
	low   int64 // messages below it that have no slot are settled

	began     bool
	committed int64 // -1: never
	commit    Event // the latest
	marks     []mark
	owners    map[string]*ownership // by member: the latest epoch of each
	latest    *ownership            // whoever began last
	running   map[string]int        // messages in handlers, by member
	batch     map[string]Event      // the first delivery of each member's latest batch
	lock      lock
}

// slot is one stored message of a queue, kept while it may still be delivered.
type slot struct {
	offset     int64
	msg        *message // stored here; nil: not known
	content    *message // as delivered; another one only when something is wrong
	done       bool     // consumed or sent back
	exempt     bool     // a commit may pass it
	again      bool     // a reset has asked for it once more
	reported   bool
	running    int
	deliveries int
	member     string // of the latest delivery
	epoch      int64
	result     string   // of the latest delivery, "" while it runs
	settled    bool     // the latest delivery has made it done
	attempt    int32    // of the latest delivery
	failed     []string // members whose handler wants it again
	trail      []Event
}

// maxTrail bounds what is kept of a slot's events: the first and the latest ones.
const maxTrail = 6

func (s *slot) note(e *Event) {
	if len(s.trail) >= maxTrail {
		s.trail = append(s.trail[:1], s.trail[2:]...)
	}
	s.trail = append(s.trail, *e)
}

// mark is a commit and when it came.
type mark struct{ at, offset int64 }

// ownership is one epoch of a member in a queue.
type ownership struct {
	taken     Event // the own event
	dropped   Event // zero while it is held
	droppedAt int64 // number of the event
	commit    Event // zero before the first
	unlocked  bool  // the broker forgot its lock at some time, without its doing
	// orderly mode
	last    Event // the latest delivery; zero before
	waits   bool  // a batch failed and must come first again
	waitsAt int64 // its first offset
}

func (o *ownership) held() bool { return o.dropped.At == 0 }

func (c *Checker) group(name string) *group {
	g := c.groups[name]
	if g == nil {
		g = &group{name: name, index: len(c.list), queues: map[string]*queue{}}
		c.groups[name] = g
		c.list = append(c.list, g)
	}
	return g
}

func (g *group) queue(name string) *queue {
	q := g.queues[name]
	if q == nil {
		q = &queue{
			name: name, group: g, committed: -1, owners: map[string]*ownership{}, running: map[string]int{}, batch: map[string]Event{},
			lock: lock{granted: map[string]Event{}, refused: map[string]Event{}, lost: map[string]Event{}},
		}
		g.queues[name] = q
	}
	return q
}

// find is the place of an offset among the slots, and whether it has one. Offsets are dense as a rule.
func (q *queue) find(offset int64) (i int, ok bool) {
	live := q.slots[q.head:]
	if len(live) == 0 || offset > live[len(live)-1].offset {
		return len(q.slots), false
	}
	if guess := offset - live[0].offset; guess >= 0 && guess < int64(len(live)) && live[guess].offset == offset {
		return q.head + int(guess), true
	}
	i, ok = slices.BinarySearchFunc(live, offset, func(s *slot, o int64) int {
		switch {
		case s.offset < o:
			return -1
		case s.offset > o:
			return 1
		}
		return 0
	})
	return q.head + i, ok
}

func (q *queue) at(offset int64) *slot {
	if i, ok := q.find(offset); ok {
		return q.slots[i]
	}
	return nil
}

func (q *queue) insert(s *slot) {
	i, _ := q.find(s.offset)
	if i == q.head && q.head > 0 {
		q.head--
		q.slots[q.head] = s
		return
	}
	q.slots = slices.Insert(q.slots, i, s)
}

// trim forgets the slots in front that nobody will ask for again: done, and behind every commit that counts.
func (q *queue) trim() {
	bound := q.committed
	for _, o := range q.owners {
		if o.held() {
			bound = min(bound, o.position())
		}
	}
	for q.head < len(q.slots) {
		s := q.slots[q.head]
		if !s.done || s.running > 0 || s.offset >= bound {
			break
		}
		q.low = max(q.low, s.offset+1)
		q.slots[q.head] = nil
		q.head++
	}
	if q.head > 256 && 2*q.head > len(q.slots) {
		q.slots = append(q.slots[:0], q.slots[q.head:]...)
		q.head = 0
	}
}

// position is what the epoch has committed, or where it began.
func (o *ownership) position() int64 {
	if o.commit.At != 0 {
		return o.commit.Offset
	}
	return o.taken.Offset
}
