// Package demo is the load and the consumer of `mqctl demo`, and the load of `mqctl sandbox --rate`.
package demo

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// seqProperty carries a message's number, from 0, so that what arrives can be held against what was sent.
const seqProperty = "seq"

// feedTick is how often a feed looks what is due.
const feedTick = 10 * time.Millisecond

// Feed sends synthetic orders to a topic, rate a second by the clock, until ctx ends. A send that fails is logged and
// left behind.
func Feed(ctx context.Context, p *client.Producer, topic string, rate float64, log *slog.Logger) {
	seq := int64(0)
	f := &feed{
		producer: p, topic: topic, rate: rate,
		issue: func() int64 { seq++; return seq - 1 },
		sent: func(_ int64, err error) {
			if err != nil {
				log.Debug("a message was not sent", "topic", topic, "err", err)
			}
		},
	}
	f.run(ctx)
}

// feed sends messages at a rate.
type feed struct {
	producer *client.Producer
	topic    string
	rate     float64
	issue    func() int64               // the number of the next message
	sent     func(seq int64, err error) // must not block
}

// run sends everything that is due at each tick: waiting for each message on its own could not keep a high rate.
func (f *feed) run(ctx context.Context) {
	tick := time.NewTicker(feedTick)
	defer tick.Stop()
	began, count := time.Now(), int64(0)
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		for due := int64(time.Since(began).Seconds() * f.rate); count < due && ctx.Err() == nil; count++ {
			f.send(ctx, f.issue())
		}
	}
}

func (f *feed) send(ctx context.Context, seq int64) {
	// The end of the feed must not call back a send under way: whether it was stored would be unknown.
	f.producer.SendAsync(context.WithoutCancel(ctx), order(f.topic, seq, time.Now()), func(_ client.SendResult, err error) {
		f.sent(seq, err)
	})
}

var (
	tags   = []string{"new", "paid", "packed", "sent"}
	cities = []string{"Berlin", "上海", "São Paulo", "Nairobi", "Montréal"}
)

// order makes a message that looks like one of a shop.
func order(topic string, seq int64, now time.Time) *protocol.Message {
	id := fmt.Sprintf("ORD-%06d", seq)
	return &protocol.Message{
		Topic: topic,
		Body: fmt.Appendf(nil, `{"order":%q,"state":%q,"city":%q,"cents":%d,"at":%q}`,
			id, tags[seq%4], cities[seq%5], 100+seq*7919%90000, now.UTC().Format("2006-01-02T15:04:05.000Z")),
		Properties: protocol.Properties{
			{Name: protocol.PropertyTags, Value: tags[seq%4]},
			{Name: protocol.PropertyKeys, Value: id},
			{Name: seqProperty, Value: strconv.FormatInt(seq, 10)},
		},
	}
}

// seqOf reads the number of a message, ok is false for one of somebody else.
func seqOf(m *protocol.MessageExt) (seq int64, ok bool) {
	seq, err := strconv.ParseInt(m.Property(seqProperty), 10, 64)
	return seq, err == nil && seq >= 0
}
