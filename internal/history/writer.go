package history

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Writer records events. It is safe for concurrent use: events stand in the order in which Add was called, with times that
// never fall. Its memory is its buffer.
type Writer struct {
	turn   chan struct{} // capacity 1: whoever has put a token in may write
	out    io.Writer
	closer io.Closer
	buffer int    // bytes that may wait before they are written
	buf    []byte // guarded by turn, as all that follows
	last   int64
	count  int64
	closed bool
	err    error // the first failure; nothing is written after it
	once   sync.Once
}

// NewWriter records to out. Up to buffer bytes wait before they are written; with 0 each event is written when Add
// returns, so that a killed process leaves behind everything it has told.
func NewWriter(out io.Writer, buffer int) *Writer {
	return &Writer{turn: make(chan struct{}, 1), out: out, buffer: buffer}
}

// Create records to a new file that only its owner may read: it names what the messages were. A file that exists is an
// error, so that no evidence is overwritten and no link is followed.
func Create(path string, buffer int) (*Writer, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("history: %w", err)
	}
	w := NewWriter(f, buffer)
	w.closer = f
	return w, nil
}

// Add records e. A zero At is set to now. The first failure is kept for Err and Close, and what follows is not recorded.
func (w *Writer) Add(e Event) {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	if w.err != nil {
		return
	}
	if w.closed {
		w.err = fmt.Errorf("history: %s: %w", e.Type, os.ErrClosed)
		return
	}
	if e.At == 0 {
		e.At = time.Now().UnixNano()
	}
	e.At = max(e.At, w.last)
	w.last = e.At
	if w.err = e.validate(); w.err != nil {
		return
	}
	if w.buf, w.err = e.appendLine(w.buf); w.err != nil {
		return
	}
	w.count++
	if len(w.buf) > w.buffer {
		w.flush()
	}
}

// flush writes what waits; the caller has the turn.
func (w *Writer) flush() {
	if len(w.buf) == 0 || w.err != nil {
		return
	}
	if _, err := w.out.Write(w.buf); err != nil {
		w.err = fmt.Errorf("history: %w", err)
	}
	w.buf = w.buf[:0]
}

// Flush writes what waits in the buffer.
func (w *Writer) Flush() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	w.flush()
	return w.err
}

// Count is how many events were recorded.
func (w *Writer) Count() int64 {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	return w.count
}

// Err is the first failure.
func (w *Writer) Err() error {
	w.turn <- struct{}{}
	defer func() { <-w.turn }()
	return w.err
}

// Close writes what waits and closes the file of Create. It returns the first failure of all; closing again does nothing.
func (w *Writer) Close() error {
	err := w.Flush()
	w.once.Do(func() {
		w.turn <- struct{}{}
		w.closed = true
		<-w.turn
		if w.closer != nil {
			err = errors.Join(err, w.closer.Close())
		}
	})
	return err
}
