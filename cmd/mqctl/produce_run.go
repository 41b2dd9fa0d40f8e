package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
)

// produceRun is one run of mqctl produce.
type produceRun struct {
	*program
	o        produceOptions
	producer *client.Producer
	queue    protocol.MessageQueue
	source   func() (*protocol.Message, error)
	out      *resultPrinter
	began    time.Time
	stored   atomic.Int64
	failed   atomic.Int64
	bytes    atomic.Int64
}

// asyncLimit bounds the messages between the input and the output of --send async.
const asyncLimit = 1024

// sourced is a message of the source, or why there is none.
type sourced struct {
	m   *protocol.Message
	err error
}

// run sends until the source ends, a send fails or a signal comes, and says what was sent.
func (r *produceRun) run(ctx context.Context) error {
	messages := make(chan sourced)
	go r.read(ctx, messages) // a read of standard input cannot be called back: it ends with the process
	err := r.sendAll(ctx, messages)
	if cause := context.Cause(ctx); cause != nil && err == nil {
		err = &exitError{code: exitInterrupted}
	}
	if ferr := r.out.flush(); err == nil {
		err = ferr
	}
	r.summary(err)
	return err
}

func (r *produceRun) read(ctx context.Context, messages chan<- sourced) {
	for {
		m, err := r.source()
		select {
		case messages <- sourced{m, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// sendAll takes messages at the wanted rate.
func (r *produceRun) sendAll(ctx context.Context, messages <-chan sourced) error {
	sender := r.newSender()
	for n := int64(1); ; n++ {
		var next sourced
		select {
		case next = <-messages:
		case <-ctx.Done():
			return sender.finish(ctx)
		case <-sender.failed:
			return sender.finish(ctx)
		}
		if next.err == io.EOF {
			return sender.finish(ctx)
		}
		if next.err != nil {
			return joinFirst(next.err, sender.finish(ctx))
		}
		if !r.pace(ctx, n) {
			return sender.finish(ctx)
		}
		if err := sender.send(ctx, n, next.m); err != nil {
			return joinFirst(err, sender.finish(ctx))
		}
	}
}

// pace waits until the nth message is due by the clock of the run: what was late is caught up. false is the end of ctx.
func (r *produceRun) pace(ctx context.Context, n int64) bool {
	if r.o.rate == 0 {
		return true
	}
	wait := time.Until(r.began.Add(time.Duration(float64(n-1) / r.o.rate * float64(time.Second))))
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// sender sends one message after the other in the way of --send and --batch.
type sender struct {
	r      *produceRun
	slots  chan struct{}
	wg     sync.WaitGroup
	failed chan struct{} // closed with the first failure of an asynchronous send
	once   sync.Once
	err    error // why; read after wg.Wait

	batch []*protocol.Message
	first int64 // number of the batch's first message
	size  int
}

func (r *produceRun) newSender() *sender {
	return &sender{r: r, slots: make(chan struct{}, asyncLimit), failed: make(chan struct{})}
}

func (s *sender) send(ctx context.Context, n int64, m *protocol.Message) error {
	switch {
	case s.r.o.batch > 0:
		return s.add(ctx, n, m)
	case s.r.o.send == "async":
		s.async(ctx, n, m)
		return nil
	case s.r.o.send == "oneway":
		if err := s.r.producer.SendOneway(ctx, m); err != nil {
			return errorAt(n, s.r.o, err)
		}
		s.r.count(1, len(m.Body))
		return nil
	}
	began := time.Now()
	var result client.SendResult
	var err error
	switch {
	case s.r.o.queue != "":
		result, err = s.r.producer.SendTo(ctx, m, s.r.queue)
	case s.r.o.order != "":
		result, err = s.r.producer.SendOrdered(ctx, m, s.r.o.order)
	default:
		result, err = s.r.producer.Send(ctx, m)
	}
	if err != nil {
		return errorAt(n, s.r.o, err)
	}
	s.r.count(1, len(m.Body))
	return s.r.out.print(newResultView(result, time.Since(began)))
}

// async sends without waiting for the answer. A slot is free again when the result was printed, so a slow reader of the
// output slows the sends down.
func (s *sender) async(ctx context.Context, n int64, m *protocol.Message) {
	select {
	case s.slots <- struct{}{}:
	case <-s.failed:
		return
	}
	s.wg.Add(1)
	began := time.Now()
	s.r.producer.SendAsync(context.WithoutCancel(ctx), m, func(result client.SendResult, err error) {
		took := time.Since(began)
		go func() { // the callback must not block, and the output may; slots bound these
			defer s.wg.Done()
			defer func() { <-s.slots }()
			if err != nil {
				s.r.failed.Add(1)
				s.fail(errorAt(n, s.r.o, err))
				return
			}
			s.r.count(1, len(m.Body))
			if err := s.r.out.print(newResultView(result, took)); err != nil {
				s.fail(err)
			}
		}()
	})
}

func (s *sender) fail(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.failed)
	})
}

// maxBatchBytes is where a batch is sent although it is not full: brokers take 4 MiB.
const maxBatchBytes = 3 << 20

// add collects a batch and sends it when it is full.
func (s *sender) add(ctx context.Context, n int64, m *protocol.Message) error {
	size := len(m.Body) + len(m.Properties.String())
	if len(s.batch) > 0 && s.size+size > maxBatchBytes {
		if err := s.flush(ctx); err != nil {
			return err
		}
	}
	if len(s.batch) == 0 {
		s.first = n
	}
	s.batch, s.size = append(s.batch, m), s.size+size
	if len(s.batch) < s.r.o.batch {
		return nil
	}
	return s.flush(ctx)
}

func (s *sender) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	batch := s.batch
	s.batch, s.size = nil, 0
	began := time.Now()
	results, err := s.r.producer.SendBatch(ctx, batch)
	if err != nil {
		return hintCreate(fmt.Errorf("batch of messages %d to %d: %w", s.first, s.first+int64(len(batch))-1, err), s.r.o.topic)
	}
	took := time.Since(began)
	for i, result := range results {
		s.r.count(1, len(batch[i].Body))
		if err := s.r.out.print(newResultView(result, took)); err != nil {
			return err
		}
	}
	return nil
}

// finish sends what is collected and waits for what is under way.
func (s *sender) finish(ctx context.Context) error {
	err := s.flush(context.WithoutCancel(ctx))
	s.wg.Wait()
	return joinFirst(s.err, err)
}

func (r *produceRun) count(n int64, bytes int) {
	r.stored.Add(n)
	r.bytes.Add(int64(bytes))
}

// summary tells how much was sent, on a terminal or when it was not all.
func (r *produceRun) summary(err error) {
	n := r.stored.Load()
	var unknown bool
	if errors.Is(err, client.ErrUnknownOutcome) {
		unknown = true
	}
	if n == 0 && r.o.body != nil || n == 1 && err == nil && (r.o.body != nil || !r.errTerminal) {
		return
	}
	took := time.Since(r.began)
	word := "stored"
	if r.o.send == "oneway" {
		word = "sent, unconfirmed"
	}
	text := fmt.Sprintf("%s %s (%s) in %s", countOf(n, "message"), word, render.Bytes(r.bytes.Load()), took.Round(time.Millisecond))
	if n > 1 && took > 0 {
		text += fmt.Sprintf(", %s/s", render.PerSecond(float64(n)/took.Seconds()))
	}
	if failed := r.failed.Load(); failed > 1 { // one is told by the error itself
		text += fmt.Sprintf("; %s failed, the first of them:", render.Count(failed))
	} else if unknown {
		text += "; one more may have been stored"
	}
	r.note("%s", text)
}
