package faultnet

import (
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// bufferSize is how much one direction holds before writers wait, about what a
	// kernel keeps in its two socket buffers.
	bufferSize = 256 << 10
	// quantum is the shortest sleep of a reader of a slow stream: a rate of
	// megabytes must not mean a timer for each byte.
	quantum = 10 * time.Millisecond
)

// stream is one direction of a connection. Everything is guarded by link.mu.
type stream struct {
	dir   Direction
	cond  sync.Cond // reader and writer of this direction
	timer *time.Timer

	buf     ring
	read    int64 // bytes handed to the reader
	written int64 // bytes taken from the writer
	arrived int64 // bytes that may be read; without marks = written
	marks   []mark
	lastDue time.Time // when the newest byte arrives: later ones come after it

	fin    bool // the writer closed
	finDue time.Time

	dirty int // bytes since the last corrupted one
}

// mark is a run of bytes that is still under way.
type mark struct {
	n     int       // bytes
	got   int       // of these, arrived
	start time.Time // when the first may arrive
	rate  int       // bytes a second from then on, 0 = all at start
}

// span is how long the run takes from its start to its last byte.
func (m mark) span() time.Duration { return m.due(m.n) }

// due is when byte k (counted from 1) arrives, after the start.
func (m mark) due(k int) time.Duration {
	if m.rate == 0 {
		return 0
	}
	rate := int64(m.rate)
	return time.Duration((int64(k)*int64(time.Second) + rate - 1) / rate)
}

// arrived is how many bytes of the run are there. The product cannot overflow: it
// is taken only below span, where it is less than n seconds in nanoseconds.
func (m mark) arrived(now time.Time) int {
	elapsed := now.Sub(m.start)
	switch {
	case elapsed < 0:
		return 0
	case elapsed >= m.span():
		return m.n
	default:
		return int(int64(elapsed) * int64(m.rate) / int64(time.Second))
	}
}

// push takes as much of p as there is room for.
func (s *stream) push(p []byte, now time.Time, pl plan, rng *rand.Rand) int {
	n := s.buf.push(p)
	if n == 0 {
		return 0
	}
	s.corrupt(n, pl.corrupt)
	s.written += int64(n)
	if pl.delay == 0 && pl.jitter == 0 && pl.rate == 0 && len(s.marks) == 0 {
		s.arrived = s.written
	} else {
		s.delay(n, now, pl, rng)
	}
	s.cond.Broadcast()
	return n
}

// delay marks the newest n bytes as under way, behind all earlier ones.
func (s *stream) delay(n int, now time.Time, pl plan, rng *rand.Rand) {
	m := mark{n: n, start: s.after(now, pl, rng), rate: pl.rate}
	s.lastDue = m.start.Add(m.span())
	s.marks = append(s.marks, m)
}

func (s *stream) after(now time.Time, pl plan, rng *rand.Rand) time.Time {
	due := now.Add(pl.delay)
	if pl.jitter > 0 {
		due = due.Add(time.Duration(rng.Int64N(int64(pl.jitter))))
	}
	if due.Before(s.lastDue) {
		return s.lastDue
	}
	return due
}

// corrupt inverts every nth byte of those just pushed.
func (s *stream) corrupt(pushed, every int) {
	if every == 0 {
		s.dirty = 0
		return
	}
	for i := range pushed {
		if s.dirty++; s.dirty >= every {
			s.dirty = 0
			s.buf.invert(s.buf.size - pushed + i)
		}
	}
}

// finish is the writer's FIN.
func (s *stream) finish(now time.Time, pl plan, rng *rand.Rand) {
	if s.fin {
		return
	}
	s.fin = true
	s.finDue = s.after(now, pl, rng)
	s.lastDue = s.finDue
	s.cond.Broadcast()
}

// ready is how many bytes can be read now and, if none, how long to wait for the
// next; a negative wait means until something changes.
func (s *stream) ready(now time.Time, pl plan) (int, time.Duration) {
	if pl.blackhole&s.dir != 0 {
		return 0, -1
	}
	for len(s.marks) > 0 {
		m := &s.marks[0]
		got := m.arrived(now)
		s.arrived += int64(got - m.got)
		if m.got = got; got < m.n {
			break
		}
		s.marks = s.marks[1:]
	}
	if n := s.arrived - s.read; n > 0 {
		return int(n), 0
	}
	if len(s.marks) > 0 {
		return 0, s.marks[0].wait(now)
	}
	if s.fin && now.Before(s.finDue) {
		return 0, s.finDue.Sub(now)
	}
	return 0, -1
}

// wait is the time until the next byte, or until a quantum's worth of them.
func (m mark) wait(now time.Time) time.Duration {
	next := m.start.Add(m.due(m.got + 1)).Sub(now)
	if next >= quantum || m.rate == 0 {
		return next
	}
	return min(quantum, m.start.Add(m.span()).Sub(now))
}

// ended reports whether the FIN has arrived; unread bytes may be before it.
func (s *stream) ended(now time.Time, pl plan) bool {
	return s.fin && !pl.halfOpen && pl.blackhole&s.dir == 0 && !now.Before(s.finDue)
}

// pop reads up to len(p) of the n bytes that are ready.
func (s *stream) pop(p []byte, n int) int {
	n = s.buf.pop(p[:min(n, len(p))])
	s.read += int64(n)
	s.cond.Broadcast()
	return n
}

// deliver lets everything under way arrive now.
func (s *stream) deliver() {
	s.marks = nil
	s.arrived = s.written
	s.finDue = time.Time{}
	s.lastDue = time.Time{}
	s.cond.Broadcast()
}
