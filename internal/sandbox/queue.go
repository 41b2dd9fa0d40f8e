package sandbox

import (
	"mqctl/internal/protocol"
)

// What a real broker puts into one pull answer at most, for messages that are still in memory.
const (
	maxPullMessages = 32
	maxPullBytes    = 256 << 10
	// maxPullScan is how many index entries one pull looks at when its filter takes few of them.
	maxPullScan = 800
)

// entry is one message in a consume queue.
type entry struct {
	offset    int64 // physical offset
	storeTime int64 // ms
	tags      int64 // tag hash; in the schedule queues the time of delivery in ms
	size      int32
}

// queue is one queue of a topic on one broker: an index over the commit log.
type queue struct {
	mq      protocol.MessageQueue
	entries deque[entry]
	held    []*hold // parked pulls in order of arrival
	dirty   bool    // on the sandbox's list of queues whose parked pulls have something new to look at
}

func (q *queue) minOffset() int64 { return q.entries.first }
func (q *queue) maxOffset() int64 { return q.entries.next }

// lastStoreTime is the store time of the newest message, 0 when there is none.
func (q *queue) lastStoreTime() int64 {
	if q.entries.len() == 0 {
		return 0
	}
	return q.entries.at(q.maxOffset() - 1).storeTime
}

// offsetAtOrAfter is the first offset whose store time is at or after t, the maximum when all are older.
func (q *queue) offsetAtOrAfter(t int64) int64 {
	return q.entries.search(func(e *entry) bool { return e.storeTime >= t })
}

// searchTime is what SEARCH_OFFSET_BY_TIMESTAMP answers for the lower boundary, and with upper for the upper one: the
// last offset whose store time is at or before t, but never below the minimum.
func (q *queue) searchTime(t int64, upper bool) int64 {
	if q.entries.len() == 0 {
		return q.minOffset() // 0 for a queue that never held anything
	}
	if !upper {
		return q.offsetAtOrAfter(t)
	}
	after := q.entries.search(func(e *entry) bool { return e.storeTime > t })
	return max(after-1, q.minOffset())
}

// readStatus is Java's GetMessageStatus; its name is the remark of a pull answer.
type readStatus int

const (
	readFound readStatus = iota
	readNoMatch
	readOverflowOne
	readOverflowBadly
	readTooSmall
	readEmpty
	readReset
)

// String is the Java constant.
func (s readStatus) String() string {
	return [...]string{
		"FOUND", "NO_MATCHED_MESSAGE", "OFFSET_OVERFLOW_ONE", "OFFSET_OVERFLOW_BADLY", "OFFSET_TOO_SMALL", "NO_MESSAGE_IN_QUEUE", "OFFSET_RESET",
	}[s]
}

// code is the response code that goes with a status when a pull asked for offset.
func (s readStatus) code(offset int64) protocol.ResponseCode {
	switch s {
	case readFound:
		return protocol.CodeSuccess
	case readNoMatch:
		return protocol.CodePullRetryImmediately
	case readOverflowOne:
		return protocol.CodePullNotFound
	case readEmpty:
		if offset == 0 {
			return protocol.CodePullNotFound
		}
	}
	return protocol.CodePullOffsetMoved
}

// readResult is what DefaultMessageStore.getMessage returns in Java.
type readResult struct {
	status readStatus
	next   int64 // where the reader goes on
	body   []byte
	count  int
}

// read takes up to n messages from offset on that pass f.
func (q *queue) read(b *broker, offset int64, n int32, f *filter) readResult {
	lo, hi := q.minOffset(), q.maxOffset()
	switch {
	case hi == 0:
		return readResult{status: readEmpty}
	case offset < lo:
		return readResult{status: readTooSmall, next: lo}
	case offset == hi:
		return readResult{status: readOverflowOne, next: offset}
	case offset > hi:
		return readResult{status: readOverflowBadly, next: hi}
	}
	var c collector
	stop := min(hi, offset+maxPullScan)
	at := offset
	for ; at < stop; at++ {
		e := q.entries.at(at)
		if c.full(e, n) {
			break
		}
		if f.match(e, b) {
			c.add(&b.log, e)
		}
	}
	r := readResult{status: readFound, next: at, body: c.body(), count: c.count}
	if c.count == 0 {
		r.status = readNoMatch
	}
	return r
}

// collector gathers records into one body. While they stand back to back in one segment it only remembers where; the
// bytes are copied at the first gap.
type collector struct {
	seg      *segment
	from, to int64 // physical offsets of the records so far, while they are contiguous
	copied   []byte
	bytes    int
	count    int
}

// full reports whether an answer of at most n messages has no room for e. One message always fits.
func (c *collector) full(e *entry, n int32) bool {
	if c.count == 0 {
		return false
	}
	return c.count >= int(n) || c.count >= maxPullMessages || c.bytes+int(e.size) > maxPullBytes
}

func (c *collector) add(l *commitLog, e *entry) {
	end := e.offset + int64(e.size)
	c.count++
	c.bytes += int(e.size)
	switch {
	case c.copied != nil:
		c.copied = append(c.copied, l.record(e.offset, e.size)...)
	case c.seg == nil:
		c.seg, c.from, c.to = l.find(e.offset), e.offset, end
	case c.to == e.offset && c.seg.holds(e.offset):
		c.to = end
	default:
		run := c.body()
		c.copied = make([]byte, 0, 2*len(run)+maxPullMessages*int(e.size)/2)
		c.copied = append(append(c.copied, run...), l.record(e.offset, e.size)...)
	}
}

func (c *collector) body() []byte {
	if c.copied != nil || c.seg == nil {
		return c.copied
	}
	return c.seg.slice(c.from, c.to)
}
