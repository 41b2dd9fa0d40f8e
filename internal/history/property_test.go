package history

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func checkEvents(events []Event) Report {
	c := NewChecker()
	for _, e := range events {
		c.Add(e)
	}
	return c.Finish()
}

// Histories of members that do everything right break nothing.
func TestRightHistoriesPass(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(rapid.Uint64().Draw(t, "seed"), rapid.Bool().Draw(t, "orderly"))
		r := checkEvents(m.history(rapid.IntRange(50, 300).Draw(t, "steps")))
		if !r.OK || r.Open != 0 {
			t.Fatalf("a right history breaks %v, %d open: %+v", r.Broken(), r.Open, r.Violations)
		}
	})
}

// corruption changes one thing in a history; ok is false when there is nothing to change.
type corruption struct {
	name  string
	want  []Invariant // one of these must be broken
	apply func(events []Event, rng *rand.Rand) (changed []Event, ok bool)
}

// pick is the index of a random event that matches.
func pick(events []Event, rng *rand.Rand, match func(i int, e *Event) bool) (int, bool) {
	var found []int
	for i := range events {
		if match(i, &events[i]) {
			found = append(found, i)
		}
	}
	if len(found) == 0 {
		return 0, false
	}
	return found[rng.IntN(len(found))], true
}

func insert(events []Event, i int, e Event) []Event {
	e.At = events[i-1].At
	return slices.Insert(events, i, e)
}

var corruptions = []corruption{
	{"a message is never delivered", []Invariant{I1}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeDeliver })
		if !ok {
			return nil, false
		}
		lost, gone := events[i], map[int64]bool{}
		events = slices.DeleteFunc(events, func(e Event) bool {
			if e.Type == TypeDeliver && e.Producer == lost.Producer && e.Seq == lost.Seq {
				gone[e.Batch] = true
				return true
			}
			return e.Type == TypeDone && gone[e.Batch] || (e.Type == TypeSentBack || e.Type == TypeDead) && e.Producer == lost.Producer && e.Seq == lost.Seq
		})
		return events, true
	}},
	{"a body is changed", []Invariant{I2}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeDeliver })
		if ok {
			events[i].Hash ^= 1 << rng.IntN(64)
		}
		return events, ok
	}},
	{"another message is delivered", []Invariant{I2}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeDeliver && e.Seq > 0 })
		if ok {
			events[i].Seq--
		}
		return events, ok
	}},
	{"two messages change places", []Invariant{I3}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		if events[0].Meta.Mode != ModeOrderly {
			return nil, false
		}
		// the first of two successive batches of one epoch, whose messages both succeed at once
		next := func(i int) int {
			for j := i + 1; j < len(events); j++ {
				if events[j].Type == TypeDeliver && events[j].Queue == events[i].Queue {
					return j
				}
			}
			return -1
		}
		i, ok := pick(events, rng, func(i int, e *Event) bool {
			j := -1
			if e.Type == TypeDeliver {
				j = next(i)
			}
			return j > 0 && events[j].Epoch == e.Epoch && events[j].Offset > e.Offset
		})
		if !ok {
			return nil, false
		}
		a, b := events[i], events[next(i)]
		for k := range events {
			e := &events[k]
			from, to := a, b
			if e.Batch == b.Batch {
				from, to = b, a
			}
			if e.Batch == from.Batch && (e.Type == TypeDeliver || e.Type == TypeDone) {
				e.Offset = to.Offset
				if e.Type == TypeDeliver {
					e.Producer, e.Seq, e.Hash = to.Producer, to.Seq, to.Hash
				}
			}
		}
		return events, true
	}},
	{"a handler runs without the lock", []Invariant{I3}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(i int, e *Event) bool {
			return e.Type == TypeOwn && slices.ContainsFunc(events[i:], func(d Event) bool { return d.Type == TypeDeliver && d.Epoch == e.Epoch })
		})
		if !ok || events[0].Meta.Mode != ModeOrderly {
			return nil, false
		}
		own := events[i]
		end := len(events)
		for j := i + 1; j < len(events); j++ {
			if e := events[j]; e.Type == TypeOwn && e.Queue == own.Queue {
				end = j
				break
			}
		}
		k := 0
		events = slices.DeleteFunc(events, func(e Event) bool {
			at := k
			k++
			return e.Type == TypeLock && e.Queue == own.Queue && e.Member == own.Member && at < end
		})
		first := slices.IndexFunc(events, func(e Event) bool { return e.Type == TypeLock }) // before it nobody tells of locks
		return events, first >= 0 && slices.ContainsFunc(events[first:], func(e Event) bool { return e.Type == TypeDeliver && e.Epoch == own.Epoch })
	}},
	{"a queue is taken behind its commit", []Invariant{I3, I5}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeOwn && e.Offset > 0 })
		if !ok {
			return nil, false
		}
		for j := range events[i:] {
			events[i+j].At += 3 * int64(answerWindow)
		}
		events[i].Offset--
		return events, true
	}},
	{"a commit passes an open message", []Invariant{I4}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		open := map[string]Event{} // a running delivery by queue
		var at []int
		for i, e := range events {
			switch e.Type {
			case TypeDeliver:
				if _, ok := open[e.Queue]; !ok && e.Attempt == 0 && !slices.ContainsFunc(events[:i], func(d Event) bool {
					return d.Type == TypeDeliver && d.Queue == e.Queue && d.Offset == e.Offset
				}) {
					open[e.Queue] = e
					at = append(at, i)
				}
			case TypeDone:
				if open[e.Queue].Batch == e.Batch {
					delete(open, e.Queue)
				}
			}
		}
		if len(at) == 0 {
			return nil, false
		}
		i := at[rng.IntN(len(at))]
		d := events[i]
		return insert(events, i+1, Event{Type: TypeCommit, Group: d.Group, Member: d.Member, Queue: d.Queue, Offset: d.Offset + 1, By: ByAcked}), true
	}},
	{"a commit falls", []Invariant{I5}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeCommit && e.Offset > 0 })
		if !ok {
			return nil, false
		}
		e := events[i]
		e.Offset--
		return insert(events, i+1, e), true
	}},
	{"a message is handled twice", []Invariant{I6}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeDone && e.Result == ResultSuccess })
		if !ok {
			return nil, false
		}
		done := events[i]
		j := slices.IndexFunc(events, func(e Event) bool { return e.Type == TypeDeliver && e.Batch == done.Batch })
		d := events[j]
		d.Batch, done.Batch = 1<<40, 1<<40
		return insert(insert(events, i+1, d), i+2, done), true
	}},
	{"a clean stop does not commit", []Invariant{I6}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(i int, e *Event) bool {
			if e.Type != TypeCommit || events[i-1].Type != TypeDrop || events[i-1].Queue != e.Queue || !stopping(events[:i], e.Member) {
				return false
			}
			from := int64(0) // where the epoch stands without this commit
			for _, x := range events[:i] {
				if x.Queue == e.Queue && (x.Type == TypeCommit || x.Type == TypeOwn) {
					from = x.Offset
				}
			}
			return slices.ContainsFunc(events[:i], func(d Event) bool { // what was handed back may not be known to the member
				return d.Type == TypeDone && d.Result == ResultSuccess && d.Queue == e.Queue && d.Epoch == events[i-1].Epoch && d.Offset == from
			})
		})
		if !ok {
			return nil, false
		}
		return slices.Delete(events, i, i+1), true
	}},
	{"a fault is not felt", []Invariant{I7}, func(events []Event, rng *rand.Rand) ([]Event, bool) {
		i, ok := pick(events, rng, func(_ int, e *Event) bool { return e.Type == TypeFault })
		if ok {
			events[i].Hits = 0
		}
		return events, ok
	}},
	{"a fault does not happen", []Invariant{I7}, func(events []Event, _ *rand.Rand) ([]Event, bool) {
		return slices.DeleteFunc(events, func(e Event) bool { return e.Type == TypeFault }), true
	}},
}

func stopping(events []Event, member string) bool {
	return slices.ContainsFunc(events, func(e Event) bool { return e.Type == TypeStopping && e.Member == member })
}

// One corruption of a right history is found, whatever it is.
func TestCorruptionsAreFound(t *testing.T) {
	for _, c := range corruptions {
		t.Run(c.name, func(t *testing.T) {
			applied := 0
			rapid.Check(t, func(t *rapid.T) {
				seed := rapid.Uint64().Draw(t, "seed")
				events := newModel(seed, rapid.Bool().Draw(t, "orderly")).history(rapid.IntRange(100, 200).Draw(t, "steps"))
				bad, ok := c.apply(slices.Clone(events), rand.New(rand.NewPCG(seed, 3)))
				if !ok {
					return
				}
				applied++
				r := checkEvents(bad)
				if !slices.ContainsFunc(c.want, func(i Invariant) bool { return slices.Contains(r.Broken(), i) }) {
					t.Fatalf("broken are %v, want one of %v", r.Broken(), c.want)
				}
			})
			if applied == 0 {
				t.Error("the corruption was never applied")
			}
		})
	}
}
