package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"

	"mqctl/scripts/peers/measure"
)

// benchLimit ends a run whose messages never come.
const benchLimit = 300 * time.Second

func bench(ctx context.Context, args []string) error {
	if len(args) != 6 {
		return errUsage
	}
	mode, ns, topic := args[0], args[1], args[2]
	var numbers [3]int
	for i := range numbers {
		var err error
		if numbers[i], err = number(args[3+i]); err != nil {
			return err
		}
	}
	n, size, workers := int64(numbers[0]), numbers[1], numbers[2]
	switch mode {
	case "consume":
		return benchConsume(ctx, ns, topic, n, workers)
	case "produce", "async":
		return benchProduce(ctx, mode, ns, topic, n, size, workers)
	}
	return fmt.Errorf("%w: no mode %q", errUsage, mode)
}

func benchProduce(ctx context.Context, mode, ns, topic string, n int64, size, workers int) error {
	p, err := rocketmq.NewProducer(producer.WithNameServer([]string{ns}), producer.WithRetry(2))
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	body := bytes.Repeat([]byte("x"), size)
	// The first send fetches the route and dials; the measurement starts after it.
	if _, err := p.SendSync(ctx, primitive.NewMessage(topic, body)); err != nil {
		return err
	}
	var ok, bad atomic.Int64
	count := func(err error) {
		if err != nil {
			bad.Add(1)
		} else {
			ok.Add(1)
		}
	}
	run := measure.Start()
	if mode == "produce" {
		sendSync(ctx, p, topic, body, n, workers, count)
	} else {
		sendAsync(ctx, p, topic, body, n, workers, count)
	}
	fmt.Println(run.Line("go-client", mode, ok.Load(), bad.Load()))
	return nil
}

func sendSync(ctx context.Context, p rocketmq.Producer, topic string, body []byte, n int64, workers int, count func(error)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for next.Add(1) <= n {
				_, err := p.SendSync(ctx, primitive.NewMessage(topic, body))
				count(err)
			}
		})
	}
	wg.Wait()
}

func sendAsync(ctx context.Context, p rocketmq.Producer, topic string, body []byte, n int64, inflight int, count func(error)) {
	slots := make(chan struct{}, inflight)
	for range n {
		slots <- struct{}{}
		err := p.SendAsync(ctx, func(_ context.Context, _ *primitive.SendResult, err error) {
			count(err)
			<-slots
		}, primitive.NewMessage(topic, body))
		if err != nil {
			count(err)
			<-slots
		}
	}
	for range inflight {
		slots <- struct{}{}
	}
}

func benchConsume(ctx context.Context, ns, topic string, n int64, workers int) error {
	c, err := rocketmq.NewPushConsumer(consumer.WithGroupName(fmt.Sprintf("peer_go_%d", time.Now().UnixNano())), consumer.WithNameServer([]string{ns}),
		consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset), consumer.WithPullBatchSize(32), consumer.WithConsumeMessageBatchMaxSize(32),
		consumer.WithConsumeGoroutineNums(workers))
	if err != nil {
		return err
	}
	var got atomic.Int64
	var begin, end sync.Once
	first, done := make(chan time.Time, 1), make(chan struct{})
	err = c.Subscribe(topic, consumer.MessageSelector{}, func(_ context.Context, ms ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		begin.Do(func() { first <- time.Now() })
		if got.Add(int64(len(ms))) >= n {
			end.Do(func() { close(done) })
		}
		return consumer.ConsumeSuccess, nil
	})
	if err != nil {
		return err
	}
	run := measure.Start()
	if err := c.Start(); err != nil {
		return err
	}
	select {
	case <-done:
	case <-ctx.Done():
	case <-time.After(benchLimit):
	}
	total := got.Load()
	if total == 0 {
		return fmt.Errorf("no message came within %v", benchLimit)
	}
	run.Clock(<-first)
	fmt.Println(run.Line("go-client", "consume", total, 0))
	// Shutdown of this client may hang on busy queues; the figures are out.
	os.Exit(0)
	return nil
}
