package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// The verdicts on one queue of a group. What takes two samples is said by LagReport.Since, until then Verdict is "".
const (
	VerdictOK      = "OK"
	VerdictLagging = "LAGGING" // the commit moves slower than the end
	VerdictStalled = "STALLED" // the commit stands still, though the group has members
	VerdictUnowned = "UNOWNED" // messages wait and the group has no member
	VerdictRewound = "REWOUND" // the commit went back
	VerdictAhead   = "AHEAD"   // the commit lies beyond the end
	VerdictUnknown = "UNKNOWN"
)

// LagOptions selects what Lag looks at.
type LagOptions struct {
	// Topics are the topics to look at. Default: those that members subscribe to or that have offsets, and the retry topic.
	Topics []string
}

// LagReport is how far a group is behind. Sums are over the queues whose lag is known.
type LagReport struct {
	Group    string     `json:"group"`
	At       time.Time  `json:"at"`
	Model    string     `json:"model"`   // CLUSTERING or BROADCASTING as members say; "" while nobody is online
	Members  *int       `json:"members"` // online, by client id; nil when no broker could tell
	Lag      *int64     `json:"lag"`     // nil when no queue's lag is known
	Unknown  int        `json:"unknown"` // queues whose lag is unknown
	Expired  int64      `json:"expired"` // messages that retention removed before the group read them; they are no lag
	Queues   []QueueLag `json:"queues"`
	Partial  bool       `json:"partial"` // something could not be read: see the rows' Error
	Failures []error    `json:"-"`       // the causes, each once
	Error    string     `json:"error"`   // why there is nothing of this group, which Lag itself returns as its error
}

// QueueLag is a row of LagReport. What is unknown is nil, never 0; Error says what could not be read.
type QueueLag struct {
	Topic   string `json:"topic" col:"TOPIC"`
	Broker  string `json:"broker" col:"BROKER"`
	QueueID *int32 `json:"queue_id" col:"QUEUE"` // nil in the one row of a topic whose route could not be read
	Commit  *int64 `json:"commit" col:"COMMIT"`  // as stored; nil when there is none
	Min     *int64 `json:"min" col:"MIN,wide"`
	Max     *int64 `json:"max" col:"MAX"`
	Lag     *int64 `json:"lag" col:"LAG" unit:"count"`
	// LagMost is what Lag can be at most where no commit tells it.
	LagMost    *int64         `json:"lag_most" col:"AT MOST,wide" unit:"count"`
	Expired    *int64         `json:"expired" col:"EXPIRED,wide" unit:"count"` // messages between the commit and Min
	LastStored *time.Time     `json:"last_stored" col:"LAST STORED,wide" none:"-"`
	InRate     *stats.Rate    `json:"in_rate" col:"IN/S" unit:"rate"`   // of messages stored
	OutRate    *stats.Rate    `json:"out_rate" col:"OUT/S" unit:"rate"` // of the commit
	Drain      *time.Duration `json:"drain_ns" col:"DRAIN" unit:"duration"`
	NeverDrain bool           `json:"never_drains"` // at these rates; Drain is nil then
	// NeverCommitted is the broker's word that there is no commit. A nil Commit without it is one that could not be read.
	NeverCommitted bool   `json:"never_committed"`
	Filter         string `json:"filter" col:"FILTER,wide"`    // the members' expression: what it drops counts as lag until it is pulled
	Verdict        string `json:"verdict" col:"VERDICT,state"` // one of the Verdict constants, "" for none yet
	Note           string `json:"note" col:"NOTE"`
	Error          string `json:"error" col:"ERROR"`
}

// Lag is how far a group is behind in each queue. Every commit is read before the end of its queue, so that a commit in
// between cannot make it look ahead.
//
// A group that no broker knows is client.ErrGroupNotFound; a topic of o.Topics that is unknown is client.ErrTopicNotFound.
// A retry topic that does not exist yet is left out, any other topic without a route is a row with an Error.
func (a *Admin) Lag(ctx context.Context, group string, o LagOptions) (*LagReport, error) {
	if err := client.ValidateGroup(group); err != nil {
		return nil, err
	}
	started := time.Now()
	view, err := a.viewGroup(ctx, group, o.Topics)
	if err != nil {
		return nil, fmt.Errorf("lag of %s: %w", group, err)
	}
	routes, rows, err := a.lagRoutes(ctx, view)
	if err != nil {
		return nil, fmt.Errorf("lag of %s: %w", group, err)
	}
	rows = append(rows, a.measure(ctx, group, routes)...)
	r := &LagReport{Group: group, At: started, Model: view.model, Members: view.members}
	r.fill(rows, view)
	if !view.known && !slices.ContainsFunc(rows, func(row lagRow) bool { return row.commit.at != nil }) {
		if err := a.mustKnow(ctx, group, r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// mustKnow refuses a group of which there was no trace, unless brokers have it in their list. What hides a trace is
// noted in r already.
func (a *Admin) mustKnow(ctx context.Context, group string, r *LagReport) error {
	if r.Partial {
		return nil
	}
	exists, err := a.GroupExists(ctx, group)
	switch {
	case err != nil:
		r.Partial, r.Failures = true, append(r.Failures, err)
	case !exists:
		return fmt.Errorf("lag of %s: %w", group, client.ErrGroupNotFound)
	}
	return nil
}

// lagRow is what is known of one queue before it is judged. queueID is nil, and err set, for a topic without a route.
type lagRow struct {
	topic, broker string
	queueID       *int32
	commit        commit
	queueRange
	note string
}

// fill judges the rows and adds them up.
func (r *LagReport) fill(rows []lagRow, view *groupView) {
	slices.SortStableFunc(rows, func(a, b lagRow) int {
		return cmp.Or(compareTopics(a.topic, b.topic), cmp.Compare(a.broker, b.broker), cmp.Compare(deref(a.queueID), deref(b.queueID)))
	})
	failed := view.failed
	var lag, expired sum
	r.Queues = []QueueLag{}
	for _, row := range rows {
		q := judge(row, view)
		if err := cmp.Or(row.err, row.commit.err); err != nil {
			failed.add(err)
		}
		if q.Lag != nil {
			lag.add(*q.Lag)
		} else {
			r.Unknown++
		}
		if q.Expired != nil {
			expired.add(*q.Expired)
		}
		r.Queues = append(r.Queues, q)
	}
	r.Lag = lag.value()
	r.Expired = deref(expired.value())
	r.Failures, r.Partial = failed.errs, len(failed.errs) > 0
}

// compareTopics sorts retry topics behind the others.
func compareTopics(a, b string) int {
	rank := func(topic string) int {
		if protocol.IsRetryTopic(topic) {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
}

func deref[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

// judge turns what was read of a queue into its row.
func judge(row lagRow, view *groupView) QueueLag {
	q := QueueLag{
		Topic: row.topic, Broker: row.broker, QueueID: row.queueID, Commit: row.commit.at,
		Filter: view.filters[row.topic], Note: row.note, Verdict: VerdictUnknown,
	}
	if row.err == nil {
		q.Min, q.Max, q.LastStored = &row.min, &row.max, row.stored()
	}
	broadcasting := view.model == string(protocol.Broadcasting)
	q.NeverCommitted = row.queueID != nil && row.commit.at == nil && row.commit.err == nil && !broadcasting
	switch {
	case row.err != nil:
		q.Error = row.err.Error()
	case row.commit.err != nil:
		q.lagMost(row.queueRange)
		q.Error = row.commit.err.Error()
	case broadcasting:
		q.Note = joinNotes("members that broadcast keep their offsets themselves", q.Note)
	case q.Commit == nil:
		q.lagMost(row.queueRange)
		q.Note = joinNotes("never committed", q.Note)
	case *q.Commit < 0:
		q.lagMost(row.queueRange)
		q.Note = joinNotes("a negative commit counts as none", q.Note)
	default:
		q.compare(*q.Commit, row.queueRange)
		if q.Verdict == "" && view.members != nil && *view.members == 0 {
			q.Verdict = VerdictUnowned
		}
	}
	return q
}

func (q *QueueLag) lagMost(r queueRange) {
	n := r.max - r.min
	q.LagMost = &n
}

// compare fills in the lag of a commit.
func (q *QueueLag) compare(commit int64, r queueRange) {
	lag := max(0, r.max-max(commit, r.min))
	expired := max(0, r.min-commit)
	q.Lag, q.Expired = &lag, &expired
	switch {
	case commit > r.max:
		q.Verdict = VerdictAhead
		q.Note = joinNotes(fmt.Sprintf("the commit is %d beyond the end", commit-r.max), q.Note)
	case lag == 0:
		q.Verdict = VerdictOK
	default:
		q.Verdict = ""
	}
	if expired > 0 {
		q.Note = joinNotes(fmt.Sprintf("%d expired before they were read", expired), q.Note)
	}
}

func joinNotes(a, b string) string {
	if b == "" {
		return a
	}
	return a + "; " + b
}
