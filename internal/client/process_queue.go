package client

import (
	"sync"
	"sync/atomic"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// ProcessQueue is the cache of one assigned queue between pulling and consuming, Java's ProcessQueue. It has no
// goroutine and does no I/O.
//
// Offsets arrive in order, so a ring of slots with a mark per slot replaces Java's tree: Put appends at the tail, Take
// hands out from a cursor, Remove marks slots and advances the head over marked ones. The smallest unfinished offset,
// which is what may be committed, is the head.
type ProcessQueue struct {
	consumerBytes *atomic.Int64 // cached bytes of all queues of the consumer
	room          chan struct{} // nudged once when a held-back queue falls under its limits again

	mu      sync.Mutex
	ring    []slot // a power of two long; slot of sequence number s is ring[s&mask]
	head    uint64 // sequence number of the first slot that is not finished
	take    uint64 // sequence number of the next slot to hand out
	tail    uint64 // sequence number behind the last slot
	next    int64  // everything below it has been fetched: messages, gaps and what filters dropped
	newest  int64  // largest offset ever put
	done    int64  // largest offset finished
	count   int64  // messages not finished
	bytes   int64  // bytes of messages not finished
	limits  flowLimits
	held    bool // the pull loop waits for room
	dropped bool
}

type slot struct {
	msg    *protocol.MessageExt // nil once finished
	offset int64
	taken  int64 // ms since the epoch when it was handed out, 0 before
}

const initialRing = 64

// newProcessQueue is an empty cache of a queue that is read from start.
func newProcessQueue(start int64, limits flowLimits, consumerBytes *atomic.Int64) *ProcessQueue {
	return &ProcessQueue{
		consumerBytes: consumerBytes, room: make(chan struct{}, 1), ring: make([]slot, initialRing),
		next: start, newest: start - 1, done: start - 1, limits: limits,
	}
}

// Put caches messages that were fetched in offset order; next is the offset to fetch from now on. Messages at or below
// the newest one cached are repetitions and are left out. It returns how many were taken in, and the offset that may be
// committed. ok is false when the queue was dropped meanwhile: the answer belongs to nobody.
func (pq *ProcessQueue) Put(msgs []protocol.MessageExt, next int64) (accepted int, low int64, ok bool) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	if pq.dropped {
		return 0, 0, false
	}
	var bytes int64
	for i := range msgs {
		m := &msgs[i]
		if m.QueueOffset <= pq.newest {
			continue
		}
		if pq.tail-pq.head == uint64(len(pq.ring)) {
			pq.growLocked()
		}
		pq.ring[pq.tail&uint64(len(pq.ring)-1)] = slot{msg: m, offset: m.QueueOffset}
		pq.tail++
		pq.newest = m.QueueOffset
		bytes += int64(len(m.Body))
		accepted++
	}
	pq.next = max(pq.next, next, pq.newest+1)
	pq.count += int64(accepted)
	pq.addBytesLocked(bytes)
	return accepted, pq.lowLocked(), true
}

func (pq *ProcessQueue) addBytesLocked(n int64) {
	pq.bytes += n
	if pq.consumerBytes != nil {
		pq.consumerBytes.Add(n)
	}
}

func (pq *ProcessQueue) growLocked() {
	bigger := make([]slot, 2*len(pq.ring))
	for s := pq.head; s != pq.tail; s++ {
		bigger[s&uint64(len(bigger)-1)] = pq.ring[s&uint64(len(pq.ring)-1)]
	}
	pq.ring = bigger
}

func (pq *ProcessQueue) at(s uint64) *slot { return &pq.ring[s&uint64(len(pq.ring)-1)] }

// Take hands out up to limit messages in offset order, appended to dst; more says that others wait. A message stays
// cached until Remove. now is in ms since the epoch.
func (pq *ProcessQueue) Take(dst []*protocol.MessageExt, limit int, now int64) (batch []*protocol.MessageExt, more bool) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	for n := 0; n < limit && pq.take != pq.tail; pq.take++ {
		if x := pq.at(pq.take); x.msg != nil { // finished ones stand here only after a TakeBack
			x.taken = now
			dst = append(dst, x.msg)
			n++
		}
	}
	return dst, pq.take != pq.tail
}

// Held is those of msgs that are still cached; it reuses their slice.
func (pq *ProcessQueue) Held(msgs []*protocol.MessageExt) []*protocol.MessageExt {
	if len(msgs) == 0 {
		return nil
	}
	pq.mu.Lock()
	defer pq.mu.Unlock()
	held := msgs[:0]
	for _, m := range msgs {
		if s, ok := pq.findLocked(m.QueueOffset); ok && pq.at(s).msg == m {
			held = append(held, m)
		}
	}
	return held
}

// Expired is the oldest unfinished message if it was handed out before cutoff (ms since the epoch), nil otherwise.
func (pq *ProcessQueue) Expired(cutoff int64) *protocol.MessageExt {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	if pq.head == pq.take {
		return nil
	}
	if x := pq.at(pq.head); x.taken != 0 && x.taken < cutoff {
		return x.msg
	}
	return nil
}

// HasMore reports whether something waits to be handed out.
func (pq *ProcessQueue) HasMore() bool {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	return pq.take != pq.tail
}

// TakeBack takes back what was handed out at or behind an offset: the next Take begins there again. It is for orderly
// consumption, which hands out one batch at a time.
func (pq *ProcessQueue) TakeBack(offset int64) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	for pq.take != pq.head && pq.at(pq.take-1).offset >= offset {
		pq.take--
	}
}

// HandedOut is everything that was handed out and is not finished, in offset order.
func (pq *ProcessQueue) HandedOut() (msgs []*protocol.MessageExt) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	for s := pq.head; s != pq.take; s++ {
		if m := pq.at(s).msg; m != nil {
			msgs = append(msgs, m)
		}
	}
	return msgs
}

// Remove finishes messages that were handed out. It returns the offset that may be committed: every message below it is
// finished. ok is false when the queue was dropped meanwhile: the result belongs to nobody and must not be committed.
func (pq *ProcessQueue) Remove(msgs []*protocol.MessageExt) (low int64, ok bool) {
	pq.mu.Lock()
	if pq.dropped {
		pq.mu.Unlock()
		return 0, false
	}
	var bytes int64
	for _, m := range msgs {
		s, found := pq.findLocked(m.QueueOffset)
		if !found || pq.at(s).msg == nil {
			continue
		}
		pq.at(s).msg = nil
		pq.done = max(pq.done, m.QueueOffset)
		bytes += int64(len(m.Body))
		pq.count--
	}
	pq.addBytesLocked(-bytes)
	pq.trimLocked()
	low = pq.lowLocked()
	nudge := pq.held && pq.verdictLocked() == stats.VerdictPull
	if nudge {
		pq.held = false
	}
	pq.mu.Unlock()
	if nudge {
		wake(pq.room)
	}
	return low, true
}

// trimLocked drops finished slots at both ends.
func (pq *ProcessQueue) trimLocked() {
	for pq.head != pq.tail && pq.at(pq.head).msg == nil {
		pq.head++
	}
	for pq.tail != pq.head && pq.at(pq.tail-1).msg == nil {
		pq.tail--
	}
	pq.take = min(max(pq.take, pq.head), pq.tail)
}

// findLocked is the slot of an offset. Offsets are dense as a rule, so its place follows from the head's; gaps, left by
// filters and transactions, cost a binary search.
func (pq *ProcessQueue) findLocked(offset int64) (s uint64, ok bool) {
	if pq.head == pq.tail || offset < pq.at(pq.head).offset {
		return 0, false
	}
	if s = pq.head + uint64(offset-pq.at(pq.head).offset); s < pq.tail && pq.at(s).offset == offset {
		return s, true
	}
	lo, hi := pq.head, pq.tail
	for lo < hi {
		if mid := lo + (hi-lo)/2; pq.at(mid).offset < offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < pq.tail && pq.at(lo).offset == offset
}

func (pq *ProcessQueue) lowLocked() int64 {
	if pq.head == pq.tail {
		return pq.next
	}
	return pq.at(pq.head).offset
}

func (pq *ProcessQueue) stateLocked() cacheState {
	c := cacheState{count: pq.count, bytes: pq.bytes}
	if pq.head != pq.tail {
		c.span = pq.newest - pq.at(pq.head).offset
	}
	return c
}

func (pq *ProcessQueue) verdictLocked() stats.Verdict {
	var total int64
	if pq.consumerBytes != nil {
		total = pq.consumerBytes.Load()
	}
	return pq.limits.verdict(pq.stateLocked(), total)
}

// Verdict asks the flow-control ladder about the present cache. Any refusal also asks for a nudge on room once the queue
// falls under its limits.
func (pq *ProcessQueue) Verdict() (stats.Verdict, cacheState) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	v := pq.verdictLocked()
	pq.held = v != stats.VerdictPull
	return v, pq.stateLocked()
}

// SetLimits replaces the flow-control limits.
func (pq *ProcessQueue) SetLimits(l flowLimits) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	pq.limits = l
}

// Drop gives the queue up: what is cached is forgotten, and results that come later count for nothing.
func (pq *ProcessQueue) Drop() {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	if pq.dropped {
		return
	}
	pq.dropped = true
	pq.addBytesLocked(-pq.bytes)
	pq.ring, pq.head, pq.take, pq.tail, pq.count = nil, 0, 0, 0, 0
}

// Dropped reports whether the queue was given up.
func (pq *ProcessQueue) Dropped() bool {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	return pq.dropped
}

// Low is the offset that may be committed: every message below it is finished.
func (pq *ProcessQueue) Low() int64 {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	return pq.lowLocked()
}

// fill copies the cache's numbers into a snapshot. It returns the oldest unfinished message, nil when there is none.
func (pq *ProcessQueue) fill(q *stats.Queue) (oldest *protocol.MessageExt) {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	c := pq.stateLocked()
	q.CachedCount, q.CachedBytes, q.Span = c.count, c.bytes, c.span
	q.Limits = stats.Limits{Count: pq.limits.count, Bytes: pq.limits.bytes, Span: pq.limits.span}
	q.Dropped = pq.dropped
	q.ConsumedMax = offsetOrNil(pq.done)
	if pq.dropped || pq.head == pq.tail {
		return nil
	}
	head := *pq.at(pq.head)
	newest := pq.at(pq.tail - 1).offset
	q.MinOffset, q.MaxOffset, q.OldestOffset = &head.offset, &newest, &head.offset
	q.Gap = max(0, pq.next-head.offset-c.count)
	return head.msg
}

// offsetOrNil is nil for the negative numbers that stand for "none yet".
func offsetOrNil(offset int64) *int64 {
	if offset < 0 {
		return nil
	}
	return &offset
}

// Next is the offset that the next pull asks for.
func (pq *ProcessQueue) Next() int64 {
	pq.mu.Lock()
	defer pq.mu.Unlock()
	return pq.next
}
