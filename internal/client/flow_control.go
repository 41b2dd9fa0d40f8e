package client

import "mqctl/internal/stats"

// flowLimits are the limits at which a pull loop holds back; zero or less switches one off.
//
// They are compared strictly (more than the limit, not at it) and before a pull, so a queue may exceed a limit by one
// pulled batch, as in Java. Unlike Java, which compares whole MiB, sizes are compared in bytes.
type flowLimits struct {
	count int64 // cached messages of the queue
	bytes int64 // cached bytes of the queue
	span  int64 // see cacheState; off in orderly mode
	total int64 // cached bytes of the whole consumer
}

// cacheState is what a ProcessQueue holds at one instant.
type cacheState struct {
	count int64 // messages not finished
	bytes int64 // of their bodies
	// span is how far fetching is ahead of the smallest unfinished offset: what a crash would repeat. Java looks at the
	// unfinished messages only, so that one stuck message holds nothing back as long as the others are quick.
	span int64
}

// verdict is the flow-control ladder in Java's order: count, size, span; mqctl's own limit on the whole consumer last.
func (l flowLimits) verdict(c cacheState, consumerBytes int64) stats.Verdict {
	switch {
	case l.count > 0 && c.count > l.count:
		return stats.VerdictCount
	case l.bytes > 0 && c.bytes > l.bytes:
		return stats.VerdictSize
	case l.span > 0 && c.span > l.span:
		return stats.VerdictSpan
	case l.total > 0 && consumerBytes > l.total:
		return stats.VerdictTotal
	}
	return stats.VerdictPull
}
