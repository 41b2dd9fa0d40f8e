package position

import (
	"strings"
	"time"
)

// Range is what lies from one position up to, and without, another.
type Range struct{ From, To Position }

// ParseRange reads A..B, two positions of any kind. A range that is backwards in
// every queue is refused.
func ParseRange(s string, now time.Time, loc *time.Location) (Range, error) {
	from, to, ok := strings.Cut(s, "..")
	switch {
	case !ok:
		return Range{}, &Error{Input: s, Reason: "want a range A..B, such as @-1h..end or 10..20"}
	case from == "":
		return Range{}, &Error{Input: s, Reason: "the range has no beginning: start.." + to}
	case to == "":
		return Range{}, &Error{Input: s, Reason: "the range has no end: " + from + "..end"}
	case strings.Contains(to, ".."):
		return Range{}, &Error{Input: s, Reason: "more than one .. in a range"}
	}
	a, err := Parse(from, now, loc)
	if err != nil {
		return Range{}, err
	}
	b, err := Parse(to, now, loc)
	if err != nil {
		return Range{}, err
	}
	if backwards(a, b) {
		return Range{}, &Error{Input: s, Reason: "the range ends before it begins: " + to + ".." + from}
	}
	return Range{From: a, To: b}, nil
}

// backwards reports whether b lies before a whatever the queue holds.
func backwards(a, b Position) bool {
	if a.Kind != b.Kind {
		return a.Kind == End && b.Kind == Start
	}
	switch a.Kind {
	case Offset, StartPlus, Commit:
		return a.N > b.N
	case EndMinus, Lag:
		return a.N < b.N
	case At:
		return a.Time.After(b.Time)
	}
	return false
}

// String is the range in its own grammar.
func (r Range) String() string { return r.From.String() + ".." + r.To.String() }

// Echo is the range for a reader; see Position.Echo.
func (r Range) Echo() string { return r.From.Echo() + " .. " + r.To.Echo() }

// Resolve returns the offsets [from, to) of the range in a queue. Where the range
// is backwards in this queue (say commit..@-1h, committed lately), it is empty:
// to = from.
func (r Range) Resolve(b Bounds) (from, to int64, err error) {
	if from, err = Resolve(r.From, b); err != nil {
		return 0, 0, err
	}
	if to, err = Resolve(r.To, b); err != nil {
		return 0, 0, err
	}
	return from, max(from, to), nil
}
