package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// ReaderQueue is one queue of a Reader: from an offset, up to another.
type ReaderQueue struct {
	Queue protocol.MessageQueue
	From  int64
	// Until is the first offset not to read any more; nil follows the queue for ever.
	Until *int64
}

// ReaderConfig configures a Reader.
type ReaderConfig struct {
	Queues []ReaderQueue
	// Filter applies to every queue; its Topic is not used.
	Filter Subscription
	// Group is the name that pulls go by. Default: TOOLS_CONSUMER, which strict brokers accept and which has no offsets.
	Group string
	// Pull has the settings of the pull loops; what concerns groups and handlers is not used.
	Pull ConsumerConfig
}

// Reader reads queues without being a member of any group: it joins nothing, commits nothing and disturbs nobody.
type Reader struct {
	*puller
	queues   []*assignedQueue
	until    map[protocol.MessageQueue]int64
	filter   *protocol.SubscriptionData
	live     atomic.Int64 // pull loops that have not reached their end
	handed   []*protocol.MessageExt
	handedOf *queueEpoch
	closing  atomic.Bool
}

// readerBatch is how many messages Next hands out at most.
const readerBatch = 64

// OpenReader begins to read. The client must be started, and the routes of the topics known or learnable.
func (c *Client) OpenReader(ctx context.Context, cfg ReaderConfig) (*Reader, error) {
	if err := c.usable(); err != nil {
		return nil, err
	}
	orDefault(&cfg.Group, protocol.ToolsConsumerGroup)
	r := &Reader{until: map[protocol.MessageQueue]int64{}}
	r.puller = &puller{
		client: c, group: cfg.Group, cfg: cfg.Pull.withDefaults(), ready: newReadyList(), inline: true,
		subscription: func(string) *protocol.SubscriptionData { return r.filter },
	}
	if err := r.prepare(ctx, cfg); err != nil {
		return nil, err
	}
	r.live.Store(int64(len(cfg.Queues)))
	c.addReader(r)
	for _, rq := range cfg.Queues {
		r.open(rq)
	}
	return r, nil
}

func (r *Reader) prepare(ctx context.Context, cfg ReaderConfig) error {
	parse := protocol.NewSubscription
	if cfg.Filter.SQL {
		parse = protocol.NewSQLSubscription
	}
	topics := []string{}
	for _, rq := range cfg.Queues {
		if !slices.Contains(topics, rq.Queue.Topic) {
			topics = append(topics, rq.Queue.Topic)
		}
	}
	if len(topics) == 0 {
		return errors.New("no queue to read")
	}
	filter, err := parse(topics[0], cfg.Filter.Expression, time.Now())
	if err != nil {
		return err
	}
	r.filter = &filter
	for _, t := range topics {
		if _, err := r.client.Route(ctx, t); err != nil {
			return err
		}
		if cfg.Filter.SQL {
			if err := r.client.checkFilter(ctx, r.group, t, &filter); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *Reader) open(rq ReaderQueue) {
	q := r.newAssignedQueue(rq.Queue)
	q.until = noOffset
	if rq.Until != nil {
		q.until = *rq.Until
		r.until[rq.Queue] = *rq.Until
	}
	r.queues = append(r.queues, q)
	limits := q.limits()
	limits.span = 0 // nothing is ever handled out of order here
	q.begin(rq.From, limits, true, false)
	q.startLoop(func(ctx context.Context) {
		q.run(ctx)
		r.live.Add(-1)
		wake(r.ready.wake) // Next may be waiting for the end
	})
}

// Next waits for the next messages: some of one queue, in offset order. What it returned before is forgotten by then.
// io.EOF means that every queue was read up to its Until.
func (r *Reader) Next(ctx context.Context) ([]*protocol.MessageExt, error) {
	if r.handedOf != nil {
		r.handedOf.pq.Remove(r.handed)
		r.handedOf.queue.consumed.Add(int64(len(r.handed)))
		r.handedOf = nil
	}
	for {
		ended := r.live.Load() == 0
		if w, ok := r.ready.tryPop(); ok {
			batch, more := w.epoch.pq.Take(r.handed[:0], readerBatch, time.Now().UnixMilli())
			if more {
				r.ready.push(w.epoch)
			}
			r.handed, r.handedOf = batch, w.epoch
			if batch = r.cut(w.epoch.queue.mq, batch); len(batch) > 0 {
				w.epoch.queue.lastTaken.Store(time.Now().UnixMilli())
				return batch, nil
			}
			w.epoch.pq.Remove(r.handed)
			r.handedOf = nil
			continue
		}
		switch {
		case r.closing.Load():
			return nil, fmt.Errorf("reader: %w", ErrClosed)
		case ended:
			return nil, io.EOF
		}
		select {
		case <-r.ready.wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// cut drops what lies at or beyond the queue's end.
func (r *Reader) cut(mq protocol.MessageQueue, batch []*protocol.MessageExt) []*protocol.MessageExt {
	until, ok := r.until[mq]
	if !ok {
		return batch
	}
	for i, m := range batch {
		if m.QueueOffset >= until {
			return batch[:i]
		}
	}
	return batch
}

// Close ends the reader; it does not wait for a Next under way.
func (r *Reader) Close() {
	if !r.closing.CompareAndSwap(false, true) {
		return
	}
	r.ready.close()
	var g errgroup.Group
	for _, q := range r.queues {
		g.Go(func() error { q.halt(); q.drop(); return nil })
	}
	_ = g.Wait()
	r.client.removeReader(r)
}

func (r *Reader) topics() []string {
	list := []string{}
	for _, q := range r.queues {
		if !slices.Contains(list, q.mq.Topic) {
			list = append(list, q.mq.Topic)
		}
	}
	return list
}

func (r *Reader) snapshot(now time.Time) stats.Consumer {
	s := stats.Consumer{Group: r.group, Mode: "assign", Model: string(protocol.Clustering), Workers: 1, Queues: []stats.Queue{}}
	for _, q := range r.queues {
		s.Add(q.snapshot(now))
	}
	return s
}
