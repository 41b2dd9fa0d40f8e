package client

import (
	"context"
	"sync"
	"time"

	"mqctl/internal/protocol"
)

// localRetries holds messages that could not be handed back to the broker until they are due to be handled again.
type localRetries struct {
	wake chan struct{}

	mu     sync.Mutex
	items  []localRetry // in the order of due: the pause is the same for all
	closed bool
}

type localRetry struct {
	due   time.Time
	epoch *queueEpoch
	batch []*protocol.MessageExt
}

func newLocalRetries() localRetries { return localRetries{wake: make(chan struct{}, 1)} }

func (r *localRetries) add(e *queueEpoch, batch []*protocol.MessageExt, due time.Time) {
	r.mu.Lock()
	r.items = append(r.items, localRetry{due, e, batch})
	r.mu.Unlock()
	wake(r.wake)
}

// close ends the loop; what still waits stays unfinished and is the next owner's.
func (r *localRetries) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	wake(r.wake)
}

// loop moves due batches to the ready list, split into the batches they were.
func (r *localRetries) loop(ctx context.Context, ready *readyList) {
	for {
		due, next, closed := r.takeDue(time.Now())
		for _, x := range due {
			ready.pushRetry(x.epoch, x.batch)
		}
		if closed || !pause(ctx, next, r.wake) {
			return
		}
	}
}

// takeDue is what is due now, and how long until the next one.
func (r *localRetries) takeDue(now time.Time) (due []localRetry, next time.Duration, closed bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for n < len(r.items) && !r.items[n].due.After(now) {
		n++
	}
	due, r.items = r.items[:n:n], r.items[n:]
	next = time.Hour
	if len(r.items) > 0 {
		next = r.items[0].due.Sub(now)
	}
	return due, next, r.closed
}
