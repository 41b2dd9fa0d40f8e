package client_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/history"
)

// What steers the chaos suites.
const (
	envChaosSeeds = "MQCTL_CHAOS_SEEDS" // how many seeds each suite runs
	envChaosSeed  = "MQCTL_CHAOS_SEED"  // run this one alone and keep its history
	envChaosDir   = "MQCTL_CHAOS_DIR"   // where histories of failed runs go; default: a new temporary folder
)

// Every seed is a schedule of faults over a small cluster in virtual time. After it everything is healed; then each
// message that a broker stored must have been consumed, and the whole history must keep the seven invariants.
func TestChaosConcurrent(t *testing.T) { chaosSuite(t, false, 150) }

// The same with queue locks and order.
func TestChaosOrderly(t *testing.T) { chaosSuite(t, true, 150) }

func chaosSuite(t *testing.T, orderly bool, seeds int) {
	first := 1
	if n, err := strconv.Atoi(os.Getenv(envChaosSeeds)); err == nil {
		seeds = n
	} else if testing.Short() {
		seeds = 20
	}
	if n, err := strconv.Atoi(os.Getenv(envChaosSeed)); err == nil {
		first, seeds = n, 1
	}
	var vacuous atomic.Int64
	t.Cleanup(func() { // runs after the parallel seeds
		if n := vacuous.Load(); n > int64(seeds/25) {
			t.Errorf("%d of %d seeds had a fault that nothing felt: they prove nothing", n, seeds)
		}
	})
	for seed := first; seed < first+seeds; seed++ {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			t.Parallel()
			chaosSeed(t, newChaosPlan(uint64(seed), orderly), &vacuous)
		})
	}
}

func chaosSeed(t *testing.T, plan chaosPlan, vacuous *atomic.Int64) {
	var r *chaosRun
	began := time.Now()
	defer func() { // also when the bubble has failed, which ends this function
		if r == nil {
			return
		}
		report := r.rec.check.Finish()
		if t.Failed() || !report.OK || os.Getenv(envChaosSeed) != "" {
			t.Logf("seed %d: history in %s (run it again with %s=%d)", plan.seed, saveHistory(t, plan, r.rec), envChaosSeed, plan.seed)
		}
		if !report.OK {
			_ = report.WriteText(testLog{t})
			if slices.Equal(report.Broken(), []history.Invariant{history.I7}) {
				vacuous.Add(1) // the real scheduling decides whether a fault meets anything; a few may not
			} else {
				t.Fail()
			}
		}
		t.Logf("%d events, %s virtual in %s real; %d delivered, %d redelivered, %d handover falls, %d lock overlaps", report.Counts.Events,
			r.took.Round(time.Second), time.Since(began).Round(time.Millisecond), report.Counts.Delivered, report.Counts.Redelivered,
			report.Counts.HandoverFalls, report.Counts.LockOverlaps)
	}()
	synctest.Test(t, func(t *testing.T) {
		r = newChaosRun(t, plan)
		r.run()
		r.took = time.Since(r.began)
	})
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", p)
	return len(p), nil
}

// saveHistory writes the history of a run to a file and returns its path.
func saveHistory(t testing.TB, plan chaosPlan, rec *recorder) string {
	dir := os.Getenv(envChaosDir)
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "mqctl-chaos-"); err != nil {
			t.Fatal(err)
		}
	}
	mode := history.ModeConcurrent
	if plan.orderly {
		mode = history.ModeOrderly
	}
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", mode, plan.seed))
	_ = os.Remove(path) // of an earlier run of the same seed
	w, err := history.Create(path, 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range rec.events {
		w.Add(e)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
