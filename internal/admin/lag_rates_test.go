package admin_test

import (
	"testing"
	"time"

	"mqctl/internal/admin"
)

// sample is a report on one queue, d after the first.
func sample(d time.Duration, commit, end *int64, members int) *admin.LagReport {
	q := admin.QueueLag{Topic: "t", Broker: "b", QueueID: p(int32(0)), Commit: commit, Max: end}
	if commit != nil && end != nil {
		q.Lag = p(max(0, *end-*commit))
		switch {
		case *commit > *end:
			q.Verdict = admin.VerdictAhead
		case *q.Lag == 0:
			q.Verdict = admin.VerdictOK
		case members == 0:
			q.Verdict = admin.VerdictUnowned
		}
	} else {
		q.Verdict = admin.VerdictUnknown
	}
	return &admin.LagReport{At: time.Unix(1000, 0).Add(d), Members: &members, Queues: []admin.QueueLag{q}}
}

func TestLagSince(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	for name, c := range map[string]struct {
		commit0, end0, commit1, end1 *int64
		after                        time.Duration
		members                      int
		verdict                      string
		in, out                      float64 // a second, -1 for unknown
		drain                        time.Duration
		never                        bool
	}{
		"catching up":    {n(0), n(100), n(60), n(110), 10 * time.Second, 1, admin.VerdictOK, 1, 6, 10 * time.Second, false},
		"keeping up":     {n(0), n(100), n(10), n(110), 10 * time.Second, 1, admin.VerdictOK, 1, 1, 0, true},
		"lagging":        {n(0), n(100), n(10), n(200), 10 * time.Second, 1, admin.VerdictLagging, 10, 1, 0, true},
		"stalled":        {n(5), n(100), n(5), n(100), 10 * time.Second, 1, admin.VerdictStalled, 0, 0, 0, true},
		"too early":      {n(5), n(100), n(5), n(100), 2 * time.Second, 1, "", 0, 0, 0, true},
		"unowned":        {n(5), n(100), n(5), n(100), 10 * time.Second, 0, admin.VerdictUnowned, 0, 0, 0, true},
		"rewound":        {n(50), n(100), n(5), n(100), 10 * time.Second, 0, admin.VerdictRewound, 0, 0, 0, true},
		"at the end":     {n(90), n(100), n(120), n(120), 10 * time.Second, 1, admin.VerdictOK, 2, 3, 0, false},
		"ahead":          {n(500), n(20), n(500), n(20), 10 * time.Second, 1, admin.VerdictAhead, 0, 0, 0, false},
		"made anew":      {n(90), n(100), n(90), n(20), 10 * time.Second, 1, admin.VerdictAhead, 0, 0, 0, false},
		"now committed":  {nil, n(100), n(5), n(100), 10 * time.Second, 1, "", 0, -1, 0, false},
		"unreadable now": {n(5), n(100), nil, nil, 10 * time.Second, 1, admin.VerdictUnknown, -1, -1, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := sample(0, c.commit0, c.end0, c.members), sample(c.after, c.commit1, c.end1, c.members)
			second.Since(first)
			q := second.Queues[0]
			if q.Verdict != c.verdict {
				t.Errorf("verdict %q, want %q", q.Verdict, c.verdict)
			}
			for what, got := range map[string][2]float64{"in": {rateOf(q.InRate), c.in}, "out": {rateOf(q.OutRate), c.out}} {
				if got[0] != got[1] {
					t.Errorf("%s rate %v, want %v", what, got[0], got[1])
				}
			}
			if (q.Drain == nil) != (c.drain == 0) || q.Drain != nil && (*q.Drain-c.drain).Abs() > time.Second || q.NeverDrain != c.never {
				t.Errorf("drain %v, never %v", q.Drain, q.NeverDrain)
			}
		})
	}
}

func rateOf[T ~float64](r *T) float64 {
	if r == nil {
		return -1
	}
	return float64(*r)
}

func TestLagSinceOfAnotherQueueOrTheSameTime(t *testing.T) {
	first, second := sample(0, p(int64(1)), p(int64(5)), 1), sample(10*time.Second, p(int64(1)), p(int64(5)), 1)
	second.Queues[0].Broker = "other"
	second.Since(first)
	if q := second.Queues[0]; q.InRate != nil || q.Verdict != "" {
		t.Errorf("another queue: %+v", q)
	}
	same := sample(0, p(int64(1)), p(int64(5)), 1)
	same.Since(first)
	if q := same.Queues[0]; q.InRate != nil || q.Verdict != "" {
		t.Errorf("no time between: %+v", q)
	}
}
