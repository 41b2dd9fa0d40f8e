package history

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func readAll(t testing.TB, r *Reader) []Event {
	t.Helper()
	var events []Event
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, e)
	}
}

func TestWriterByManyAtOnce(t *testing.T) {
	for _, buffer := range []int{0, 1 << 10, 1 << 30} {
		var out bytes.Buffer
		w := NewWriter(&out, buffer)
		var wg sync.WaitGroup
		for p := range 8 {
			wg.Go(func() {
				for seq := range int64(500) {
					w.Add(Event{Type: TypeSend, Producer: fmt.Sprintf("p%d", p), Seq: seq})
				}
			})
		}
		wg.Wait()
		if err := w.Close(); err != nil || w.Count() != 4000 {
			t.Fatalf("%d events: %v", w.Count(), err)
		}
		next := map[string]int64{}
		var last int64
		for _, e := range readAll(t, NewReader("", &out)) {
			if e.Seq != next[e.Producer] || e.At < last || e.At == 0 {
				t.Fatalf("event %d of %s at %d after %d, expected %d", e.Seq, e.Producer, e.At, last, next[e.Producer])
			}
			next[e.Producer]++
			last = e.At
		}
		if len(next) != 8 || next["p7"] != 500 {
			t.Fatalf("read back: %v", next)
		}
	}
}

// Without a buffer everything told is in the file when Add returns: a kill loses nothing.
func TestUnbufferedWriterIsAtOnceInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	w, err := Create(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	for seq := range int64(3) {
		w.Add(Event{Type: TypeSend, Producer: "p", Seq: seq})
		text, err := os.ReadFile(path)
		if err != nil || bytes.Count(text, []byte("\n")) != int(seq)+1 {
			t.Fatalf("after %d events: %q %v", seq+1, text, err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", info.Mode(), err)
	}
	for range 2 {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	w.Add(Event{Type: TypeSend, Producer: "p"})
	if !errors.Is(w.Err(), os.ErrClosed) {
		t.Errorf("after Close: %v", w.Err())
	}
}

func TestCreateOverwritesNothing(t *testing.T) {
	dir := t.TempDir()
	path, link, target := filepath.Join(dir, "h"), filepath.Join(dir, "link"), filepath.Join(dir, "target")
	if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	for _, p := range []string{path, link} {
		if _, err := Create(p, 0); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", p, err)
		}
	}
	if text, err := os.ReadFile(path); err != nil || string(text) != "kept" {
		t.Errorf("%q %v", text, err)
	}
	if _, err := os.Lstat(target); err == nil {
		t.Error("a link was followed")
	}
	if _, err := Create(filepath.Join(dir, "no", "such"), 0); err == nil {
		t.Error("no error for a folder that does not exist")
	}
}

type failing struct{ after int }

func (f *failing) Write(p []byte) (int, error) {
	if f.after--; f.after < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterKeepsTheFirstFailure(t *testing.T) {
	w := NewWriter(&failing{after: 2}, 0)
	for seq := range int64(5) {
		w.Add(Event{Type: TypeSend, Producer: "p", Seq: seq})
	}
	if err := w.Close(); err == nil || !strings.Contains(err.Error(), "disk full") || w.Count() != 3 {
		t.Errorf("%d events, %v", w.Count(), err)
	}
	w = NewWriter(io.Discard, 0)
	for _, bad := range []Event{{}, {Type: "what"}, {Type: TypeSend}, {Type: TypeMeta}, {Type: TypeOwn, Group: "g", Member: "m"}, {Type: TypeFault}} {
		w := NewWriter(io.Discard, 0)
		w.Add(bad)
		if !errors.Is(w.Err(), ErrEvent) {
			t.Errorf("%+v: %v", bad, w.Err())
		}
	}
	w.Add(Event{Type: TypeCrash, Member: "m"})
	if err := w.Flush(); err != nil {
		t.Error(err)
	}
}

// Whatever is written is read back as it was.
func TestRoundTrip(t *testing.T) {
	types := []Type{
		TypeSend, TypeSendAck, TypeOwn, TypeDrop, TypeLock, TypeUnlock, TypeLockLost, TypeDeliver, TypeDone, TypeSentBack, TypeDead, TypeCommit,
		TypeReset, TypeFault, TypeCrash, TypeStopping, TypeStop, TypeMeta,
	}
	word := rapid.StringOf(rapid.RuneFrom([]rune("ab%/ \"\\\n\x00é世\u202e<>&")))
	full := rapid.StringN(1, 10, -1).Filter(func(s string) bool { return strings.ToValidUTF8(s, "") == s })
	rapid.Check(t, func(t *rapid.T) {
		want := Event{
			At: rapid.Int64Range(1, 1<<62).Draw(t, "at"), Type: rapid.SampledFrom(types).Draw(t, "type"),
			Group: full.Draw(t, "group"), Member: full.Draw(t, "member"), Queue: full.Draw(t, "queue"), Producer: full.Draw(t, "producer"),
			Epoch: rapid.Int64().Draw(t, "epoch"), Offset: rapid.Int64().Draw(t, "offset"), Seq: rapid.Int64().Draw(t, "seq"),
			Key: word.Draw(t, "key"), Hash: Hash(rapid.Uint64().Draw(t, "hash")), Batch: rapid.Int64().Draw(t, "batch"),
			Attempt: rapid.Int32().Draw(t, "attempt"), Result: full.Draw(t, "result"), By: word.Draw(t, "by"), MsgID: word.Draw(t, "id"),
			Kind: full.Draw(t, "kind"), From: rapid.Int64().Draw(t, "from"), To: rapid.Int64().Draw(t, "to"), Hits: rapid.Int64().Draw(t, "hits"),
			Clean: rapid.Bool().Draw(t, "clean"),
		}
		if want.Type == TypeMeta {
			want.Meta = &Meta{Group: full.Draw(t, "meta group"), Topics: []string{word.Draw(t, "topic")}, MinRate: 1.5, Faults: []string{"x"}, SlackMS: 3}
		}
		var out bytes.Buffer
		w := NewWriter(&out, 0)
		w.Add(want)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(out.Bytes(), []byte("\n")); n != 1 {
			t.Fatalf("%d lines: %q", n, out.Bytes())
		}
		got, err := NewReader("", &out).Next()
		if err != nil || !cmp.Equal(got, want) {
			t.Fatalf("%v: %s", err, cmp.Diff(want, got))
		}
	})
}

func TestHashOf(t *testing.T) {
	for body, want := range map[string]string{"": "cbf29ce484222325", "a": "af63dc4c8601ec8c", "foobar": "85944171f73967e8"} {
		if got, err := HashOf([]byte(body)).MarshalText(); err != nil || string(got) != want {
			t.Errorf("%q: %s, want %s: %v", body, got, want, err)
		}
	}
	var h Hash
	if err := h.UnmarshalText([]byte("xyz")); err == nil {
		t.Error("no error for what is no number")
	}
}

func BenchmarkWriter(b *testing.B) {
	w := NewWriter(io.Discard, 64<<10)
	b.ReportAllocs()
	for i := range b.N {
		w.Add(Event{
			Type: TypeDeliver, Group: "group", Member: "member-1", Queue: "topic/broker-a/3", Epoch: 7, Offset: int64(i), Producer: "producer-1",
			Seq: int64(i), Hash: 1, Batch: int64(i),
		})
	}
}
