package history

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"
)

// Times that the checker knows about the engine and the broker.
const (
	// answerWindow is how long what a member acts on may be out of date: it asked, and the answer was on its way.
	answerWindow = 10 * time.Second
	// lockLease is how long after its lock was granted a member may begin to handle messages.
	lockLease = 30 * time.Second
	// refusalGrace is how long a member may go on after the broker refused to renew its lock: the answer is on its way.
	refusalGrace = 4 * time.Second
	// brokerLease is how long a broker keeps a lock that is not renewed.
	brokerLease = 60 * time.Second
)

// Checker finds out whether the events given to Add keep the promises. Its memory follows what is open at the moment:
// messages that are not consumed yet and those consumed above the commit, besides a fixed number of settled ones. It is
// not safe for concurrent use.
type Checker struct {
	groups   map[string]*group
	list     []*group // in the order of appearance
	messages map[messageKey]*message
	senders  map[string]*sender
	members  map[string]*member
	recent   []*message // a ring of settled ones
	oldest   int
	keep     int // size of the ring
	open     int64

	observed  bool
	slack     int64 // ns
	minRate   float64
	planned   []string
	felt      map[string]int64 // hits by kind of fault; present: it is in the history
	active    map[string]bool  // faults that have begun and not ended
	disturbed bool             // something was broken or crashed: repetitions may have a cause outside of the group

	report    Report
	firstAt   int64
	lastAt    int64
	firstSend int64
	lastDone  int64
}

// member is one incarnation of a consumer.
type member struct {
	stopping int64 // number of the event, 0 while it was not told to stop
	running  map[handling]*queue
}

// handling is one message in a handler.
type handling struct {
	slot  *slot
	batch int64
}

// NewChecker is a checker of an empty history.
func NewChecker() *Checker {
	return &Checker{
		groups: map[string]*group{}, messages: map[messageKey]*message{}, senders: map[string]*sender{}, members: map[string]*member{},
		felt: map[string]int64{}, active: map[string]bool{}, keep: remembered,
		report: Report{Violations: []Violation{}},
	}
}

// Check reads histories, merged by time, and checks them. What every file says about the run in its first lines counts
// from the beginning. An error means that a history could not be read; what was read before it is in the report.
func Check(readers ...io.Reader) (Report, error) {
	list := make([]*Reader, len(readers))
	for i, r := range readers {
		list[i] = NewReader(fmt.Sprintf("history %d", i+1), r)
	}
	return CheckReaders(list...)
}

// CheckReaders is Check for readers with names.
func CheckReaders(readers ...*Reader) (Report, error) {
	c := NewChecker()
	failure := c.metas(readers)
	if failure == nil {
		for e, err := range Merge(readers...) {
			if err != nil {
				failure = err
				break
			}
			c.Add(e)
		}
	}
	r := c.Finish()
	for _, x := range readers {
		if x.Truncated() {
			r.Truncated = append(r.Truncated, x.name)
		}
	}
	return r, failure
}

// metas takes in the meta lines at the beginning of each history.
func (c *Checker) metas(readers []*Reader) error {
	for _, r := range readers {
		for {
			e, err := r.peek()
			if err != nil {
				return err
			}
			if e == nil || e.Type != TypeMeta {
				break
			}
			c.Add(*e)
			r.ahead = nil
		}
	}
	return nil
}

// Open is how many messages were stored and not consumed so far.
func (c *Checker) Open() int64 { return c.open }

// Add checks the next event. Times must not fall.
func (c *Checker) Add(e Event) {
	c.report.Counts.Events++
	if c.firstAt == 0 && e.Type != TypeMeta {
		c.firstAt = e.At
	}
	c.lastAt = max(c.lastAt, e.At)
	switch e.Type {
	case TypeMeta:
		c.onMeta(e.Meta)
	case TypeSend:
		c.onSend(&e)
	case TypeSendAck:
		c.onSendAck(&e)
	case TypeOwn:
		c.onOwn(&e)
	case TypeDrop:
		c.onDrop(&e)
	case TypeLock, TypeUnlock, TypeLockLost:
		c.onLock(&e)
	case TypeDeliver:
		c.onDeliver(&e)
	case TypeDone:
		c.onDone(&e)
	case TypeSentBack, TypeDead:
		c.onSentBack(&e)
	case TypeCommit:
		c.onCommit(&e)
	case TypeReset:
		c.onReset(&e)
	case TypeFault:
		c.onFault(&e)
	case TypeCrash:
		c.onCrash(&e)
	case TypeStopping:
		c.member(e.Member).stopping = c.report.Counts.Events
	case TypeStop:
		c.onStop(&e)
	}
}

func (c *Checker) onMeta(m *Meta) {
	if m.Group != "" {
		g := c.group(m.Group)
		g.known, g.orderly, g.fromFirst = true, m.Mode == ModeOrderly, m.FromFirst
		g.attempts, g.topics = m.Attempts, m.Topics
	}
	c.observed = c.observed || m.Observed
	c.slack = max(c.slack, m.SlackMS*int64(time.Millisecond))
	c.minRate = max(c.minRate, m.MinRate)
	c.planned = append(c.planned, m.Faults...)
}

func (c *Checker) onFault(e *Event) {
	if e.To != 0 {
		c.report.Counts.Faults++
		delete(c.active, e.Kind)
	} else {
		c.active[e.Kind] = true
	}
	c.report.Counts.FaultHits += e.Hits
	c.felt[e.Kind] += e.Hits
	c.disturbed = true
}

func (c *Checker) member(name string) *member {
	m := c.members[name]
	if m == nil {
		m = &member{running: map[handling]*queue{}}
		c.members[name] = m
	}
	return m
}

// violate reports a broken promise with the events that show it, by time and each once.
func (c *Checker) violate(inv Invariant, q *queue, text string, events ...Event) {
	events = slices.DeleteFunc(slices.Clone(events), func(e Event) bool { return e.Type == "" })
	v := Violation{Invariant: inv, Text: text, Events: events}
	slices.SortStableFunc(v.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	v.Events = slices.Compact(v.Events)
	if q != nil {
		v.Group, v.Queue = q.group.name, q.name
	}
	shown := 0
	for i := range c.report.Violations {
		if c.report.Violations[i].Invariant == inv {
			shown++
		}
	}
	c.tally(inv).Violations++
	if shown >= maxShown {
		c.report.Omitted++
		return
	}
	c.report.Violations = append(c.report.Violations, v)
}

func (c *Checker) tally(inv Invariant) *Tally {
	if c.report.Tallies == nil {
		for _, i := range Invariants {
			c.report.Tallies = append(c.report.Tallies, Tally{Invariant: i, Meaning: i.Meaning()})
		}
	}
	return &c.report.Tallies[slices.Index(Invariants, inv)]
}

// Broken is how many violations were found so far.
func (c *Checker) Broken() (n int64) {
	for _, t := range c.report.Tallies {
		n += t.Violations
	}
	return n
}

// Finish checks what only the end can tell and returns the report.
func (c *Checker) Finish() Report {
	c.tally(I1)
	c.finishMessages()
	c.finishQueues()
	r := &c.report
	r.Open = c.open
	r.At = time.Unix(0, c.firstAt)
	if c.firstAt != 0 {
		r.Duration = time.Duration(c.lastAt - c.firstAt)
	}
	if c.firstSend != 0 && c.lastDone > c.firstSend {
		r.Rate = float64(r.Counts.Succeeded) / time.Duration(c.lastDone-c.firstSend).Seconds()
	}
	c.finishRun()
	r.OK = c.Broken() == 0
	return *r
}

// finishMessages looks for what was stored and never consumed.
func (c *Checker) finishMessages() {
	var lost []*message
	for _, m := range c.messages {
		if m.open || m.told && m.stored == 0 && c.observed {
			lost = append(lost, m)
		}
	}
	slices.SortFunc(lost, func(a, b *message) int {
		return cmp.Or(cmp.Compare(a.key.producer, b.key.producer), cmp.Compare(a.key.seq, b.key.seq))
	})
	for _, m := range lost {
		c.reportLost(m)
	}
}

func (c *Checker) reportLost(m *message) {
	if m.stored == 0 && !m.open {
		c.violate(I1, nil, fmt.Sprintf("message %d of %s was acknowledged but is stored nowhere", m.key.seq, m.key.producer), m.sent)
		return
	}
	for i := range m.by {
		v := &m.by[i]
		if !v.wanted || v.settled() {
			continue
		}
		events := []Event{m.sent}
		var q *queue
		for _, s := range v.slots {
			events = append(events, s.trail...)
			if len(s.trail) > 0 {
				q = c.list[i].queue(s.trail[0].Queue)
			}
		}
		what := "was never delivered"
		if v.delivered {
			what = "was never consumed with success"
		}
		c.violate(I1, q, fmt.Sprintf("message %d of %s %s", m.key.seq, m.key.producer, what), events...)
	}
}

// finishQueues looks for what a reset asked for and nobody delivered.
func (c *Checker) finishQueues() {
	for _, g := range c.list {
		for _, name := range sortedKeys(g.queues) {
			q := g.queues[name]
			for _, s := range q.slots[q.head:] {
				if s.again && !s.done {
					c.violate(I1, q, fmt.Sprintf("offset %d was asked for again by a reset and not consumed since", s.offset), s.trail...)
				}
			}
		}
	}
}

// finishRun judges whether the run was worth anything, and whether the sum of repetitions is explained.
func (c *Checker) finishRun() {
	n := &c.report.Counts
	if owned := !slices.ContainsFunc(c.list, func(g *group) bool { return !g.owned }); owned && n.Redelivered > n.Explained && c.tally(I6).Violations == 0 {
		c.violate(I6, nil, fmt.Sprintf("%d messages were delivered again, crashes and changes of owners explain %d", n.Redelivered, n.Explained))
	}
	if rate := c.report.Rate; rate < c.minRate {
		c.violate(I7, nil, fmt.Sprintf("%.2f messages a second were consumed, expected were %.2f", rate, c.minRate))
	}
	for _, kind := range c.planned {
		switch hits, ok := c.felt[kind]; {
		case !ok:
			c.violate(I7, nil, fmt.Sprintf("the planned fault %s did not happen", kind))
		case hits == 0:
			c.violate(I7, nil, fmt.Sprintf("the fault %s was not felt by anything", kind))
		}
	}
}
