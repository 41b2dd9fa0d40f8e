package client

import (
	"sync/atomic"
	"time"
)

// faultStep says for how long a broker is avoided after an answer that took this long.
type faultStep struct {
	latency, avoid time.Duration
}

// faultTable is Java's MQFaultStrategy (latencyMax and notAvailableDuration), the slowest first. Its rows for 50 and
// 100 ms are left out: they avoid nothing.
var faultTable = [...]faultStep{
	{15 * time.Second, 30 * time.Second},
	{5 * time.Second, 10 * time.Second},
	{3 * time.Second, 6 * time.Second},
	{1800 * time.Millisecond, 5 * time.Second},
	{550 * time.Millisecond, 2 * time.Second},
}

// failedLatency is what a failed attempt counts as, Java's isolation: such a broker is avoided for 10 s.
const failedLatency = 10 * time.Second

// avoidFor is for how long a broker with this latency is avoided.
func avoidFor(latency time.Duration) time.Duration {
	for _, step := range faultTable {
		if latency >= step.latency {
			return step.avoid
		}
	}
	return 0
}

// brokerFaults is what a producer remembers of a broker, Java's FaultItem.
type brokerFaults struct {
	avoidUntil atomic.Int64 // ns since the epoch
}

// report takes in an attempt that ended now. The latest one decides: a quick answer makes a broker eligible again.
func (b *brokerFaults) report(now time.Time, latency time.Duration) {
	b.avoidUntil.Store(now.Add(avoidFor(latency)).UnixNano())
}

func (b *brokerFaults) avoided(now time.Time) bool { return now.UnixNano() < b.avoidUntil.Load() }
