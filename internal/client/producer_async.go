package client

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"mqctl/internal/protocol"
)

// SendAsync sends a message as Send does, with RetriesAsync, and calls done with what came of it, exactly once. It waits,
// as long as ctx allows, for room (MaxInFlight, MaxInFlightMiB), for the topic's route and for the connection, but not for
// the answer; SendTimeout begins when there is room. The deadline of ctx limits the answer too. Canceling ctx does not call
// back a request that is on its way, but nothing is tried again then.
//
// done may run on a connection's reader, or before SendAsync returns: it must not block, and it must not send with this
// client.
func (p *Producer) SendAsync(ctx context.Context, m *protocol.Message, done func(SendResult, error)) {
	s, err := p.begin()
	if err != nil {
		done(SendResult{}, err)
		return
	}
	s.topic = m.Topic
	s.flight.ctx, s.flight.callback = ctx, done
	if s.err = s.admit(ctx, int64(len(m.Body))); s.err == nil {
		s.err = s.prepare(m)
	}
	if s.err != nil {
		s.complete()
		return
	}
	s.retries = p.cfg.RetriesAsync
	s.drive()
}

// admit takes a slot and the bytes of one asynchronous send. A body larger than the whole budget takes all of it.
func (s *sending) admit(ctx context.Context, size int64) error {
	p := s.p
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return fmt.Errorf("%d sends under way: %w", p.cfg.MaxInFlight, err)
	}
	size = min(size, p.cfg.MaxInFlightMiB<<20)
	if err := p.budget.Acquire(ctx, size); err != nil {
		p.slots.Release(1)
		return fmt.Errorf("%d MiB under way: %w", p.cfg.MaxInFlightMiB, err)
	}
	s.flight.admitted, s.flight.bytes = true, size
	if p.ended.Load() { // Close gave up while this send waited
		return ErrClosed
	}
	return nil
}

// drive makes attempts until one is on its way, or the send is over.
func (s *sending) drive() {
	for {
		if err := s.aim(s.flight.ctx); err != nil {
			s.giveUp(err)
			break
		}
		if !s.start() {
			return
		}
		if s.settle(s.flight.ctx, s.flight.resp, s.flight.respErr) {
			break
		}
	}
	s.complete()
}

// start begins one attempt and reports whether it has already ended; otherwise its answer goes on with the send, and s
// must not be touched any more.
//
// The answer may come before Pool.Start returns, and then Start may still be reading the request. So both count: whoever
// is second owns the send.
func (s *sending) start() (ended bool) {
	f := &s.flight
	f.turn.Store(0)
	if err := s.reach(f.ctx); err != nil {
		f.resp, f.respErr = nil, err
		return true
	}
	if deadline, ok := f.ctx.Deadline(); ok {
		s.limit = max(min(s.limit, time.Until(deadline)), time.Nanosecond)
	}
	s.p.client.pool.Start(f.ctx, s.target.addr, &s.cmd, s.limit, f.answered)
	return f.turn.Add(1) == 2
}

// onAnswer runs on the connection's reader, or inside Pool.Start.
func (s *sending) onAnswer(resp *protocol.Command, err error) {
	f := &s.flight
	f.resp, f.respErr = resp, err
	if f.turn.Add(1) != 2 {
		return
	}
	if s.settle(f.ctx, resp, err) {
		s.complete()
		return
	}
	s.p.retrying.Go(s.drive) // Close waits for it; the reader must not wait for another connection
}

// complete ends an asynchronous send: its room is free before the callback runs, and Close waits until it has returned.
func (s *sending) complete() {
	p, done := s.p, s.flight.callback
	if s.flight.admitted {
		p.budget.Release(s.flight.bytes)
		p.slots.Release(1)
	}
	r, err := s.finish()
	p.recycle(s)
	defer p.gate.leave()
	defer func() {
		if v := recover(); v != nil {
			p.client.log.Error("the callback of a send panicked", "group", p.cfg.Group, "panic", v, "stack", string(debug.Stack()))
		}
	}()
	done(r, err)
}
