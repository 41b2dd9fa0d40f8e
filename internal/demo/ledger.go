package demo

import "sync"

// ledger notes what became of each message.
type ledger struct {
	mu    sync.Mutex
	state []uint8 // by number, from base on
	base  int64   // everything before it is settled
	count Totals
	news  chan struct{} // capacity 1: something was consumed or acknowledged
}

// What can become of a message.
const (
	issued uint8 = 1 << iota
	acknowledged
	notSent
	consumed
	failedOnce
)

// maxSettled is how many settled messages are kept before they are forgotten.
const maxSettled = 1 << 16

// Totals are counts of messages.
type Totals struct {
	Produced   int64 `json:"produced"`    // acknowledged by a broker
	SendErrors int64 `json:"send_errors"` // not acknowledged; some of them may be stored nevertheless
	Consumed   int64 `json:"consumed"`    // different messages
	Duplicates int64 `json:"duplicates"`  // consumed again
	Retried    int64 `json:"retried"`     // sent back by the handler, to be delivered again
	Open       int64 `json:"open"`        // acknowledged but not consumed
}

func newLedger() *ledger { return &ledger{news: make(chan struct{}, 1)} }

// issue gives out the next number.
func (l *ledger) issue() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.state) > 2*maxSettled {
		l.forget()
	}
	l.state = append(l.state, issued)
	return l.base + int64(len(l.state)) - 1
}

// forget drops the settled messages in front, so that a demo that runs for days stays small.
func (l *ledger) forget() {
	n := 0
	for n < len(l.state) && (l.state[n]&notSent != 0 || l.state[n]&(acknowledged|consumed) == acknowledged|consumed) {
		n++
	}
	l.state = append(make([]uint8, 0, len(l.state)), l.state[n:]...)
	l.base += int64(n)
}

// mark sets a bit of a message and reports whether it was set before. A number that was not issued is a stranger's and
// counts as settled, as one that was forgotten does.
func (l *ledger) mark(seq int64, bit uint8) (before bool) {
	i := seq - l.base
	if i < 0 || i >= int64(len(l.state)) {
		return true
	}
	was := l.state[i]
	l.state[i] |= bit
	if was&(acknowledged|consumed) == acknowledged {
		l.count.Open--
	}
	if l.state[i]&(acknowledged|consumed) == acknowledged {
		l.count.Open++
	}
	return was&bit != 0
}

// onSent notes the outcome of a send.
func (l *ledger) onSent(seq int64, err error) {
	l.mu.Lock()
	if err != nil {
		l.count.SendErrors++
		l.mark(seq, notSent)
	} else {
		l.mark(seq, acknowledged)
		l.count.Produced++
	}
	l.mu.Unlock()
	l.wake()
}

// onConsumed notes a message that was handled.
func (l *ledger) onConsumed(seq int64) {
	l.mu.Lock()
	if l.mark(seq, consumed) {
		l.count.Duplicates++
	} else {
		l.count.Consumed++
	}
	l.mu.Unlock()
	l.wake()
}

// shouldFail reports whether a message is to fail this time: every nth does once.
func (l *ledger) shouldFail(seq, nth int64) bool {
	if nth <= 0 || seq%nth != nth-1 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mark(seq, failedOnce) {
		return false
	}
	l.count.Retried++
	return true
}

func (l *ledger) totals() Totals {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count
}

func (l *ledger) wake() {
	select {
	case l.news <- struct{}{}:
	default:
	}
}
