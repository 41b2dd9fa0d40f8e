package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/format"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
	"mqctl/internal/stats"
)

// groupRun is one run of consume as a member of a group.
type groupRun struct {
	*program
	o        *consumeOptions
	conn     *client.Client
	admin    *admin.Admin
	consumer *client.PushConsumer
	out      *flusher

	mu       sync.Mutex // guards printer and claimed; never held while writing
	printer  *messagePrinter
	claimed  int64 // messages handed out under --count
	lastSeen atomic.Int64
	running  atomic.Int64 // messages that handlers have

	stop context.CancelCauseFunc // the reason of the end
	done context.Context
}

// consumeGroup joins the group, consumes until one of the ends and leaves.
func (p *program) consumeGroup(ctx context.Context, o *consumeOptions, printer *messagePrinter) error {
	if err := p.refuseReadOnly("consuming with -g joins the group and commits, so mqctl consume -g"); err != nil {
		return err
	}
	conn, err := p.connect(ctx)
	if err != nil {
		return err
	}
	r := &groupRun{program: p, o: o, conn: conn, admin: admin.New(conn), out: newFlusher(p.stdout), printer: printer}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	watched, stopWatching := p.whileRead(ctx)
	defer stopWatching()
	r.done, r.stop = context.WithCancelCause(watched)
	defer r.stop(nil)
	r.lastSeen.Store(time.Now().UnixNano())
	join, cancel := p.withDeadline(ctx)
	cfg := r.config()
	tuneCollector(cfg.CacheTotal)
	r.consumer, err = conn.StartPushConsumer(join, cfg)
	cancel()
	if err != nil {
		return err
	}
	p.unsaved.Store(r.uncommitted)
	if p.errTerminal {
		p.note("consuming %s as a member of %s; Ctrl-C commits and leaves", strings.Join(o.topics, ", "), o.group)
	}
	stopStats := p.startStats(ctx, o.stats, conn.Snapshot)
	r.wait()
	stopStats()
	return r.leave(ctx)
}

// handBatch is how many messages a handler gets at once where nothing tells them apart.
const handBatch = 32

func (r *groupRun) config() client.ConsumerConfig {
	cfg := client.ConsumerConfig{
		Group: r.o.group, Handler: r.handle, Orderly: r.o.orderly, NeverCommit: r.o.ack == "hold", From: r.from(), BatchSize: handBatch,
	}
	for _, topic := range r.o.topics {
		cfg.Subscriptions = append(cfg.Subscriptions, r.o.subscription(topic))
	}
	if r.o.broadcast {
		cfg.Model = protocol.Broadcasting
	}
	r.opt.settings.apply("consumer", &cfg)
	if r.o.simFail > 0 || r.o.simWork > 0 || r.o.count > 0 {
		cfg.BatchSize = 1
	}
	if r.o.count > 0 {
		cfg.Workers = 1 // in each queue the first ones are handed out, so that all of them can be committed
	}
	if r.o.cacheTotal > 0 {
		cfg.CacheTotal = r.o.cacheTotal
	}
	if r.o.drainSet || cfg.DrainTimeout == 0 {
		cfg.DrainTimeout = max(r.o.drainTimeout, time.Nanosecond)
	}
	return cfg
}

// from is where queues without a commit begin.
func (r *groupRun) from() client.From {
	at := r.o.from
	switch {
	case at == nil:
		return client.From{}
	case at.Kind == position.Start:
		return client.From{Where: client.FromFirst}
	case at.Kind == position.End:
		return client.From{Where: client.FromLast}
	case at.Kind == position.At:
		return client.From{Where: client.FromTimestamp, Time: at.Time}
	}
	return client.From{Where: client.FromCustom, At: func(ctx context.Context, mq protocol.MessageQueue) (int64, error) {
		bounds, err := r.admin.Bounds(ctx, mq, "")
		if err != nil {
			return 0, err
		}
		return position.Resolve(*at, bounds)
	}}
}

// handle consumes one batch: it is finished when its output was written.
func (r *groupRun) handle(ctx context.Context, b *client.Batch) client.Result {
	if err := context.Cause(r.done); err != nil && !finishes(err) {
		return client.Leave // whoever owns the queue next gets it
	}
	r.lastSeen.Store(time.Now().UnixNano())
	r.running.Add(int64(len(b.Messages)))
	defer func() {
		r.lastSeen.Store(time.Now().UnixNano())
		r.running.Add(-int64(len(b.Messages)))
	}()
	wanted := make([]*protocol.MessageExt, 0, len(b.Messages))
	for _, m := range b.Messages {
		ok, err := r.o.filter.match(m)
		if err != nil {
			r.stop(err)
			return client.Leave
		}
		if ok {
			wanted = append(wanted, m)
		}
	}
	if len(wanted) == 0 {
		return client.Success
	}
	if !r.claim(len(wanted)) {
		return client.Leave
	}
	if !r.simulate(ctx, len(wanted)) {
		return client.Leave
	}
	if r.o.simFail > 0 && rand.Float64() < r.o.simFail {
		r.claim(-len(wanted))
		return client.Later
	}
	if err := r.print(wanted); err != nil {
		r.stop(err)
		return client.Leave
	}
	if r.o.ack == "later" {
		return client.Later
	}
	return client.Success
}

// finishes reports whether the run ends in order: what was handed out by then is handled like everything before it. To
// leave one message and finish those behind it would only have them come again.
func finishes(why error) bool {
	return errors.As(why, new(*interruptedError)) || errors.Is(why, errIdle) || errors.Is(why, errTimeUp) || errors.Is(why, errReached)
}

// claim counts messages that are handed out under --count and refuses those beyond.
func (r *groupRun) claim(n int) bool {
	if r.o.count == 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.claimed+int64(n) > r.o.count {
		return false
	}
	r.claimed += int64(n)
	return true
}

// simulate takes the time of --sim-work; false says that the end came first.
func (r *groupRun) simulate(ctx context.Context, n int) bool {
	if r.o.simWork == 0 {
		return true
	}
	t := time.NewTimer(time.Duration(n) * r.o.simWork)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// print writes messages and returns when they are written.
func (r *groupRun) print(list []*protocol.MessageExt) error {
	var text []byte
	if r.printer.kind == "jsonl" { // the usual format needs no turns: workers make their lines side by side
		for _, m := range list {
			text = format.AppendJSONL(text, m)
		}
	}
	r.mu.Lock()
	if text == nil {
		for _, m := range list {
			text = r.printer.append(text, m)
		}
	} else {
		r.printer.n += int64(len(list))
	}
	full := r.o.count > 0 && r.printer.n >= r.o.count
	r.mu.Unlock()
	err := r.out.write(text)
	if full && err == nil {
		r.stop(errEnough)
	}
	return err
}

// endPoll is how often the run looks whether its queues have reached their ends.
const endPoll = 100 * time.Millisecond

// wait returns when there is a reason to end.
func (r *groupRun) wait() {
	ends := &queueEnds{run: r, end: map[protocol.MessageQueue]int64{}, began: time.Now()}
	tick := time.NewTicker(endPoll)
	defer tick.Stop()
	began := time.Now()
	for {
		select {
		case <-r.done.Done():
			return
		case <-tick.C:
		}
		switch {
		case r.o.limit > 0 && time.Since(began) >= r.o.limit:
			r.stop(errTimeUp)
		case r.o.idle > 0 && time.Since(time.Unix(0, r.lastSeen.Load())) >= r.o.idle && r.quiet():
			r.stop(errIdle)
		case r.o.exit && ends.reached(r.done):
			r.stop(errReached)
		}
	}
}

// quiet reports whether nothing is being handled and nothing waits here to be: a slow reader of the output is no silence.
func (r *groupRun) quiet() bool {
	cached := func(q stats.Queue) bool { return q.CachedCount > 0 }
	return r.running.Load() == 0 && !slices.ContainsFunc(r.queues(), cached)
}

// queues is the queues owned now.
func (r *groupRun) queues() []stats.Queue {
	for _, c := range r.conn.Snapshot().Consumers {
		if c.Group == r.o.group {
			return c.Queues
		}
	}
	return nil
}

// leave ends the membership: running handlers finish, offsets are saved with an answer, the group is told.
func (r *groupRun) leave(ctx context.Context) error {
	why := context.Cause(r.done)
	limit := r.config().DrainTimeout + closeLimit
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	err := r.consumer.Close(end)
	if errors.As(why, new(*outputError)) {
		return why // as little as the message, the end of the output could be written
	}
	if text := r.printer.end(); text != "" && err == nil { // whoever reads our output may have stopped doing so
		if _, werr := io.WriteString(r.stdout, text); werr != nil {
			return werr
		}
	}
	r.summary(why)
	if err != nil {
		err = withHint(err, "what was not saved is delivered again; a longer --drain-timeout waits for handlers")
		return &exitError{exitFailed, fmt.Errorf("the end was cut short: %w", err)}
	}
	if errors.As(why, new(*interruptedError)) {
		return stopped(ctx)
	}
	for _, end := range []error{errEnough, errIdle, errTimeUp, errReached} {
		if !errors.Is(why, end) {
			continue
		}
		switch {
		case r.o.count > 0 && r.printer.n < r.o.count:
			return partial("%d of %d messages: %w", r.printer.n, r.o.count, why)
		case r.o.exit && (errors.Is(why, errIdle) || errors.Is(why, errTimeUp)):
			return partial("the end was not reached after %s: %w", countOf(r.printer.n, "message"), why)
		}
		return nil
	}
	return why
}

func (r *groupRun) summary(why error) {
	text := countOf(r.printer.n, "message")
	if f := r.o.filter; f != nil {
		text += fmt.Sprintf(" of %s", render.Count(f.scanned.Load()))
	}
	switch {
	case r.o.ack == "hold":
		text += ", nothing was committed"
	case r.o.ack == "later":
		text += ", all sent back"
	}
	if why != nil && !errors.As(why, new(*interruptedError)) && r.errTerminal {
		text += ": " + why.Error()
	}
	if r.errTerminal || r.o.filter != nil || r.o.ack != "success" {
		r.note("%s", text)
	}
}

// uncommitted is what a second signal says was lost.
func (r *groupRun) uncommitted() string {
	var n int64
	for _, q := range r.queues() {
		if q.ConsumedMax != nil && q.Committed != nil {
			n += max(0, *q.ConsumedMax+1-*q.Committed)
		}
	}
	return fmt.Sprintf("; %s finished messages were not committed, %s were being handled", render.Count(n), render.Count(r.running.Load()))
}
