package main

import (
	"context"
	"flag"
	"fmt"
	"strconv"
	"sync"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/consumer"
	"github.com/apache/rocketmq-client-go/v2/primitive"
)

// received is the line for one delivered message. Seq is -1 when the message has no such property.
type received struct {
	Seq         int               `json:"seq"`
	Broker      string            `json:"broker"`
	Queue       int               `json:"queue"`
	Offset      int64             `json:"offset"`
	MsgID       string            `json:"msgId"`
	OffsetMsgID string            `json:"offsetMsgId"`
	Tags        string            `json:"tags"`
	Keys        string            `json:"keys"`
	Properties  map[string]string `json:"properties"`
	Reconsume   int32             `json:"reconsume"`
	Born        int64             `json:"born"`
	Store       int64             `json:"store"`
	Length      int               `json:"length"`
	SHA256      string            `json:"sha256"`
}

// tally prints messages and closes done when n distinct ones (by queue and offset) have come.
type tally struct {
	mu   sync.Mutex
	seen map[string]bool
	n    int
	done chan struct{}
}

func (t *tally) take(ms ...*primitive.MessageExt) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range ms {
		if len(t.seen) >= t.n {
			return
		}
		printReceived(m)
		t.seen[fmt.Sprintf("%s/%d/%d", m.Queue.BrokerName, m.Queue.QueueId, m.QueueOffset)] = true
		if len(t.seen) == t.n {
			close(t.done)
		}
	}
}

func (t *tally) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.seen)
}

func printReceived(m *primitive.MessageExt) {
	seq, err := strconv.Atoi(m.GetProperty("seq"))
	if err != nil {
		seq = -1
	}
	printJSON(received{
		Seq: seq, Broker: m.Queue.BrokerName, Queue: m.Queue.QueueId, Offset: m.QueueOffset, MsgID: m.MsgId, OffsetMsgID: m.OffsetMsgId,
		Tags: m.GetTags(), Keys: m.GetKeys(), Properties: m.GetProperties(), Reconsume: m.ReconsumeTimes, Born: m.BornTimestamp,
		Store: m.StoreTimestamp, Length: len(m.Body), SHA256: hash(m.Body),
	})
}

func consume(ctx context.Context, args []string) error {
	options := flag.NewFlagSet("consume", flag.ContinueOnError)
	mode := options.String("mode", "push", "")
	tags := options.String("tags", "*", "")
	sql := options.String("sql", "", "")
	keys := keyOptions(options)
	a, err := split(args, 5, options)
	if err != nil {
		return err
	}
	n, err := number(a[3])
	if err != nil {
		return err
	}
	limit, err := number(a[4])
	if err != nil {
		return err
	}
	settings := []consumer.Option{
		consumer.WithNameServer([]string{a[0]}), consumer.WithGroupName(a[1]), consumer.WithConsumeFromWhere(consumer.ConsumeFromFirstOffset),
	}
	switch *mode {
	case "push":
	case "orderly":
		settings = append(settings, consumer.WithConsumerOrder(true))
	case "broadcast":
		settings = append(settings, consumer.WithConsumerModel(consumer.BroadCasting))
	default:
		return fmt.Errorf("%w: --mode takes push, orderly or broadcast", errUsage)
	}
	if keys.AccessKey != "" {
		settings = append(settings, consumer.WithCredentials(*keys))
	}
	selector := consumer.MessageSelector{Type: consumer.TAG, Expression: *tags}
	if *sql != "" {
		selector = consumer.MessageSelector{Type: consumer.SQL92, Expression: *sql}
	}
	return receive(ctx, a[2], n, time.Duration(limit)*time.Second, selector, settings)
}

func receive(ctx context.Context, topic string, n int, limit time.Duration, selector consumer.MessageSelector, settings []consumer.Option) error {
	c, err := rocketmq.NewPushConsumer(settings...)
	if err != nil {
		return err
	}
	t := &tally{seen: map[string]bool{}, n: n, done: make(chan struct{})}
	err = c.Subscribe(topic, selector, func(_ context.Context, ms ...*primitive.MessageExt) (consumer.ConsumeResult, error) {
		t.take(ms...)
		return consumer.ConsumeSuccess, nil
	})
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case <-t.done:
		return c.Shutdown()
	case <-ctx.Done():
		return fmt.Errorf("%d of %d messages after %v", t.count(), n, limit)
	}
}
