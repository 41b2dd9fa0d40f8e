package history

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// broken is the invariants that each history of testdata breaks; the others break none.
var broken = map[string][]Invariant{
	"i1-never-delivered": {I1}, "i1-never-succeeded": {I1}, "i1-acknowledged-nowhere": {I1}, "i1-dead-too-early": {I1},
	"i1-dead-too-late": {I1}, "i1-sent-back-nowhere": {I1}, "i1-reset-ignored": {I1}, "i1-unwatched": {I1},
	"i2-corrupted": {I2}, "i2-nothing-stored-there": {I2}, "i2-never-sent": {I1, I2}, "i2-swapped": {I2},
	"i2-stored-not-sent": {I2}, "i2-told-not-stored": {I2},
	"i3-order": {I3}, "i3-overtaken": {I3}, "i3-two-batches": {I3}, "i3-two-members": {I3}, "i3-lock-refused": {I3},
	"i3-lock-expired": {I3}, "i3-no-lock": {I3}, "i3-after-drop": {I3}, "i3-rewound": {I3}, "i3-key-order": {I3}, "i3-lock-stolen": {I3},
	"i4-not-delivered": {I4}, "i4-running": {I4}, "i4-before-send-back": {I4}, "i4-reset-overwritten": {I4},
	"i5-within-epoch": {I5}, "i5-at-the-broker": {I5}, "i5-behind-the-commit": {I5},
	"i6-twice-in-an-epoch": {I6}, "i6-clean-stop-forgot": {I6}, "i6-after-drop": {I6}, "i6-below-the-start": {I6},
	"i6-old-epoch": {I6}, "i6-never-owned": {I6},
	"i7-too-slow": {I7}, "i7-fault-missing": {I7}, "i7-fault-not-felt": {I7},
}

func checkFile(t *testing.T, path string) Report {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Check(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func text(t *testing.T, r *Report) string {
	t.Helper()
	var b strings.Builder
	if err := r.WriteText(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestInvariants(t *testing.T) {
	files, err := filepath.Glob("testdata/*.jsonl")
	if err != nil || len(files) < len(broken)+5 {
		t.Fatalf("%d histories: %v", len(files), err)
	}
	used := 0
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		want := broken[name]
		if want != nil {
			used++
		} else if !strings.HasPrefix(name, "good-") {
			t.Errorf("%s: what does it break?", name)
		}
		t.Run(name, func(t *testing.T) {
			r := checkFile(t, path)
			if got := r.Broken(); !slices.Equal(got, want) || r.OK != (len(want) == 0) {
				t.Fatalf("broken: %v, want %v\n%s", got, want, text(t, &r))
			}
			for _, v := range r.Violations {
				if len(v.Events) == 0 && v.Invariant != I7 {
					t.Errorf("%s %q is shown by no event", v.Invariant, v.Text)
				}
			}
		})
	}
	if used != len(broken) {
		t.Errorf("%d of %d bad histories exist", used, len(broken))
	}
}

// Splitting a history over several files changes nothing.
func TestMergedFiles(t *testing.T) {
	files, _ := filepath.Glob("testdata/*.jsonl")
	for _, path := range files {
		whole := checkFile(t, path)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.SplitAfter(text, []byte("\n"))
		parts := make([]bytes.Buffer, 3)
		for i, line := range lines {
			parts[i*7/3%3].Write(line)
		}
		got, err := Check(&parts[0], &parts[1], &parts[2])
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Broken(), whole.Broken()) || got.Counts != whole.Counts {
			t.Errorf("%s: broken %v in three files, %v in one; counts %+v and %+v", path, got.Broken(), whole.Broken(), got.Counts, whole.Counts)
		}
	}
}
