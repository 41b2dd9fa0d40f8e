package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/demo"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
	"mqctl/internal/stats"
)

func (p *program) demoCommand() *cli.Command {
	return &cli.Command{
		Name: "demo", Category: categoryLocal, Usage: "a cluster, a producer and a consumer at work, nothing to set up",
		Description: "Starts a sandbox, sends orders to it and consumes them, with a handler that is slow now and then: caches fill, flow " +
			"control holds queues back, and lag comes and goes. At the end every message that a broker acknowledged must have been consumed.",
		UsageText: "mqctl demo\tuntil Ctrl-C\nmqctl demo --for 10s\ta while\nmqctl demo --for 5s -o json\tnumbers for programs",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "for", Usage: "end after this `TIME`"},
			&cli.StringFlag{Name: "rate", Usage: "messages a second, a `RATE` such as 800/s (default 800/s)"},
		},
		Action: p.demoAction,
	}
}

// demoRow is a queue of the demo on a terminal.
type demoRow struct {
	Topic  string      `json:"topic" col:"TOPIC"`
	Queue  string      `json:"queue" col:"QUEUE"`
	Cached int64       `json:"cached" col:"CACHED" unit:"count"`
	Size   int64       `json:"size" col:"SIZE" unit:"bytes"`
	Span   int64       `json:"span" col:"SPAN" unit:"count"`
	Held   string      `json:"held" col:"HELD BY"` // now
	Hits   string      `json:"hits" col:"HITS"`
	Lag    *int64      `json:"lag" col:"LAG" unit:"count"`
	In     *stats.Rate `json:"in_rate" col:"IN/S" unit:"rate"`
	Out    *stats.Rate `json:"out_rate" col:"OUT/S" unit:"rate"`
}

// demoQueue is a queue in the demo's summary.
type demoQueue struct {
	Topic       string     `json:"topic"`
	Broker      string     `json:"broker"`
	QueueID     int32      `json:"queue_id"`
	CachedCount int64      `json:"cached_count"` // when the load ended
	CachedBytes int64      `json:"cached_bytes"`
	Span        int64      `json:"span"`
	MaxCached   int64      `json:"max_cached_count"` // of the samples, one a second
	Hits        stats.Hits `json:"flow_control_hits"`
	Consumed    int64      `json:"consumed"`
	Failed      int64      `json:"failed"`
}

// demoSummary is what the demo prints at its end.
type demoSummary struct {
	Seconds float64 `json:"seconds"`
	demo.Totals
	Hits   stats.Hits  `json:"flow_control_hits"`
	Queues []demoQueue `json:"queues"`
}

func (p *program) demoAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	if c.IsSet("for") && c.Duration("for") <= 0 {
		return usagef("--for %s: want more than 0", c.Duration("for"))
	}
	opt := demo.Options{Logger: p.log}
	if p.outTerminal && p.opt.verbose == 0 {
		opt.Logger = nil // its lines would tear the table apart, which shows the same
	}
	if text := c.String("rate"); text != "" {
		var err error
		if opt.Rate, err = parseRate(text); err != nil {
			return usagef("--rate %s: %v", text, err)
		}
	}
	ctx := c.Context
	d, err := demo.Start(ctx, opt)
	if err != nil {
		return err
	}
	load := ctx
	if limit := c.Duration("for"); limit > 0 {
		var cancel context.CancelFunc
		load, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	p.note("name server %s: %s", d.NameServer(), d.Describe())
	began := time.Now()
	s, err := p.runDemo(load, d)
	s.Seconds = time.Since(began).Seconds()
	return joinFirst(err, p.endDemo(ctx, d, s))
}

// demoDrain is how long the demo waits at its end for messages that are still on their way.
const demoDrain = 30 * time.Second

// runDemo shows the demo once a second until ctx ends.
func (p *program) runDemo(ctx context.Context, d *demo.Demo) (*demoSummary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	most := map[protocol.MessageQueue]int64{}
	screen := p.outTerminal && p.forEyes()
	lines := 0
	var failed error
	show := func(s *stats.Snapshot) {
		for _, q := range demoQueues(s) {
			mq := protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.QueueID}
			most[mq] = max(most[mq], q.CachedCount)
		}
		if !screen {
			p.note("%s", strings.Join(demoLines(d, s), "   "))
			return
		}
		text, err := p.demoScreen(d, s, lines)
		if err == nil {
			_, err = p.stdout.Write([]byte(text))
		}
		if err != nil {
			failed = err
			cancel()
		}
		lines = strings.Count(text, "\n")
	}
	sampler := stats.NewSampler(d.Snapshot)
	sampler.Run(ctx, time.Second, show)
	d.StopFeed()
	return newDemoSummary(sampler.Sample(), most), failed
}

func demoQueues(s *stats.Snapshot) []stats.Queue {
	var list []stats.Queue
	for _, c := range s.Consumers {
		list = append(list, c.Queues...)
	}
	return list
}

// demoScreen is the table, drawn over the one before, which had so many lines.
func (p *program) demoScreen(d *demo.Demo, s *stats.Snapshot, before int) (string, error) {
	doc := render.Document{Head: demoLines(d, s)}
	rows := []demoRow{}
	list := demoQueues(s)
	slices.SortStableFunc(list, func(a, b stats.Queue) int { // retry topics last
		return cmp.Compare(strings.Index(a.Topic, protocol.RetryTopicPrefix), strings.Index(b.Topic, protocol.RetryTopicPrefix))
	})
	for _, q := range list {
		topic := q.Topic
		if protocol.IsRetryTopic(topic) {
			topic = protocol.RetryTopicPrefix
		}
		held := ""
		if q.Last != stats.VerdictPull.String() {
			held = q.Last
		}
		hits := hitsText(q.Hits)
		if hits == "0" {
			hits = ""
		}
		rows = append(rows, demoRow{
			Topic: topic, Queue: fmt.Sprintf("%s/%d", q.Broker, q.QueueID), Cached: q.CachedCount, Size: q.CachedBytes, Span: q.Span,
			Held: held, Hits: hits, Lag: q.Lag, In: q.InRate, Out: q.ConsumedRate,
		})
	}
	doc.Rows = rows
	doc.Foot = []string{"Ctrl-C ends      mqctl -n " + d.NameServer() + " offset lag order-service"}
	var b strings.Builder
	b.WriteString(p.redraw(before))
	err := render.Write(&b, render.FormatTable, doc, p.renderOptions())
	return b.String(), err
}

// demoLines is the demo in two lines.
func demoLines(d *demo.Demo, s *stats.Snapshot) []string {
	t, sum := d.Totals(), sumOf(s)
	state := "fast"
	if d.Slow() {
		state = "SLOW"
	}
	return []string{
		fmt.Sprintf("%s   produced %s   consumed %s   retried %s   open %s   in %s/s   out %s/s", s.At.Format(time.TimeOnly), render.Count(t.Produced),
			render.Count(t.Consumed), render.Count(t.Retried), render.Count(t.Open), render.PerSecond(sum.in), render.PerSecond(sum.out)),
		fmt.Sprintf("handler %s   cached %s (%s)   %s   held back %s", state, render.Count(sum.cached), render.Bytes(sum.bytes),
			sum.lagText(), hitsText(sum.hits)),
	}
}

func newDemoSummary(s *stats.Snapshot, most map[protocol.MessageQueue]int64) *demoSummary {
	sum := &demoSummary{Queues: []demoQueue{}}
	for _, q := range demoQueues(s) {
		mq := protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.QueueID}
		sum.Hits = addHits(sum.Hits, q.Hits)
		sum.Queues = append(sum.Queues, demoQueue{
			Topic: q.Topic, Broker: q.Broker, QueueID: q.QueueID, CachedCount: q.CachedCount, CachedBytes: q.CachedBytes, Span: q.Span,
			MaxCached: max(most[mq], q.CachedCount), Hits: q.Hits, Consumed: q.Consumed, Failed: q.Failed,
		})
	}
	return sum
}

// endDemo waits for what is on its way, ends everything and prints the summary.
func (p *program) endDemo(ctx context.Context, d *demo.Demo, s *demoSummary) error {
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), demoDrain)
	defer cancel()
	drained := d.Drain(end)
	closed := d.Close(end)
	s.Totals = d.Totals()
	if err := p.writeDemo(s); err != nil {
		return err
	}
	if err := errors.Join(drained, closed); err != nil {
		return &exitError{exitFailed, err}
	}
	return stopped(ctx)
}

func (p *program) writeDemo(s *demoSummary) error {
	doc := render.Document{Data: s, Rows: s.Queues}
	if p.forEyes() {
		doc.Rows = nil
		verdict := "every acknowledged message was consumed"
		if s.Open > 0 {
			verdict = fmt.Sprintf("FAILED: %s acknowledged messages were not consumed", render.Count(s.Open))
		}
		doc.Head = []string{
			fmt.Sprintf("produced %s   consumed %s   duplicates %s   retried %s   send errors %s   in %.1fs", render.Count(s.Produced),
				render.Count(s.Consumed), render.Count(s.Duplicates), render.Count(s.Retried), render.Count(s.SendErrors), s.Seconds),
			"held back by flow control: " + hitsText(s.Hits),
			verdict,
		}
	}
	return p.write(doc)
}
