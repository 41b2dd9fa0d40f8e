//go:build unix

package main

import (
	"runtime"
	"syscall"
	"time"
)

// figures is what a run cost.
type figures struct {
	Who         string         `json:"who"`
	Work        string         `json:"work"`
	Messages    int64          `json:"messages"`
	Failed      int64          `json:"failed"`
	Wall        float64        `json:"wall_s"`
	Rate        float64        `json:"rate"` // messages a second of Wall
	CPU         float64        `json:"cpu_s"`
	CPUPer      float64        `json:"cpu_us_per_msg"`
	PeakMiB     float64        `json:"peak_rss_mib"`
	HandledWall float64        `json:"handled_s,omitempty"` // of a consumer: up to the last message, without the commit
	FirstError  string         `json:"first_error,omitempty"`
	Settings    map[string]any `json:"settings"`
}

// stopwatch measures a run: CPU time from its making on, wall time from began.
type stopwatch struct {
	began time.Time
	cpu   float64
}

func startWatch() stopwatch { return stopwatch{began: time.Now(), cpu: cpuSeconds(usage())} }

func (w stopwatch) figures(j *job, done, failed int64) *figures {
	u := usage()
	f := &figures{Who: "mqctl", Work: j.work, Messages: done, Failed: failed, Wall: time.Since(w.began).Seconds(), CPU: cpuSeconds(u) - w.cpu}
	f.Rate = float64(done) / f.Wall
	f.CPUPer = f.CPU * 1e6 / float64(max(done, 1))
	f.PeakMiB = float64(u.Maxrss) / (1 << 10) // KiB, but on Darwin bytes
	if runtime.GOOS == "darwin" {
		f.PeakMiB /= 1 << 10
	}
	return f
}

func usage() syscall.Rusage {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // it fails only for a bad argument
	return u
}

func cpuSeconds(u syscall.Rusage) float64 { return seconds(u.Utime) + seconds(u.Stime) }

func seconds(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
