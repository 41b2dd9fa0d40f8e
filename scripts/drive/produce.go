//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// tally counts what came of sends and keeps the first error.
type tally struct {
	ok, bad atomic.Int64
	once    sync.Once
	err     error
}

func (t *tally) add(n int64, err error) {
	if err == nil {
		t.ok.Add(n)
		return
	}
	t.bad.Add(n)
	t.once.Do(func() { t.err = err })
}

func (j *job) produce(ctx context.Context) (*figures, error) {
	c, err := j.connect(ctx)
	if err != nil {
		return nil, err
	}
	cfg := client.ProducerConfig{Group: fmt.Sprintf("drive-%s", j.work)}
	if j.work == "async" {
		cfg.MaxInFlight = int64(j.workers)
	}
	p, err := c.StartProducer(ctx, cfg)
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	body := bytes.Repeat([]byte("x"), j.size)
	// The first send fetches the route and dials; the measurement starts after it.
	if _, err := p.Send(ctx, &protocol.Message{Topic: j.topic, Body: body}); err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	stop, err := j.profile()
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	var t tally
	watch := startWatch()
	switch j.work {
	case "produce":
		j.sendSync(ctx, p, body, &t)
	case "async":
		j.sendAsync(ctx, p, body, &t)
	case "batch":
		j.sendBatches(ctx, p, body, &t)
	}
	f := watch.figures(j, t.ok.Load(), t.bad.Load())
	if t.err != nil {
		f.FirstError = t.err.Error()
	}
	f.Settings = map[string]any{"in_flight": j.workers, "size": j.size, "retries": 2, "send_timeout": "3s", "batch": 1}
	if j.work == "batch" {
		f.Settings["batch"] = j.batch
	}
	return f, errors.Join(stop(), c.Close(ctx))
}

// each runs do in WORKERS goroutines until the numbers up to N are used up, step at a time.
func (j *job) each(step int64, do func(n int64)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range j.workers {
		wg.Go(func() {
			for {
				end := next.Add(step)
				if end-step >= j.messages {
					return
				}
				do(min(step, j.messages-(end-step)))
			}
		})
	}
	wg.Wait()
}

func (j *job) sendSync(ctx context.Context, p *client.Producer, body []byte, t *tally) {
	j.each(1, func(int64) {
		_, err := p.Send(ctx, &protocol.Message{Topic: j.topic, Body: body})
		t.add(1, err)
	})
}

func (j *job) sendAsync(ctx context.Context, p *client.Producer, body []byte, t *tally) {
	var open sync.WaitGroup
	open.Add(int(j.messages))
	done := func(_ client.SendResult, err error) {
		t.add(1, err)
		open.Done()
	}
	for range j.messages {
		p.SendAsync(ctx, &protocol.Message{Topic: j.topic, Body: body}, done)
	}
	open.Wait()
}

func (j *job) sendBatches(ctx context.Context, p *client.Producer, body []byte, t *tally) {
	j.each(int64(j.batch), func(n int64) {
		batch := make([]*protocol.Message, n)
		for i := range batch {
			batch[i] = &protocol.Message{Topic: j.topic, Body: body}
		}
		_, err := p.SendBatch(ctx, batch)
		t.add(n, err)
	})
}
