package main

import (
	"io"
	"sync"
)

// flusher writes chunks of several goroutines, each whole, and tells every one whether its chunk was written. What
// arrives while a write is under way is written together by the next: nobody waits for more than two writes.
type flusher struct {
	w       io.Writer
	token   chan struct{} // capacity 1: whoever puts the token in may write
	mu      sync.Mutex    // guards the fields below; never held while writing
	pending *flushGroup
	err     error // the first error; nothing is written after it
}

// flushGroup is what one write takes.
type flushGroup struct {
	text []byte
	done chan struct{} // closed when err is set
	err  error
}

func newFlusher(w io.Writer) *flusher { return &flusher{w: w, token: make(chan struct{}, 1)} }

// write returns when the chunk was written, or could not be.
func (f *flusher) write(chunk []byte) error {
	f.mu.Lock()
	if f.pending == nil {
		f.pending = &flushGroup{done: make(chan struct{})}
	}
	mine := f.pending
	mine.text = append(mine.text, chunk...)
	f.mu.Unlock()
	select {
	case f.token <- struct{}{}:
		f.flush()
		<-f.token
		<-mine.done // the group was flushed now, or by the writer before
	case <-mine.done:
	}
	return mine.err
}

// flush writes what is pending; the caller holds the token.
func (f *flusher) flush() {
	f.mu.Lock()
	group, err := f.pending, f.err
	f.pending = nil
	f.mu.Unlock()
	if group == nil {
		return
	}
	if err == nil {
		_, err = f.w.Write(group.text)
	}
	group.err = err
	close(group.done)
	f.mu.Lock()
	f.err = err
	f.mu.Unlock()
}
