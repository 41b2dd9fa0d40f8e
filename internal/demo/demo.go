package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/sandbox"
	"mqctl/internal/stats"
)

// Names of the demo's cluster.
const (
	topicName = "orders"
	groupName = "order-service"
)

// Options is what a demo does. The zero value of every field is its default.
type Options struct {
	// Rate is how many messages are sent a second. Default: 800.
	Rate float64
	// Queues is how many queues the topic has. Default: 8.
	Queues int
	// MaxCached is the limit of cached messages a queue, low enough to be reached: default 64, where consumers have 1000.
	MaxCached int64
	// Work is how long the handler takes for a message. Default: 1 ms.
	Work time.Duration
	// The handler is slow now and then, so that caches fill and flow control holds queues back: from SlowAfter (default
	// 1 s) on, for SlowFor (default 2 s) in each SlowEvery (default 8 s), a message takes SlowWork (default 200 ms).
	SlowAfter, SlowFor, SlowEvery, SlowWork time.Duration
	// FailEvery makes one message in so many fail once and come again through the retry topic. Default: 400; -1 for none.
	FailEvery int64
	// Logger gets what the engine and the sandbox have to say. Default: discards it.
	Logger *slog.Logger
	// ListenFunc and Dial are the network. Default: TCP on the loopback address.
	ListenFunc func(addr string) (net.Listener, error)
	Dial       func(ctx context.Context, addr string) (net.Conn, error)
}

func (o Options) withDefaults() Options {
	orDefault(&o.Rate, 800)
	orDefault(&o.Queues, 8)
	orDefault(&o.MaxCached, 64)
	orDefault(&o.Work, time.Millisecond)
	orDefault(&o.SlowAfter, time.Second)
	orDefault(&o.SlowFor, 2*time.Second)
	orDefault(&o.SlowEvery, 8*time.Second)
	orDefault(&o.SlowWork, 200*time.Millisecond)
	orDefault(&o.FailEvery, 400)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// Demo is a sandbox with a producer and a consumer at work.
type Demo struct {
	opt     Options
	box     *sandbox.Sandbox
	client  *client.Client
	began   time.Time
	ledger  *ledger
	stop    context.CancelFunc // ends the feed
	feeding sync.WaitGroup
	closing sync.Once
}

// Start starts everything. Close ends it, also after an error of a later step.
func Start(ctx context.Context, o Options) (*Demo, error) {
	o = o.withDefaults()
	box, err := sandbox.New(sandbox.Options{
		Topics: []sandbox.TopicSpec{{Name: topicName, Queues: o.Queues}}, Logger: o.Logger, ListenFunc: o.ListenFunc,
	})
	if err != nil {
		return nil, fmt.Errorf("demo: %w", err)
	}
	d := &Demo{opt: o, box: box, ledger: newLedger(), stop: func() {}}
	if err := d.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("demo: %w", err), d.Close(ctx))
	}
	return d, nil
}

func (d *Demo) start(ctx context.Context) error {
	c, err := client.New(client.Config{NameServers: d.box.NameServers(), Logger: d.opt.Logger, Dial: d.opt.Dial})
	if err != nil {
		return err
	}
	if err := c.Start(ctx); err != nil {
		return err
	}
	d.client, d.began = c, time.Now()
	_, err = c.StartPushConsumer(ctx, client.ConsumerConfig{
		Group: groupName, Subscriptions: []client.Subscription{{Topic: topicName}}, Handler: d.handle,
		From: client.From{Where: client.FromFirst}, MaxCachedCount: d.opt.MaxCached,
	})
	if err != nil {
		return err
	}
	p, err := c.StartProducer(ctx, client.ProducerConfig{})
	if err != nil {
		return err
	}
	f := &feed{producer: p, topic: topicName, rate: d.opt.Rate, issue: d.ledger.issue, sent: d.ledger.onSent}
	feed, stop := context.WithCancel(context.WithoutCancel(ctx))
	d.stop = stop
	d.feeding.Go(func() { f.run(feed) })
	return nil
}

// handle is the consumer: slight work, slow at times, and one message in a while fails once.
func (d *Demo) handle(ctx context.Context, b *client.Batch) client.Result {
	work := d.opt.Work
	if d.Slow() {
		work = d.opt.SlowWork
	}
	t := time.NewTimer(work)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
		return client.Leave
	}
	for _, m := range b.Messages {
		seq, ok := seqOf(m)
		if !ok {
			continue // somebody else sends here too
		}
		if d.ledger.shouldFail(seq, d.opt.FailEvery) {
			b.DelayLevel = 1 // again after a second rather than ten
			return client.Later
		}
		d.ledger.onConsumed(seq)
	}
	return client.Success
}

// Slow reports whether the handler is slow at this moment.
func (d *Demo) Slow() bool {
	since := time.Since(d.began) - d.opt.SlowAfter
	return since >= 0 && since%d.opt.SlowEvery < d.opt.SlowFor
}

// NameServer is the address of the demo's name server: other clients may join.
func (d *Demo) NameServer() string { return d.box.NameServers()[0] }

// Snapshot is what the demo's client knows now.
func (d *Demo) Snapshot() stats.Snapshot { return d.client.Snapshot() }

// Totals is what became of the messages up to now.
func (d *Demo) Totals() Totals { return d.ledger.totals() }

// Describe is one line about what the demo does.
func (d *Demo) Describe() string {
	o := d.opt
	return fmt.Sprintf("%g/s to %s, consumed by %s; slow for %v in every %v, at most %d cached a queue",
		o.Rate, topicName, groupName, o.SlowFor, o.SlowEvery, o.MaxCached)
}

// Drain stops sending and waits until every acknowledged message was consumed; ctx limits the waiting.
func (d *Demo) Drain(ctx context.Context) error {
	d.StopFeed()
	for {
		t := d.ledger.totals()
		sending := int64(0)
		for _, p := range d.client.Snapshot().Producers {
			sending += p.InFlight
		}
		if t.Open == 0 && sending == 0 {
			return nil
		}
		look := time.NewTimer(100 * time.Millisecond) // the end of a send that failed is no news to the ledger's channel
		select {
		case <-d.ledger.news:
			look.Stop()
		case <-look.C:
		case <-ctx.Done():
			look.Stop()
			return fmt.Errorf("%d of %d acknowledged messages were not consumed: %w", t.Open, t.Produced, ctx.Err())
		}
	}
}

// StopFeed stops sending.
func (d *Demo) StopFeed() {
	d.stop()
	d.feeding.Wait()
}

// Close ends the demo: the consumer commits and leaves, the sandbox ends. ctx limits the leaving.
func (d *Demo) Close(ctx context.Context) (err error) {
	d.closing.Do(func() {
		d.StopFeed()
		if d.client != nil {
			err = d.client.Close(ctx)
		}
		d.box.Close()
	})
	return err
}
