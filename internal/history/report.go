package history

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Invariant is one promise of a consumer.
type Invariant string

// The invariants.
const (
	I1 Invariant = "I1" // no loss: what was stored is consumed, or became a dead letter after all its attempts
	I2 Invariant = "I2" // no phantom: what is delivered was sent, unchanged
	I3 Invariant = "I3" // order, in orderly mode: offsets rise, nobody else handles the queue, keys are stored in order
	I4 Invariant = "I4" // safe commits: everything below a commit is done
	I5 Invariant = "I5" // commits never fall, but for an explicit reset
	I6 Invariant = "I6" // repetitions only where somebody crashed or a queue changed hands
	I7 Invariant = "I7" // not vacuous: enough messages, and every planned fault was felt
)

// Invariants are all of them in order.
var Invariants = []Invariant{I1, I2, I3, I4, I5, I6, I7}

// Meaning is the invariant in a few words.
func (i Invariant) Meaning() string {
	switch i {
	case I1:
		return "no loss"
	case I2:
		return "no phantom"
	case I3:
		return "order"
	case I4:
		return "commit safety"
	case I5:
		return "commits rise"
	case I6:
		return "duplicates explained"
	case I7:
		return "not vacuous"
	}
	return ""
}

// Violation is one broken promise and the events that show it.
type Violation struct {
	Invariant Invariant `json:"invariant" col:"INVARIANT"`
	Group     string    `json:"group,omitempty" col:"GROUP"`
	Queue     string    `json:"queue,omitempty" col:"QUEUE"`
	Text      string    `json:"text" col:"WHAT"`
	Events    []Event   `json:"events"` // in the order of the history
}

// Tally is how one invariant fared.
type Tally struct {
	Invariant  Invariant `json:"invariant" col:"INVARIANT"`
	Meaning    string    `json:"meaning" col:"MEANING"`
	Violations int64     `json:"violations" col:"VIOLATIONS"`
}

// Counts are sums over a history.
type Counts struct {
	Events     int64 `json:"events" col:"EVENTS"`
	Sends      int64 `json:"sends" col:"SENDS"`           // calls of producers
	Stored     int64 `json:"stored" col:"STORED"`         // different messages that were stored
	Copies     int64 `json:"copies" col:"COPIES"`         // stored once more, because a producer tried again
	Delivered  int64 `json:"delivered" col:"DELIVERED"`   // messages handed to a handler
	Succeeded  int64 `json:"succeeded" col:"SUCCEEDED"`   // of these, with success
	Later      int64 `json:"later" col:"LATER"`           // of these, to be delivered again
	SentBack   int64 `json:"sent_back" col:"SENT BACK"`   // copies stored for a later delivery
	Dead       int64 `json:"dead" col:"DEAD"`             // dead letters
	Unverified int64 `json:"unverified" col:"UNVERIFIED"` // deliveries whose body could not be compared with what was sent
	Commits    int64 `json:"commits" col:"COMMITS"`
	Takeovers  int64 `json:"takeovers" col:"TAKEOVERS"` // a member began to read a queue
	Crashes    int64 `json:"crashes" col:"CRASHES"`
	CleanStops int64 `json:"clean_stops" col:"CLEAN STOPS"`
	OtherStops int64 `json:"other_stops" col:"OTHER STOPS"`
	Resets     int64 `json:"resets" col:"RESETS"`
	Faults     int64 `json:"faults" col:"FAULTS"`
	FaultHits  int64 `json:"fault_hits" col:"FAULT HITS"`

	Redelivered   int64 `json:"redelivered" col:"REDELIVERED"`       // delivered again although nobody asked for it
	Explained     int64 `json:"explained" col:"EXPLAINED"`           // as many redeliveries have a cause at most
	HandoverFalls int64 `json:"handover_falls" col:"HANDOVER FALLS"` // commits that fell because two members owned the queue for a moment
	LockOverlaps  int64 `json:"lock_overlaps" col:"LOCK OVERLAPS"`   // handlers of two members at once because a lock had expired or was lost
}

// Report is what Checker finds.
type Report struct {
	OK         bool          `json:"ok"`
	Tallies    []Tally       `json:"invariants"`
	Counts     Counts        `json:"counts"`
	Duration   time.Duration `json:"duration_ns" unit:"ns"`                     // from the first event to the last
	Rate       float64       `json:"rate" unit:"msg/s"`                         // consumed, from the first send to the last result
	Open       int64         `json:"open"`                                      // stored but not consumed
	Truncated  []string      `json:"truncated,omitempty"`                       // files whose last line was cut off
	Violations []Violation   `json:"violations"`                                // at most maxShown of each invariant
	Omitted    int64         `json:"omitted_violations"`                        // how many more there were
	At         time.Time     `json:"at" format:"2006-01-02T15:04:05.000Z07:00"` // of the first event
}

// maxShown bounds the violations of one invariant that a report shows in full.
const maxShown = 20

// Broken is the invariants that do not hold, in order.
func (r *Report) Broken() []Invariant {
	var list []Invariant
	for _, t := range r.Tallies {
		if t.Violations > 0 {
			list = append(list, t.Invariant)
		}
	}
	return list
}

// WriteJSON writes the report as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// WriteText writes the report for people: the verdict, the numbers, and each violation with the events that show it.
func (r *Report) WriteText(w io.Writer) error {
	var b strings.Builder
	verdict := "all invariants hold"
	if !r.OK {
		verdict = fmt.Sprintf("broken: %s", joinInvariants(r.Broken()))
	}
	c := &r.Counts
	fmt.Fprintf(&b, "%s\n", verdict)
	fmt.Fprintf(&b, "%d events in %s: %d messages stored, %d deliveries, %.1f msg/s, %d open\n",
		c.Events, r.Duration.Round(time.Millisecond), c.Stored, c.Delivered, r.Rate, r.Open)
	fmt.Fprintf(&b, "%d takeovers, %d crashes, %d clean stops, %d faults felt %d times; %d redeliveries of at most %d explained\n",
		c.Takeovers, c.Crashes, c.CleanStops, c.Faults, c.FaultHits, c.Redelivered, c.Explained)
	for _, name := range r.Truncated {
		fmt.Fprintf(&b, "%s: the last line was cut off and does not count\n", name)
	}
	for _, t := range r.Tallies {
		mark := "ok"
		if t.Violations > 0 {
			mark = fmt.Sprintf("%d violations", t.Violations)
		}
		fmt.Fprintf(&b, "  %s %-22s %s\n", t.Invariant, t.Meaning, mark)
	}
	for i := range r.Violations {
		r.Violations[i].write(&b, r.At)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "\nand %d more violations\n", r.Omitted)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func joinInvariants(list []Invariant) string {
	names := make([]string, len(list))
	for i, inv := range list {
		names[i] = fmt.Sprintf("%s (%s)", inv, inv.Meaning())
	}
	return strings.Join(names, ", ")
}

func (v *Violation) write(b *strings.Builder, start time.Time) {
	where := strings.Join(slices.DeleteFunc([]string{v.Group, v.Queue}, func(s string) bool { return s == "" }), " ")
	if where != "" {
		where += ": "
	}
	fmt.Fprintf(b, "\n%s %s%s\n", v.Invariant, where, v.Text)
	for _, e := range v.Events {
		at := time.Unix(0, e.At).Sub(start)
		line, err := e.appendLine(nil)
		if err != nil {
			continue
		}
		fmt.Fprintf(b, "  %+12.3fs %s", at.Seconds(), line)
	}
}
