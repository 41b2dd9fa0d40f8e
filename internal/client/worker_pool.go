package client

import (
	"context"
	"fmt"
)

// SetWorkers resizes the pool of consume threads, 1 to 1000, while the consumer runs; Java's updateCorePoolSize. Running
// handlers finish whatever the new size.
func (p *PushConsumer) SetWorkers(n int) error {
	if n < 1 || n > 1000 {
		return fmt.Errorf("workers: %d is not between 1 and 1000", n)
	}
	p.poolMu.Lock()
	defer p.poolMu.Unlock()
	for len(p.pool) < n {
		ctx, stop := context.WithCancel(p.handlerCtx)
		p.pool = append(p.pool, stop)
		p.workers.Go(func() { p.worker(ctx) })
	}
	for _, stop := range p.pool[n:] {
		stop()
	}
	p.pool = p.pool[:n]
	return nil
}

// Workers is the size of the pool.
func (p *PushConsumer) Workers() int {
	p.poolMu.Lock()
	defer p.poolMu.Unlock()
	return len(p.pool)
}
