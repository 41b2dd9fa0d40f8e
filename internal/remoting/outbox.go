package remoting

import (
	"fmt"
	"slices"
	"sync"

	"mqctl/internal/protocol"
)

const (
	// maxQueued is what may wait for the writer, in bytes, before senders with a context have to wait themselves.
	maxQueued = 4 << 20
	// keptBuffer is the largest buffer that is kept for good while there is nothing to write, in bytes.
	keptBuffer = 512 << 10
	// calmWrites is how many writes in a row must have done with keptBuffer before larger ones are given back: a sender
	// of large batches would otherwise grow them anew for each.
	calmWrites = 8
	// headerGuess is room for a header, in bytes, so that a body's buffer is grown once.
	headerGuess = 1 << 10
)

// outbox collects encoded frames for a connection's writer. Senders encode straight into pending while the writer writes
// what it took before, so a frame costs no hand-over of its own and everything that piled up leaves in one write.
type outbox struct {
	mu      sync.Mutex
	wake    sync.Cond     // the writer waits here for frames or for the end
	pending []byte        // frames that the writer has not taken
	spare   []byte        // the buffer that the writer gave back
	writing int           // bytes that the writer has taken and not finished
	frames  uint64        // encoded since the beginning
	calm    int           // writes in a row that did with keptBuffer
	idle    bool          // the writer waits; whoever adds the first frame wakes it
	room    chan struct{} // closed when there is room again; nil while no sender waits
	err     error         // why no frame is taken any more
	abort   bool          // the writer is to leave without writing the rest
}

// put encodes cmd. When limit bytes are waiting already it adds nothing and returns a channel that is closed as soon as
// trying again is worth it; limit 0 never waits.
func (o *outbox) put(cmd *protocol.Command, maxFrame, limit int) (room <-chan struct{}, err error) {
	if len(cmd.Body) > maxFrame {
		return nil, fmt.Errorf("%w: a body of %d bytes, the limit of a frame is %d", ErrTooLarge, len(cmd.Body), maxFrame)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if room, err = o.ready(limit); room != nil || err != nil {
		return room, err
	}
	if len(cmd.Body) > headerGuess {
		o.pending = slices.Grow(o.pending, len(cmd.Body)+headerGuess)
	}
	before := len(o.pending)
	if o.pending, err = protocol.AppendFrame(o.pending, cmd); err != nil {
		return nil, err
	}
	if size := len(o.pending) - before; size > maxFrame {
		o.pending = o.pending[:before]
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, size, maxFrame)
	}
	o.added()
	return nil, nil
}

// putRaw is put for bytes that are encoded already.
func (o *outbox) putRaw(frame []byte, limit int) (room <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room, err = o.ready(limit); room != nil || err != nil {
		return room, err
	}
	o.pending = append(o.pending, frame...)
	o.added()
	return nil, nil
}

// roomFor tells whether put with this limit would have to wait, as put itself does.
func (o *outbox) roomFor(limit int) (<-chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ready(limit)
}

func (o *outbox) ready(limit int) (<-chan struct{}, error) {
	if o.err != nil {
		return nil, o.err
	}
	if limit == 0 || len(o.pending) < limit {
		return nil, nil
	}
	if o.room == nil {
		o.room = make(chan struct{})
	}
	return o.room, nil
}

func (o *outbox) added() {
	o.frames++
	if o.idle {
		o.idle = false
		o.wake.Signal()
	}
}

// take waits for frames and returns all of them; the slice is the writer's until it calls wrote. False is the end.
func (o *outbox) take(gather func()) ([]byte, bool) {
	o.mu.Lock()
	waited := false
	for len(o.pending) == 0 && o.err == nil {
		o.trim()
		o.idle, waited = true, true
		o.wake.Wait()
	}
	if waited && gather != nil {
		o.mu.Unlock()
		gather()
		o.mu.Lock()
	}
	if o.abort || len(o.pending) == 0 {
		o.mu.Unlock()
		return nil, false
	}
	batch, room := o.pending, o.room
	o.pending, o.spare, o.room = o.spare[:0], nil, nil
	o.writing = len(batch)
	if o.calm++; len(batch) > keptBuffer {
		o.calm = 0
	}
	o.mu.Unlock()
	if room != nil {
		close(room)
	}
	return batch, true
}

// wrote gives back the buffer of the last take.
func (o *outbox) wrote(batch []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing = 0
	o.spare = batch
}

// trim gives back what a burst took, once there is nothing to write and the burst is over.
func (o *outbox) trim() {
	kept := maxQueued
	if o.calm >= calmWrites {
		kept = keptBuffer
	}
	if cap(o.pending) > kept {
		o.pending = nil
	}
	if cap(o.spare) > kept {
		o.spare = nil
	}
}

// close refuses further frames with err. The writer still writes what is pending, unless abort is set.
func (o *outbox) close(err error, abort bool) {
	o.mu.Lock()
	if o.err == nil {
		o.err = err
	}
	o.abort = o.abort || abort
	room := o.room
	o.room, o.idle = nil, false
	o.wake.Signal()
	o.mu.Unlock()
	if room != nil {
		close(room)
	}
}

// waiting is the number of bytes that have not left yet.
func (o *outbox) waiting() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.pending) + o.writing
}

func (o *outbox) framesOut() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.frames
}
