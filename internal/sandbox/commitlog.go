package sandbox

import (
	"encoding/binary"
	"sort"

	"mqctl/internal/protocol"
)

const (
	minSegment = 64 << 10
	maxSegment = 4 << 20
	// segmentsPerLimit keeps what one dropped segment takes away small against the whole.
	segmentsPerLimit = 16
	// entryMemory and keyMemory are what a record costs besides its bytes.
	entryMemory = 32
	keyMemory   = 16
)

// segment is a run of records. Its bytes are written once and never changed, so that answers may alias them while the
// run goroutine appends behind.
type segment struct {
	base int64 // physical offset of buf[0]
	buf  []byte
}

func (s *segment) holds(offset int64) bool { return offset-s.base < int64(len(s.buf)) }

// slice is the bytes from one physical offset to another, both inside s.
func (s *segment) slice(from, to int64) []byte {
	return s.buf[from-s.base : to-s.base : to-s.base]
}

// commitLog holds every record of one broker in the order of arrival. Where a real broker has files and deletes the
// oldest, this one drops its oldest segment when limit bytes are passed.
type commitLog struct {
	segments []*segment
	limit    int64
	bytes    int64 // capacity of all segments
}

// minOffset is the lowest physical offset that is still there.
func (l *commitLog) minOffset() int64 {
	if len(l.segments) == 0 {
		return 0
	}
	return l.segments[0].base
}

// maxOffset is where the next record will stand.
func (l *commitLog) maxOffset() int64 {
	if len(l.segments) == 0 {
		return 0
	}
	last := l.segments[len(l.segments)-1]
	return last.base + int64(len(last.buf))
}

// reserve makes sure that the last segment has room for size bytes, so that appending never moves it.
func (l *commitLog) reserve(size int) *segment {
	n := len(l.segments)
	if n > 0 {
		if last := l.segments[n-1]; cap(last.buf)-len(last.buf) >= size {
			return last
		}
	}
	// Segments start small and double: most sandboxes never hold more than a few messages.
	most := max(minSegment, min(maxSegment, l.limit/segmentsPerLimit))
	room := min(most, minSegment<<min(n, 16))
	s := &segment{base: l.maxOffset(), buf: make([]byte, 0, max(int(room), size))}
	l.segments = append(l.segments, s)
	l.bytes += int64(cap(s.buf))
	return s
}

// append stores m, whose CommitLogOffset it sets, and returns the record's size.
func (l *commitLog) append(m *protocol.MessageExt) int {
	s := l.reserve(recordBound(m))
	m.CommitLogOffset = s.base + int64(len(s.buf))
	start := len(s.buf)
	s.buf = protocol.AppendMessage(s.buf, m)
	return len(s.buf) - start
}

// recordBound is at least what m takes as a record: 91 bytes with V1 and IPv4, plus 25 for the longer forms.
func recordBound(m *protocol.MessageExt) int {
	body := m.StoredBody
	if body == nil {
		body = m.Body
	}
	return 91 + 25 + len(body) + len(m.Topic) + len(m.RawProperties)
}

// dropOldest forgets the oldest segment and reports whether there was one to spare: the last one stays.
func (l *commitLog) dropOldest() bool {
	if len(l.segments) < 2 {
		return false
	}
	l.bytes -= int64(cap(l.segments[0].buf))
	l.segments[0] = nil
	l.segments = l.segments[1:]
	return true
}

// find is the segment that holds the physical offset, nil when none does.
func (l *commitLog) find(offset int64) *segment {
	i := sort.Search(len(l.segments), func(i int) bool { return l.segments[i].base > offset }) - 1
	if i < 0 || !l.segments[i].holds(offset) {
		return nil
	}
	return l.segments[i]
}

// record is the size bytes at a physical offset that an index entry names.
func (l *commitLog) record(offset int64, size int32) []byte {
	s := l.find(offset)
	if s == nil {
		return nil
	}
	return s.slice(offset, offset+int64(size))
}

// recordAt is the whole record that starts at offset; nil when no record starts there. The offset comes from a client
// and may point anywhere, so the record must confirm that it stands there.
func (l *commitLog) recordAt(offset int64) []byte {
	const ownOffset = 4 + 4 + 4 + 4 + 4 + 8 // where a record repeats its physical offset
	s := l.find(offset)
	if s == nil {
		return nil
	}
	b := s.buf[offset-s.base:]
	if len(b) < ownOffset+8 || int64(binary.BigEndian.Uint64(b[ownOffset:])) != offset {
		return nil
	}
	size := binary.BigEndian.Uint32(b)
	if size < ownOffset+8 || int64(size) > int64(len(b)) {
		return nil
	}
	return b[:size:size]
}

// maxAnswer bounds the messages of one answer in bytes, so that it fits into a frame.
const maxAnswer = protocol.DefaultMaxFrame - 1<<20
