package admin

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
)

// How much is asked at once.
const (
	// perBroker bounds the requests to one broker that are open at a time. Brokers have no common bound: with one, a few
	// that do not answer would hold up all others.
	perBroker = 32
	// perNameServer bounds the routes asked for at a time.
	perNameServer = 16
)

// spread calls f for every item, at most limit (0: all) at a time, and returns when every call has. f gets the item's
// index to leave its result at.
func spread[T any](limit int, items []T, f func(i int, item T)) {
	var g errgroup.Group
	if limit > 0 {
		g.SetLimit(limit)
	}
	for i, item := range items {
		g.Go(func() error { f(i, item); return nil })
	}
	_ = g.Wait() // f reports through its results
}

// half leaves one step of a question half of the time that is left, so that a broker that does not answer in it cannot
// take the time of the steps after it.
func half(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Until(deadline)/2)
}
