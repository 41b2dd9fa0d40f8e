package client

import (
	"context"
	"slices"
	"sync"
	"time"

	"mqctl/internal/protocol"
)

// localRetries holds what has to be handled again here after a pause: messages that could not be handed back to the
// broker, and orderly queues whose batch failed.
type localRetries struct {
	wake chan struct{}

	mu     sync.Mutex
	items  []localRetry // in the order of due
	closed bool
}

type localRetry struct {
	due   time.Time
	epoch *queueEpoch
	batch []*protocol.MessageExt // of concurrent consumption
	from  int64                  // of an orderly queue: the first offset to hand out again
}

func newLocalRetries() localRetries { return localRetries{wake: make(chan struct{}, 1)} }

func (r *localRetries) add(e *queueEpoch, batch []*protocol.MessageExt, due time.Time) {
	r.insert(localRetry{due: due, epoch: e, batch: batch})
}

// addSuspended ends the pause of an orderly queue at due.
func (r *localRetries) addSuspended(e *queueEpoch, from int64, due time.Time) {
	r.insert(localRetry{due: due, epoch: e, from: from})
}

func (r *localRetries) insert(x localRetry) {
	r.mu.Lock()
	i, _ := slices.BinarySearchFunc(r.items, x.due, func(x localRetry, t time.Time) int { return x.due.Compare(t) })
	r.items = slices.Insert(r.items, i, x)
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

// loop calls again with what is due.
func (r *localRetries) loop(ctx context.Context, again func(localRetry)) {
	for {
		due, next, closed := r.takeDue(time.Now())
		for _, x := range due {
			again(x)
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
	due, r.items = slices.Clone(r.items[:n]), slices.Delete(r.items, 0, n)
	next = time.Hour
	if len(r.items) > 0 {
		next = r.items[0].due.Sub(now)
	}
	return due, next, r.closed
}
