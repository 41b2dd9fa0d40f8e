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

// statsLine is the numbers of all consumers in one line.
func statsLine(s *stats.Snapshot) string {
	var queues, paused int
	var cached, bytes, lag, consumed, failed int64
	var hits stats.Hits
	var in, out float64
	unknown := 0
	for _, c := range s.Consumers {
		cached, bytes, consumed, failed = cached+c.CachedCount, bytes+c.CachedBytes, consumed+c.Consumed, failed+c.Failed
		for _, q := range c.Queues {
			queues++
			hits = addHits(hits, q.Hits)
			if q.Paused {
				paused++
			}
			if q.InRate != nil {
				in += float64(*q.InRate)
			}
			if q.ConsumedRate != nil {
				out += float64(*q.ConsumedRate)
			}
			if q.Lag == nil {
				unknown++
			} else {
				lag += *q.Lag
			}
		}
	}
	parts := []string{
		s.At.Format(time.TimeOnly),
		fmt.Sprintf("in %s/s  out %s/s", render.PerSecond(in), render.PerSecond(out)),
		fmt.Sprintf("consumed %s  failed %s", render.Count(consumed), render.Count(failed)),
		fmt.Sprintf("cached %s (%s)", render.Count(cached), render.Bytes(bytes)),
		lagText(lag, unknown, queues),
		"held back " + hitsText(hits),
		fmt.Sprintf("queues %d", queues),
	}
	if paused > 0 {
		parts[len(parts)-1] += fmt.Sprintf(" (%d paused)", paused)
	}
	return strings.Join(parts, "  ")
}

func lagText(lag int64, unknown, queues int) string {
	switch {
	case unknown == queues:
		return "lag ?"
	case unknown > 0:
		return fmt.Sprintf("lag %s (%d queues unknown)", render.Count(lag), unknown)
	}
	return "lag " + render.Count(lag)
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
