//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"mqctl/internal/sandbox"
)

// drive runs one command line against a sandbox with a topic of four queues and returns what it printed.
func drive(t *testing.T, s *sandbox.Sandbox, args ...string) string {
	t.Helper()
	for i, a := range args {
		if a == "NS" {
			args[i] = s.NameServers()[0]
		}
	}
	var out bytes.Buffer
	if err := run(t.Context(), args, &out); err != nil {
		t.Fatalf("drive %s: %v", strings.Join(args, " "), err)
	}
	return out.String()
}

func newSandbox(t *testing.T) *sandbox.Sandbox {
	t.Helper()
	s, err := sandbox.New(sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func read(t *testing.T, text string) figures {
	t.Helper()
	var f figures
	if err := json.Unmarshal([]byte(text), &f); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return f
}

func TestEveryWork(t *testing.T) {
	s := newSandbox(t)
	drive(t, s, "topic", "NS", "speed", "4")
	if n := len(s.Queues("speed")); n != 4 {
		t.Fatalf("the topic has %d queues, want 4", n)
	}
	const n = 100
	for _, work := range []string{"produce", "async", "batch"} {
		f := read(t, drive(t, s, work, "NS", "speed", "100", "64", "8"))
		if f.Messages != n || f.Failed != 0 || f.Rate <= 0 || f.CPUPer <= 0 || f.PeakMiB <= 0 {
			t.Errorf("%s: %+v, want %d messages and figures", work, f, n)
		}
	}
	const stored = 3 * (n + 1) // each producer sends one message before it measures
	if got := strings.TrimSpace(drive(t, s, "stored", "NS", "speed")); got != "303" {
		t.Fatalf("stored %s messages, want %d", got, stored)
	}
	f := read(t, drive(t, s, "consume", "NS", "speed", "303", "64", "4"))
	if f.Messages != stored || f.HandledWall > f.Wall || f.Settings["queues"] != 4.0 {
		t.Errorf("consume: %+v, want %d messages of 4 queues, handled before the commit", f, stored)
	}
	var total int64
	for _, mq := range s.Queues("speed") {
		_, end, err := s.Bounds(mq)
		if err != nil {
			t.Fatal(err)
		}
		total += end
	}
	if total != stored {
		t.Errorf("the queues end at %d in all, want %d", total, stored)
	}
}

func TestCommitBehindTheEndIsAnError(t *testing.T) {
	s := newSandbox(t)
	drive(t, s, "topic", "NS", "speed", "1")
	drive(t, s, "produce", "NS", "speed", "9", "64", "1")
	j := &job{nameServers: s.NameServers(), topic: "speed"}
	c, err := j.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close(t.Context()) }()
	mq := s.Queues("speed")[0]
	for offset, want := range map[int64]bool{9: false, 10: true} {
		if err := s.SetOffset("behind", mq, offset); err != nil {
			t.Fatal(err)
		}
		if err := j.checkCommit(t.Context(), c, "behind"); (err == nil) != want {
			t.Errorf("commit %d of 10: %v", offset, err)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"nothing"}, {"produce", "127.0.0.1:1", "t", "1", "1"}, {"produce", "127.0.0.1:1", "t", "x", "1", "1"},
		{"consume", "127.0.0.1:1", "t", "0", "1", "1"}, {"produce", "no address", "t", "1", "1", "1"}, {"--nothing", "stored", "127.0.0.1:1", "t"},
	} {
		if err := run(t.Context(), args, &bytes.Buffer{}); !errors.Is(err, errUsage) {
			t.Errorf("%q: %v, want errUsage", args, err)
		}
	}
}
