// Package position is the one grammar for places in a queue and for times, the
// same in every command:
//
//	start  end  N  start+N  end-N  commit+N  commit-N  lag=N  @TIME  @-1h  A..B
//
// Parsing needs a clock and a zone, resolving needs the real bounds of a queue;
// neither does any I/O.
package position

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Kind is the form of a position.
type Kind int

// The forms of the grammar. N of a Position means what the comment says.
const (
	Start     Kind = iota // the oldest message
	End                   // behind the newest message
	Offset                // N: the offset itself
	StartPlus             // start+N
	EndMinus              // end-N
	Commit                // commit+N; commit-N has a negative N
	Lag                   // lag=N: the place from which N messages are to come
	At                    // @TIME and @-1h: the first message stored at or after Time
)

// Position is a parsed position. Only At uses Time.
type Position struct {
	Kind Kind
	N    int64
	Time time.Time
}

// Error is input that is no position, range or time: a usage error. Reason says
// what to write instead.
type Error struct {
	Input  string
	Reason string
	Err    error // a *LocalTimeError, or nil
}

func (e *Error) Error() string { return fmt.Sprintf("position %q: %s", e.Input, e.Reason) }

// Unwrap returns the *LocalTimeError behind a time that exists twice or never.
func (e *Error) Unwrap() error { return e.Err }

const forms = "want start, end, an offset, start+N, end-N, commit+N, commit-N, lag=N, @TIME or @-1h"

// Parse reads a position. Relative times count back from now; times without a zone
// are in loc (nil: the local zone). Errors are *Error.
func Parse(s string, now time.Time, loc *time.Location) (Position, error) {
	p, reason, err := parse(s, now, loc)
	if err != nil {
		reason = err.Error()
	}
	if reason != "" {
		return Position{}, &Error{Input: s, Reason: reason, Err: err}
	}
	return p, nil
}

// parse returns either a position, or the reason why there is none.
func parse(s string, now time.Time, loc *time.Location) (p Position, reason string, err error) {
	switch s {
	case "start":
		return Position{Kind: Start}, "", nil
	case "end":
		return Position{Kind: End}, "", nil
	case "commit":
		return Position{Kind: Commit}, "", nil
	}
	if text, ok := strings.CutPrefix(s, "@"); ok {
		return parseAt(text, now, loc)
	}
	for _, form := range counted {
		text, ok := strings.CutPrefix(s, form.prefix)
		if !ok || !allDigits(text) {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return p, text + " is larger than any offset", nil
		}
		return Position{Kind: form.kind, N: n * form.sign}, "", nil
	}
	return p, hint(s, now, loc), nil
}

// counted are the forms that end in a number.
var counted = []struct {
	prefix string
	kind   Kind
	sign   int64
}{
	{"", Offset, 1},
	{"start+", StartPlus, 1},
	{"end-", EndMinus, 1},
	{"commit+", Commit, 1},
	{"commit-", Commit, -1},
	{"lag=", Lag, 1},
}

func parseAt(text string, now time.Time, loc *time.Location) (p Position, reason string, err error) {
	if back, ok := strings.CutPrefix(text, "-"); ok {
		d, ok := parseSpan(back)
		if !ok {
			return p, "want a time span behind @-, such as 90s, 1h30m or 7d", nil
		}
		return Position{Kind: At, Time: now.Add(-d).In(zone(loc))}, "", nil
	}
	t, reason, err := parseTime(text, now, loc)
	return Position{Kind: At, Time: t}, reason, err
}

// synonyms are the words of other tools for the ends of a queue.
var synonyms = map[string]string{
	"earliest": "start", "beginning": "start", "first": "start", "oldest": "start", "min": "start", "smallest": "start",
	"latest": "end", "last": "end", "newest": "end", "max": "end", "largest": "end",
}

// hint says what s was probably meant to be.
func hint(s string, now time.Time, loc *time.Location) string {
	digits := strings.TrimLeft(s, "+-")
	switch word := strings.ToLower(s); {
	case s == "":
		return "it is empty; " + forms
	case s[0] == '+' && allDigits(digits):
		return fmt.Sprintf("say from where: start+%s (from the oldest message) or commit+%s (from the committed offset)", digits, digits)
	case s[0] == '-' && allDigits(digits):
		return fmt.Sprintf("say from where: end-%s (from the newest message) or commit-%s (from the committed offset)", digits, digits)
	case synonyms[word] != "":
		return "the word is " + synonyms[word]
	case word == "start" || word == "end" || word == "commit":
		return "the word is " + word + ", in small letters"
	case strings.HasPrefix(s, "end+"):
		return "nothing is behind the end; " + forms
	case strings.HasPrefix(s, "start-"):
		return "nothing is before the start; " + forms
	case strings.Contains(s, ".."):
		return "a range does not fit here; " + forms
	}
	if _, ok := parseSpan(strings.TrimPrefix(s, "-")); ok {
		return fmt.Sprintf("a time has an @ in front: @-%s", strings.TrimPrefix(s, "-"))
	}
	if _, reason, _ := parseTime(s, now, loc); reason == "" {
		return "a time has an @ in front: @" + s
	}
	return forms
}

func allDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// String is the position in its own grammar, with a time as RFC 3339 in the zone
// it was read in: Parse gives the same position again, in every zone.
func (p Position) String() string {
	switch p.Kind {
	case Start:
		return "start"
	case End:
		return "end"
	case StartPlus:
		return fmt.Sprintf("start+%d", p.N)
	case EndMinus:
		return fmt.Sprintf("end-%d", p.N)
	case Commit:
		return fmt.Sprintf("commit%+d", p.N)
	case Lag:
		return fmt.Sprintf("lag=%d", p.N)
	case At:
		return "@" + rfc3339(p.Time)
	}
	return strconv.FormatInt(p.N, 10)
}

// Echo is the position for a reader: a time as FormatTime writes it, everything
// else as String.
func (p Position) Echo() string {
	if p.Kind == At {
		return FormatTime(p.Time)
	}
	return p.String()
}

// NeedsCommit reports whether resolving takes the committed offset of a group.
func (p Position) NeedsCommit() bool { return p.Kind == Commit }

// NeedsTime reports whether resolving asks Bounds.OffsetAt.
func (p Position) NeedsTime() bool { return p.Kind == At }

// ErrNoCommit is that of commit+N and commit-N in a queue without a committed offset.
var ErrNoCommit = errors.New("the group has no committed offset in this queue")

// Bounds is what is known about one queue.
type Bounds struct {
	Min int64 // offset of the oldest message
	Max int64 // offset that the next message will get
	// Committed is the group's committed offset; nil if there is none.
	Committed *int64
	// OffsetAt finds the first message stored at or after t, as request 29 does. Its
	// answer is clamped to Min and Max. Only positions with NeedsTime call it.
	OffsetAt func(t time.Time) (int64, error)
}

// Resolve returns the offset of p in a queue, always in [Min, Max]: what lies
// behind the last message is Max, what lies before the first is Min, and every
// position of an empty queue is Max. It fails with ErrNoCommit or OffsetAt's error.
func Resolve(p Position, b Bounds) (int64, error) {
	if b.Min >= b.Max {
		return b.Max, nil
	}
	switch p.Kind {
	case Start:
		return b.Min, nil
	case End:
		return b.Max, nil
	case Offset:
		return b.clamp(p.N), nil
	case StartPlus:
		return b.clamp(add(b.Min, p.N)), nil
	case EndMinus, Lag:
		return b.clamp(add(b.Max, -p.N)), nil
	case Commit:
		if b.Committed == nil {
			return 0, ErrNoCommit
		}
		return b.clamp(add(*b.Committed, p.N)), nil
	case At:
		return b.at(p.Time)
	}
	return 0, fmt.Errorf("position of unknown kind %d", p.Kind)
}

func (b Bounds) at(t time.Time) (int64, error) {
	if b.OffsetAt == nil {
		return 0, errors.New("a time cannot be looked up here")
	}
	offset, err := b.OffsetAt(t)
	if err != nil {
		return 0, fmt.Errorf("offset at %s: %w", FormatTime(t), err)
	}
	return b.clamp(offset), nil
}

func (b Bounds) clamp(offset int64) int64 { return min(max(offset, b.Min), b.Max) }

// add is a+b, stopping at the ends of int64 instead of wrapping around.
func add(a, b int64) int64 {
	sum := a + b
	switch {
	case b > 0 && sum < a:
		return 1<<63 - 1
	case b < 0 && sum > a:
		return -1 << 63
	}
	return sum
}
