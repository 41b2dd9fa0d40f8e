package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"mqctl/internal/render"
	"mqctl/internal/stats"
)

type snapshotFunc = func() stats.Snapshot

// statsLines prints one line about all consumers of a client every interval, until ctx ends.
func (p *program) statsLines(ctx context.Context, interval time.Duration, take snapshotFunc) {
	first := true
	stats.NewSampler(take).Run(ctx, interval, func(s *stats.Snapshot) {
		if first { // it has no rates yet
			first = false
			return
		}
		p.note("%s", statsLine(s))
	})
}

// sum is the numbers of all queues of a snapshot together.
type sum struct {
	queues, paused, unknown              int // unknown: queues without a known lag
	cached, bytes, lag, consumed, failed int64
	hits                                 stats.Hits
	in, out                              float64
}

func sumOf(s *stats.Snapshot) (t sum) {
	for _, c := range s.Consumers {
		t.cached, t.bytes = t.cached+c.CachedCount, t.bytes+c.CachedBytes
		t.consumed, t.failed = t.consumed+c.Consumed, t.failed+c.Failed
		for _, q := range c.Queues {
			t.add(q)
		}
	}
	return t
}

func (t *sum) add(q stats.Queue) {
	t.queues++
	t.hits = addHits(t.hits, q.Hits)
	if q.Paused {
		t.paused++
	}
	if q.InRate != nil {
		t.in += float64(*q.InRate)
	}
	if q.ConsumedRate != nil {
		t.out += float64(*q.ConsumedRate)
	}
	if q.Lag == nil {
		t.unknown++
		return
	}
	t.lag += *q.Lag
}

func (t sum) lagText() string {
	switch {
	case t.unknown == t.queues:
		return "lag ?"
	case t.unknown > 0:
		return fmt.Sprintf("lag %s (%s unknown)", render.Count(t.lag), countOf(t.unknown, "queue"))
	}
	return "lag " + render.Count(t.lag)
}

// statsLine is the numbers of all consumers in one line.
func statsLine(s *stats.Snapshot) string {
	t := sumOf(s)
	parts := []string{
		s.At.Format(time.TimeOnly),
		fmt.Sprintf("in %s/s  out %s/s", render.PerSecond(t.in), render.PerSecond(t.out)),
		fmt.Sprintf("consumed %s  failed %s", render.Count(t.consumed), render.Count(t.failed)),
		fmt.Sprintf("cached %s (%s)", render.Count(t.cached), render.Bytes(t.bytes)),
		t.lagText(),
		"held back " + hitsText(t.hits),
		countOf(t.queues, "queue"),
	}
	if t.paused > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" (%d paused)", t.paused)
	}
	return strings.Join(parts, "  ")
}

func addHits(a, b stats.Hits) stats.Hits {
	return stats.Hits{Count: a.Count + b.Count, Size: a.Size + b.Size, Span: a.Span + b.Span, Total: a.Total + b.Total, Broker: a.Broker + b.Broker}
}

// hitsText is the kinds of flow control that have held something back.
func hitsText(h stats.Hits) string {
	var parts []string
	for _, kind := range []struct {
		name string
		n    int64
	}{{"count", h.Count}, {"size", h.Size}, {"span", h.Span}, {"total", h.Total}, {"broker", h.Broker}} {
		if kind.n > 0 {
			parts = append(parts, kind.name+" "+render.Count(kind.n))
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	return strings.Join(parts, " ")
}
