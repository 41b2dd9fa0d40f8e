//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// counter is the handler of a run: it counts, and notes when the first and the last message came.
type counter struct {
	want        int64
	got         atomic.Int64
	begin, end  sync.Once
	first, last time.Time
	done        chan struct{}
}

func (c *counter) handle(_ context.Context, b *client.Batch) client.Result {
	c.begin.Do(func() { c.first = time.Now() })
	if c.got.Add(int64(len(b.Messages))) >= c.want {
		c.end.Do(func() {
			c.last = time.Now()
			close(c.done)
		})
	}
	return client.Success
}

// cacheTotal is the engine's default, named here because the settings tell it.
const cacheTotal = 256 << 20

// consume measures from before the client is made until every message was handled and committed. The wall time counts
// from the first message, as in the drivers of the official clients.
func (j *job) consume(ctx context.Context) (*figures, error) {
	stop, err := j.profile()
	if err != nil {
		return nil, err
	}
	watch := startWatch()
	c, err := j.connect(ctx)
	if err != nil {
		return nil, err
	}
	h := &counter{want: j.messages, done: make(chan struct{})}
	cfg := client.ConsumerConfig{
		Group: fmt.Sprintf("drive-%d", time.Now().UnixNano()), Subscriptions: []client.Subscription{{Topic: j.topic}}, Handler: h.handle,
		From: client.From{Where: client.FromFirst}, Workers: j.workers, BatchSize: j.batch, PullBatchSize: j.pull,
		CacheTotal: cacheTotal,
	}
	consumer, err := c.StartPushConsumer(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	select {
	case <-h.done:
	case <-ctx.Done():
		return nil, errors.Join(fmt.Errorf("%d of %d messages: %w", h.got.Load(), j.messages, ctx.Err()), c.Close(context.WithoutCancel(ctx)))
	}
	settings := j.consumerSettings(c.Snapshot())
	if err := consumer.Close(ctx); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	if err := j.checkCommit(ctx, c, cfg.Group); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	watch.began = h.first
	f := watch.figures(j, h.got.Load(), 0)
	f.HandledWall, f.Settings = h.last.Sub(h.first).Seconds(), settings
	return f, errors.Join(stop(), c.Close(ctx))
}

// consumerSettings is what the run worked with. cache_limit_mib is what flow control lets the bodies in the cache come to.
func (j *job) consumerSettings(s stats.Snapshot) map[string]any {
	queues, hits, limit := 0, int64(0), int64(0)
	for _, q := range s.Consumers[0].Queues {
		if q.Topic == j.topic {
			queues++
			hits += q.Hits.Count + q.Hits.Size + q.Hits.Span + q.Hits.Total
			limit += min(q.Limits.Count*int64(j.size), q.Limits.Bytes)
		}
	}
	return map[string]any{
		"workers": j.workers, "batch": j.batch, "pull": j.pull, "size": j.size, "queues": queues, "commit": "checked", "flow_control_hits": hits,
		"cache_limit_mib": float64(min(cacheTotal, limit)) / (1 << 20),
	}
}

// checkCommit fails unless the group's commit is the end of every queue.
func (j *job) checkCommit(ctx context.Context, c *client.Client, group string) error {
	return j.eachQueue(ctx, c, func(mq protocol.MessageQueue) error {
		end, err := c.MaxOffset(ctx, mq)
		if err != nil {
			return err
		}
		addr, err := c.BrokerAddr(mq.BrokerName)
		if err != nil {
			return err
		}
		req := &protocol.QueryConsumerOffsetRequest{ConsumerGroup: group, Topic: mq.Topic, QueueID: mq.QueueID, BrokerName: mq.BrokerName}
		var resp protocol.QueryConsumerOffsetResponse
		if _, err := c.CallHeader(ctx, addr, req, nil, &resp); err != nil {
			return fmt.Errorf("commit of %s: %w", mq, err)
		}
		if resp.Offset != end {
			return fmt.Errorf("commit of %s is %d, its end %d", mq, resp.Offset, end)
		}
		return nil
	})
}
