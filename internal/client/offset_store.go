package client

import (
	"context"
	"sync/atomic"

	"mqctl/internal/protocol"
)

// offsetStore keeps a group's offsets, Java's OffsetStore: at the brokers for clustering, in a local file for
// broadcasting. It is safe for concurrent use.
type offsetStore interface {
	// load is the stored offset of a queue. ErrNoOffset (wrapped) is the explicit answer that there is none; any other
	// error means that the store could not be asked, and then nothing may be assumed.
	load(ctx context.Context, mq protocol.MessageQueue) (int64, error)
	// save stores one offset and returns once it is stored.
	save(ctx context.Context, mq protocol.MessageQueue, offset int64) error
	// flush writes what save has only noted; a store that saves at once has nothing to do.
	flush() error
	// remote says that brokers keep the offsets, so that a pull can carry one.
	remote() bool
}

// noOffset is a progress that is not known yet; it is never sent to a broker.
const noOffset = -1

// progress is how far one assignment of a queue has come. Each assignment, seek and reset makes a new one, so a result
// that belongs to an earlier one cannot move the commit.
type progress struct {
	first int64        // where it began; set before it is shared
	done  atomic.Int64 // every message below it is finished; noOffset while unknown
	saved atomic.Int64 // what the store has acknowledged; noOffset before
}

func newProgress() *progress {
	p := &progress{}
	p.done.Store(noOffset)
	p.saved.Store(noOffset)
	return p
}

// advance raises done to low; it never lowers it.
func (p *progress) advance(low int64) {
	for {
		old := p.done.Load()
		if low <= old || p.done.CompareAndSwap(old, low) {
			return
		}
	}
}

// unsaved is the offset to save, and whether there is one that the store does not have.
func (p *progress) unsaved() (offset int64, ok bool) {
	offset = p.done.Load()
	return offset, offset != noOffset && offset != p.saved.Load()
}
