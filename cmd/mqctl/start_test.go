package main

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// TestNoPackageTakesLongToInitialise: the start is a promise of 30 ms, and one dependency's table once took all of it.
// The best of several runs counts, since machines are shared.
func TestNoPackageTakesLongToInitialise(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	best := map[string]float64{}
	for range 5 {
		cmd := &exec.Cmd{Path: exe, Args: []string{"mqctl", "version"}, Env: append(os.Environ(), "GODEBUG=inittrace=1")}
		trace, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, trace)
		}
		for line := range strings.Lines(string(trace)) {
			// init PACKAGE @12 ms, 0.5 ms clock, 1024 bytes, 3 allocs
			words := strings.Fields(line)
			if len(words) < 6 || words[0] != "init" {
				continue
			}
			ms, err := strconv.ParseFloat(words[4], 64)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			if before, ok := best[words[1]]; !ok || ms < before {
				best[words[1]] = ms
			}
		}
	}
	if len(best) < 5 {
		t.Fatalf("only %d packages in the trace", len(best))
	}
	for name, ms := range best {
		if ms > 50 { // ten times what the slowest needs on a quiet machine
			t.Errorf("%s takes %.1f ms before main begins", name, ms)
		}
	}
}
