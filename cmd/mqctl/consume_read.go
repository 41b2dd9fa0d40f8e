package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
)

// readRun is one run of consume without a group.
type readRun struct {
	*program
	o       *consumeOptions
	printer *messagePrinter
	reader  *client.Reader
	missing []error // queues that could not be read
	where   int     // failures of --where
	blocked bool    // the output does not move any more
}

// consumeRead reads queues without joining anything.
func (p *program) consumeRead(ctx context.Context, o *consumeOptions, printer *messagePrinter) error {
	conn, err := p.connect(ctx)
	if err != nil {
		return err
	}
	r := &readRun{program: p, o: o, printer: printer}
	queues, err := r.plan(ctx, conn)
	if err != nil {
		return err
	}
	cfg := client.ReaderConfig{Queues: queues, Filter: o.subscription("")}
	p.opt.settings.apply("consumer", &cfg.Pull)
	if o.cacheTotal > 0 {
		cfg.Pull.CacheTotal = o.cacheTotal
	}
	tuneCollector(cfg.Pull.CacheTotal)
	r.announce(queues)
	open, cancel := p.withDeadline(ctx)
	r.reader, err = conn.OpenReader(open, cfg)
	cancel()
	if err != nil {
		return err
	}
	defer r.reader.Close()
	stopStats := p.startStats(ctx, o.stats, conn.Snapshot)
	watched, stopWatching := p.whileRead(ctx)
	err = r.run(watched)
	stopWatching()
	stopStats()
	return r.finish(ctx, err)
}

// plan finds where each queue begins and ends. Queues that cannot be asked are left out and told at the end, as long as
// there are others.
func (r *readRun) plan(ctx context.Context, conn *client.Client) ([]client.ReaderQueue, error) {
	ctx, cancel := r.withDeadline(ctx)
	defer cancel()
	from := r.o.from
	if from == nil {
		from = &position.Position{Kind: position.Start}
		if r.o.follows() {
			from = &position.Position{Kind: position.End}
		}
	}
	var list []client.ReaderQueue
	for _, topic := range r.o.topics {
		part, err := r.planTopic(ctx, conn, topic, *from)
		if err != nil {
			return nil, err
		}
		list = append(list, part...)
	}
	if len(list) == 0 {
		if len(r.missing) > 0 {
			return nil, r.missing[0]
		}
		return nil, fmt.Errorf("%s: no queue can be read", strings.Join(r.o.topics, ", "))
	}
	return list, nil
}

func (r *readRun) planTopic(ctx context.Context, conn *client.Client, topic string, from position.Position) ([]client.ReaderQueue, error) {
	route, err := conn.FetchRoute(ctx, topic)
	if err != nil {
		return nil, err
	}
	chosen, err := r.o.queues.Select(topic, route.Subscribe)
	if err != nil {
		return nil, err
	}
	if r.o.queues.Everywhere() && len(chosen) > 1 {
		r.note("-q without a broker: reading %d queues of %s", len(chosen), topic)
	}
	a := admin.New(conn)
	starts, err := a.ResolveAll(ctx, topic, chosen, from, "")
	if err != nil {
		return nil, err
	}
	r.missing = append(r.missing, starts.Failures...)
	ends := starts
	if r.o.until != nil {
		if ends, err = a.ResolveAll(ctx, topic, chosen, *r.o.until, ""); err != nil {
			return nil, err
		}
	}
	until := map[protocol.MessageQueue]*int64{}
	for _, q := range ends.Queues {
		mq := protocol.MessageQueue{Topic: topic, BrokerName: q.Broker, QueueID: q.QueueID}
		switch {
		case r.o.until != nil:
			until[mq] = q.Offset
		case r.o.exit:
			until[mq] = q.Max
		}
	}
	var list []client.ReaderQueue
	for _, q := range starts.Queues {
		mq := protocol.MessageQueue{Topic: topic, BrokerName: q.Broker, QueueID: q.QueueID}
		if q.Offset == nil || r.o.until != nil && until[mq] == nil {
			continue
		}
		if end := until[mq]; end != nil && r.o.exit && q.Max != nil {
			end := min(*end, *q.Max)
			until[mq] = &end
		}
		list = append(list, client.ReaderQueue{Queue: mq, From: *q.Offset, Until: until[mq]})
	}
	return list, nil
}

// announce says what is read from where: nobody should take this for a group's consumption.
func (r *readRun) announce(queues []client.ReaderQueue) {
	from := "the start"
	switch {
	case r.o.from != nil:
		from = r.o.from.Echo()
	case r.o.follows():
		from = "the end"
	}
	text := fmt.Sprintf("reading %s without a group: %s from %s", strings.Join(r.o.topics, ", "), countOf(len(queues), "queue"), from)
	switch {
	case r.o.until != nil:
		text += " up to " + r.o.until.Echo()
	case r.o.exit:
		text += " up to what is there now"
	case r.o.follows() && r.o.limit == 0 && r.o.idle == 0:
		text += ", until Ctrl-C"
	}
	r.note("%s; nothing is committed", text)
}

// errEnough says why reading ended where it is no failure.
var (
	errEnough  = errors.New("enough messages")
	errIdle    = errors.New("nothing has come for a while")
	errTimeUp  = errors.New("the time is up")
	errReached = errors.New("the end is reached")
)

// run reads until one of the ends; its error says which.
func (r *readRun) run(ctx context.Context) error {
	if r.o.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, r.o.limit, errTimeUp)
		defer cancel()
	}
	for {
		batch, err := r.next(ctx)
		if errors.Is(err, io.EOF) {
			return errReached
		}
		if err != nil {
			return err
		}
		done, err := r.print(ctx, batch)
		if err != nil {
			return err
		}
		if done {
			return errEnough
		}
	}
}

// next waits for messages, no longer than --idle.
func (r *readRun) next(ctx context.Context) ([]*protocol.MessageExt, error) {
	wait, cancel := ctx, context.CancelFunc(func() {})
	if r.o.idle > 0 {
		wait, cancel = context.WithTimeoutCause(ctx, r.o.idle, errIdle)
	}
	defer cancel()
	batch, err := r.reader.Next(wait)
	if err != nil && wait.Err() != nil {
		return nil, context.Cause(wait)
	}
	return batch, err
}

// print writes the wanted ones of a batch; done says that --count is reached.
func (r *readRun) print(ctx context.Context, batch []*protocol.MessageExt) (done bool, err error) {
	var text []byte
	for _, m := range batch {
		ok, err := r.o.filter.match(m)
		if err != nil {
			r.whereFailed(err)
		}
		if !ok {
			continue
		}
		text = r.printer.append(text, m)
		if r.o.count > 0 && r.printer.n == r.o.count {
			done = true
			break
		}
	}
	if len(text) > 0 {
		err = r.write(ctx, text)
	}
	return done, err
}

// write returns when text was written, or soon after the end was asked for: whoever reads our output may have stopped.
func (r *readRun) write(ctx context.Context, text []byte) error {
	written := make(chan error, 1)
	go func() { // ends with the write, or with the process
		_, err := r.stdout.Write(text)
		written <- err
	}()
	select {
	case err := <-written:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-written:
		return err
	case <-time.After(writeGrace):
		r.blocked = true
		return context.Cause(ctx)
	}
}

// writeGrace is how long an output that does not move is waited for after the end was asked for.
const writeGrace = time.Second

// whereFailed tells about the first expression that could not be evaluated; such messages are left out.
func (r *readRun) whereFailed(err error) {
	if r.where++; r.where == 1 {
		r.note("%v; such messages are left out", err)
	}
}

// finish ends the output and turns the reason of the end into a result.
func (r *readRun) finish(ctx context.Context, why error) error {
	if isBrokenPipe(why) {
		return why
	}
	if text := r.printer.end(); text != "" && !r.blocked {
		if _, err := io.WriteString(r.stdout, text); err != nil {
			return err
		}
	}
	r.summary()
	signal := errors.As(context.Cause(ctx), new(*interruptedError))
	ended := slices.ContainsFunc([]error{errEnough, errIdle, errTimeUp, errReached}, func(e error) bool { return errors.Is(why, e) })
	switch {
	case signal:
		return stopped(ctx)
	case !ended:
		return why
	case len(r.missing) > 0:
		return partial("a part could not be read: %w", r.missing[0])
	case r.o.count > 0 && r.printer.n < r.o.count:
		return partial("%d of %d messages: %w", r.printer.n, r.o.count, why)
	case (r.o.exit || r.o.until != nil) && (errors.Is(why, errIdle) || errors.Is(why, errTimeUp)):
		return partial("the end was not reached after %s: %w", countOf(r.printer.n, "message"), why)
	}
	return nil
}

func (r *readRun) summary() {
	text := countOf(r.printer.n, "message")
	if f := r.o.filter; f != nil {
		text = fmt.Sprintf("%s of %s messages match", render.Count(f.matched.Load()), render.Count(f.scanned.Load()))
		if r.where > 1 {
			text += fmt.Sprintf("; --where failed on %s", render.Count(int64(r.where)))
		}
	}
	if r.errTerminal || r.o.filter != nil || r.printer.n == 0 {
		r.note("%s", text)
	}
}

// startStats prints a line of numbers every interval; the result ends it and waits.
func (p *program) startStats(ctx context.Context, interval time.Duration, take snapshotFunc) (stop func()) {
	if interval == 0 {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() { // stop waits for it
		defer close(done)
		p.statsLines(ctx, interval, take)
	}()
	return func() {
		cancel()
		<-done
	}
}
