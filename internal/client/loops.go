package client

import (
	"context"
	"fmt"
	"sync"
)

// loops owns the engine's goroutines. It is an errgroup whose Wait has a limit: a handler that never returns must not
// keep Close from returning. The only go statement of this package is here.
type loops struct {
	mu      sync.Mutex
	running int
	idle    chan struct{} // closed when running falls to zero; nil while nobody waits
}

// Go runs f in a goroutine of its own.
func (l *loops) Go(f func()) {
	l.mu.Lock()
	l.running++
	l.mu.Unlock()
	go func() {
		defer l.done()
		f()
	}()
}

func (l *loops) done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running--; l.running == 0 && l.idle != nil {
		close(l.idle)
		l.idle = nil
	}
}

// Wait waits until nothing runs any more, or ctx ends; the error says how many still run.
func (l *loops) Wait(ctx context.Context) error {
	l.mu.Lock()
	if l.running == 0 {
		l.mu.Unlock()
		return nil
	}
	if l.idle == nil {
		l.idle = make(chan struct{})
	}
	idle := l.idle
	l.mu.Unlock()
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == 0 {
		return nil
	}
	return fmt.Errorf("%d still running: %w", l.running, ctx.Err())
}
