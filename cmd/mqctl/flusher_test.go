package main

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slowWriter takes a while for each write and fails from the nth on.
type slowWriter struct {
	mu     sync.Mutex
	text   strings.Builder
	writes int
	failAt int
	err    error
}

func (w *slowWriter) Write(b []byte) (int, error) {
	time.Sleep(10 * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	if w.failAt > 0 && w.writes >= w.failAt {
		return 0, w.err
	}
	return w.text.Write(b)
}

func TestFlusherWritesEveryChunkOnceAndWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &slowWriter{}
		f := newFlusher(w)
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				for j := range 10 {
					chunk := fmt.Sprintf("<%d.%d>", i, j)
					if err := f.write([]byte(chunk)); err != nil {
						t.Error(err)
					}
					w.mu.Lock()
					written := strings.Contains(w.text.String(), chunk)
					w.mu.Unlock()
					if !written {
						t.Errorf("%s is said to be written before it was", chunk)
					}
				}
			})
		}
		began := time.Now()
		wg.Wait()
		text := w.text.String()
		for i := range 20 {
			for j := range 10 {
				if strings.Count(text, fmt.Sprintf("<%d.%d>", i, j)) != 1 {
					t.Fatalf("chunk %d.%d", i, j)
				}
			}
		}
		if w.writes > 40 {
			t.Errorf("%d writes for 10 rounds of 20 writers: they are not written together", w.writes)
		}
		if took := time.Since(began); took > 400*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// TestFlusherKeepsNobodyWaiting: a writer returns after at most two writes, however many others write meanwhile.
func TestFlusherKeepsNobodyWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlusher(&slowWriter{})
		var wg sync.WaitGroup
		var longest atomic.Int64
		for range 8 {
			wg.Go(func() {
				for range 50 {
					began := time.Now()
					_ = f.write([]byte("x"))
					longest.Store(max(longest.Load(), int64(time.Since(began))))
				}
			})
		}
		wg.Wait()
		if got := time.Duration(longest.Load()); got > 25*time.Millisecond {
			t.Errorf("a write of 10ms took %v", got)
		}
	})
}

func TestFlusherFailsForGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := errors.New("disk full")
		w := &slowWriter{failAt: 2, err: full}
		f := newFlusher(w)
		if err := f.write([]byte("a")); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err := f.write([]byte("b")); !errors.Is(err, full) {
				t.Errorf("error %v", err)
			}
		}
		if w.writes != 2 || w.text.String() != "a" {
			t.Errorf("%d writes, %q", w.writes, w.text.String())
		}
	})
}
