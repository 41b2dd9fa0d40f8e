// Package measure reads what a run of a driver cost: CPU time and peak memory of this process.
package measure

import (
	"fmt"
	"syscall"
	"time"
)

// Run is a measurement that began at one moment.
type Run struct {
	began time.Time
	cpu   float64
}

// Start begins a measurement.
func Start() *Run { return &Run{began: time.Now(), cpu: cpuSeconds()} }

// Clock moves the start of the wall time to t and leaves the CPU time alone: a consumer's wall time counts from its
// first message, while the CPU spent on joining the group is its own cost.
func (r *Run) Clock(t time.Time) { r.began = t }

// Line is the figure line that every driver prints: who did what, messages done and failed, wall seconds, rate,
// CPU microseconds a message, peak resident MiB.
func (r *Run) Line(who, what string, done, failed int64) string {
	wall, cpu := time.Since(r.began).Seconds(), cpuSeconds()-r.cpu
	return fmt.Sprintf("%s %s n=%d wall=%.2f rate=%.0f cpu=%.2f cpu_us_per_msg=%.2f rss_mib=%d bad=%d",
		who, what, done, wall, float64(done)/wall, cpu, cpu*1e6/float64(done), peakMiB(), failed)
}

func cpuSeconds() float64 {
	u := usage()
	return seconds(u.Utime) + seconds(u.Stime)
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	// The call fails only for a bad argument.
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return u
}

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }

// peakMiB relies on Linux, where ru_maxrss counts KiB.
func peakMiB() int64 { return int64(usage().Maxrss) / 1024 }
