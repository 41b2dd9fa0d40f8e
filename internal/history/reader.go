package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
)

// maxLine bounds one line of a history in bytes.
const maxLine = 1 << 20

// Reader reads a history line by line.
type Reader struct {
	name      string
	in        *bufio.Reader
	line      int
	last      int64
	ahead     *Event // read, but not asked for yet
	truncated bool
}

// NewReader reads from in; name is for error messages.
func NewReader(name string, in io.Reader) *Reader {
	return &Reader{name: name, in: bufio.NewReaderSize(in, 64<<10)}
}

// Truncated reports whether the last line was cut off, as happens when its writer was killed. It is known at the end.
func (r *Reader) Truncated() bool { return r.truncated }

// Next is the next event, io.EOF after the last one. A last line that was cut off counts as not written. Times never
// fall within a file: an event that claims an earlier time than the one before gets that one's.
func (r *Reader) Next() (Event, error) {
	if r.ahead != nil {
		e := *r.ahead
		r.ahead = nil
		return e, nil
	}
	for {
		text, err := r.readLine()
		if err != nil && !errors.Is(err, io.EOF) {
			return Event{}, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
		}
		last := err != nil
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			if last {
				return Event{}, io.EOF
			}
			continue
		}
		e, err := parse(text)
		if err == nil {
			e.At = max(e.At, r.last)
			r.last = e.At
			return e, nil
		}
		if last {
			r.truncated = true
			return Event{}, io.EOF
		}
		return Event{}, fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
}

// peek is the next event without taking it, nil at the end.
func (r *Reader) peek() (*Event, error) {
	if r.ahead == nil {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		r.ahead = &e
	}
	return r.ahead, nil
}

// readLine is the next line with its end; io.EOF comes along with a last line that has none.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if !errors.Is(err, bufio.ErrBufferFull) && long == nil {
			return part, err
		}
		if long = append(long, part...); len(long) > maxLine {
			return nil, fmt.Errorf("%w: a line of more than %d bytes", ErrEvent, maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return long, err
		}
	}
}

func parse(text []byte) (Event, error) {
	var e Event
	if err := json.Unmarshal(text, &e); err != nil {
		return Event{}, fmt.Errorf("%w: %w", ErrEvent, err)
	}
	return e, e.validate()
}

// Merge is the events of several histories by time; those of one reader keep their order, and of events at one time the
// earlier reader's come first. It ends after the first error.
func Merge(readers ...*Reader) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		heads := make([]*Event, len(readers))
		for i, r := range readers {
			if err := advance(r, &heads[i]); err != nil {
				yield(Event{}, err)
				return
			}
		}
		for {
			next := earliest(heads)
			if next < 0 {
				return
			}
			if !yield(*heads[next], nil) {
				return
			}
			if err := advance(readers[next], &heads[next]); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

func advance(r *Reader, head **Event) error {
	e, err := r.Next()
	if errors.Is(err, io.EOF) {
		*head = nil
		return nil
	}
	*head = &e
	return err
}

func earliest(heads []*Event) int {
	best := -1
	for i, h := range heads {
		if h != nil && (best < 0 || h.At < heads[best].At) {
			best = i
		}
	}
	return best
}
