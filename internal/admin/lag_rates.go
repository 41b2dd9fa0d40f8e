package admin

import (
	"time"

	"mqctl/internal/stats"
)

// minStill is how long a commit must not have moved to be called stalled: clients save their offsets every 5 s.
const minStill = 6 * time.Second

// Since fills in rates, time to drain and the verdicts that take two samples, from an earlier report on the same group.
// Queues that were unknown then keep what they have.
func (r *LagReport) Since(earlier *LagReport) {
	elapsed := r.At.Sub(earlier.At)
	if elapsed <= 0 {
		return
	}
	before := make(map[queueKey]*QueueLag, len(earlier.Queues))
	for i := range earlier.Queues {
		before[earlier.Queues[i].key()] = &earlier.Queues[i]
	}
	for i := range r.Queues {
		if was := before[r.Queues[i].key()]; was != nil {
			r.Queues[i].since(was, elapsed, r.Members)
		}
	}
}

type queueKey struct {
	topic, broker string
	queueID       int32
}

func (q *QueueLag) key() queueKey {
	key := queueKey{q.Topic, q.Broker, -1}
	if q.QueueID != nil {
		key.queueID = *q.QueueID
	}
	return key
}

func (q *QueueLag) since(was *QueueLag, elapsed time.Duration, members *int) {
	var in, out int64
	known := q.Max != nil && was.Max != nil
	if known {
		in = *q.Max - *was.Max
		q.InRate = rate(max(in, 0), elapsed) // a topic that was made anew has a smaller end
	}
	if !known || q.Lag == nil || was.Lag == nil {
		return
	}
	out = *q.Commit - *was.Commit
	q.OutRate = rate(max(out, 0), elapsed)
	if gain := out - in; *q.Lag > 0 && gain > 0 {
		drain := time.Duration(float64(*q.Lag) / float64(gain) * float64(elapsed))
		q.Drain = &drain
	} else {
		q.NeverDrain = *q.Lag > 0
	}
	q.judgeMove(in, out, elapsed, members)
}

// judgeMove is the verdict on a queue whose end moved by in and whose commit by out.
func (q *QueueLag) judgeMove(in, out int64, elapsed time.Duration, members *int) {
	switch {
	case q.Verdict == VerdictAhead:
	case out < 0:
		q.Verdict = VerdictRewound
	case *q.Lag == 0 || members != nil && *members == 0: // judged by one sample
	case out == 0 && elapsed >= minStill:
		q.Verdict = VerdictStalled
	case out == 0: // too early to tell
	case out < in:
		q.Verdict = VerdictLagging
	default:
		q.Verdict = VerdictOK
	}
}

func rate(n int64, elapsed time.Duration) *stats.Rate {
	r := stats.Rate(float64(n) / elapsed.Seconds())
	return &r
}
