package main

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func run(t *testing.T, events ...event) (*summary, string) {
	t.Helper()
	var in, out bytes.Buffer
	for _, e := range events {
		if err := json.NewEncoder(&in).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	s := &summary{out: &out, pending: map[string][]string{}}
	if err := s.read(&in); err != nil {
		t.Fatal(err)
	}
	return s, out.String()
}

func TestLeavesAreCountedOnce(t *testing.T) {
	s, out := run(t,
		event{Action: "pass", Package: "p", Test: "TestA/x"},
		event{Action: "output", Package: "p", Test: "TestA/y", Output: "    a_test.go:3: needs Faults: a real cluster has none\n"},
		event{Action: "output", Package: "p", Test: "TestA/y", Output: "--- SKIP: TestA/y (0.00s)\n"},
		event{Action: "skip", Package: "p", Test: "TestA/y"},
		event{Action: "pass", Package: "p", Test: "TestA"},
		event{Action: "pass", Package: "p", Test: "FuzzB/seed#0"},
		event{Action: "pass", Package: "p", Test: "FuzzB"},
		event{Action: "pass", Package: "p"},
	)
	leaves := s.leaves()
	counts := count(leaves)
	if counts["pass"] != 2 || counts["skip"] != 1 || counts["fail"] != 0 {
		t.Errorf("counts = %v, want 2 passed (TestA/x, FuzzB) and 1 skipped", counts)
	}
	if got, want := leaves[1].reason, "needs Faults: a real cluster has none"; got != want {
		t.Errorf("reason = %q, want %q", got, want)
	}
	if out != "" {
		t.Errorf("a passing run printed %q", out)
	}
}

func TestFailuresAreShownInFull(t *testing.T) {
	s, out := run(t,
		event{Action: "output", Package: "p", Test: "TestA", Output: "first line\n"},
		event{Action: "output", Package: "p", Test: "TestA", Output: "second line\n"},
		event{Action: "fail", Package: "p", Test: "TestA"},
		event{Action: "fail", Package: "p"},
	)
	if !strings.Contains(out, "first line\nsecond line\n") {
		t.Errorf("output misses the failing test's lines: %q", out)
	}
	if counts := count(s.leaves()); counts["fail"] != 1 || s.failures != 1 {
		t.Errorf("counts = %v, failures = %d; want 1 and 1", counts, s.failures)
	}
}

func TestParentOfAFailureIsNotShownAgain(t *testing.T) {
	_, out := run(t,
		event{Action: "output", Package: "p", Test: "TestA", Output: "=== RUN   TestA\n"},
		event{Action: "output", Package: "p", Test: "TestA/x", Output: "the reason\n"},
		event{Action: "fail", Package: "p", Test: "TestA/x"},
		event{Action: "output", Package: "p", Test: "TestA", Output: "--- FAIL: TestA (0.00s)\n"},
		event{Action: "fail", Package: "p", Test: "TestA"},
	)
	if strings.Contains(out, "RUN") || !strings.Contains(out, "the reason") {
		t.Errorf("output = %q, want the subtest's alone", out)
	}
}

func TestParentThatFailsByItselfCounts(t *testing.T) {
	s, _ := run(t,
		event{Action: "pass", Package: "p", Test: "TestA/x"},
		event{Action: "fail", Package: "p", Test: "TestA"},
		event{Action: "fail", Package: "p"},
	)
	if counts := count(s.leaves()); counts["fail"] != 1 || counts["pass"] != 1 {
		t.Errorf("counts = %v, want 1 passed and 1 failed", counts)
	}
}

func TestCutShortTestFails(t *testing.T) {
	s, out := run(t,
		event{Action: "output", Package: "p", Test: "TestHang", Output: "waiting\n"},
		event{Action: "fail", Package: "p"},
	)
	if counts := count(s.leaves()); counts["fail"] != 1 || !strings.Contains(out, "waiting") {
		t.Errorf("counts = %v, output %q; want the unfinished test as a failure with its output", counts, out)
	}
}

func TestBuildFailureIsShown(t *testing.T) {
	s, out := run(t,
		event{Action: "build-output", ImportPath: "p", Output: "./a.go:1:1: undefined: x\n"},
		event{Action: "build-fail", ImportPath: "p"},
	)
	if s.failures != 1 || !strings.Contains(out, "undefined: x") {
		t.Errorf("failures = %d, output %q", s.failures, out)
	}
}
