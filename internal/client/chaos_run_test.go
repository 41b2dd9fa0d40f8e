package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/history"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// chaosPlan is everything about a run that follows from its seed.
type chaosPlan struct {
	seed      uint64
	orderly   bool
	queues    int // on each of two brokers
	members   int
	producers int
	messages  int           // of each producer
	pace      time.Duration // between two messages of a producer
	workers   int
	batch     int
	faults    []chaosFault
}

const chaosAttempts = 3 // of a message that always fails

// chaosRun is one run in a bubble.
type chaosRun struct {
	t       testing.TB
	plan    chaosPlan
	cluster *testcluster.Cluster
	box     *sandbox.Sandbox
	topic   string
	group   string
	rec     *recorder
	tap     *tap

	turn    chan struct{}   // capacity 1: whoever has put a token in may touch the following
	members []*chaosMember  // alive
	busy    map[string]bool // what some fault strikes
	leaving int             // goroutines that end crashed clients
	left    chan struct{}
	born    atomic.Int64 // members ever
	pending atomic.Int64 // faults that are not over
	began   time.Time
	took    time.Duration // virtual
}

// chaosMember is one incarnation of a consumer with a client and a network address of its own.
type chaosMember struct {
	run      *chaosRun
	name     string
	host     string
	client   *client.Client
	consumer *client.PushConsumer
	batches  atomic.Int64
	pausedTo atomic.Int64 // ns: handlers wait until then
	waited   atomic.Int64 // handlers that did
}

func newChaosRun(t testing.TB, plan chaosPlan) *chaosRun {
	k := testcluster.NewSandbox(t, sandbox.Options{Brokers: 2, Seed: plan.seed + 1}, true)
	r := &chaosRun{
		t: t, plan: plan, cluster: k, box: k.Sandbox(), topic: "t", group: "g", tap: newTap(),
		turn: make(chan struct{}, 1), busy: map[string]bool{}, left: make(chan struct{}, 64), began: time.Now(),
	}
	k.CreateTopic(r.topic, plan.queues)
	r.rec = newRecorder(r.group, r.topic)
	meta := history.Meta{
		Group: r.group, Mode: history.ModeConcurrent, Topics: []string{r.topic}, FromFirst: true, Attempts: chaosAttempts, Observed: true,
		MinRate: 0.5,
	}
	if plan.orderly {
		meta.Mode = history.ModeOrderly
	}
	for _, f := range plan.faults {
		meta.Faults = append(meta.Faults, f.id)
	}
	r.rec.add(history.Event{Type: history.TypeMeta, Meta: &meta})
	r.box.Observe(r.rec.changed)
	return r
}

// run plays the plan to its end: load and faults side by side, then everything is healed, drained and stopped.
func (r *chaosRun) run() {
	for range r.plan.members {
		r.join()
	}
	ended := make(chan struct{})
	for i := range r.plan.producers {
		go r.produce(i, ended)
	}
	r.pending.Store(int64(len(r.plan.faults)))
	for _, f := range r.plan.faults {
		go func() {
			time.Sleep(f.at)
			r.play(f)
			r.pending.Add(-1)
			ended <- struct{}{}
		}()
	}
	for range r.plan.producers + len(r.plan.faults) {
		<-ended
	}
	r.drain()
	r.stop()
}

// drain waits until every stored message was consumed or is a dead letter, and until that is committed: somebody must own
// every queue for it.
func (r *chaosRun) drain() {
	for deadline := time.Now().Add(10 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		if r.rec.open() == 0 && r.behind() == "" {
			return
		}
	}
	r.t.Errorf("seed %d: ten minutes after the last fault %d messages are not consumed; %s", r.plan.seed, r.rec.open(), r.behind())
}

// behind names a queue whose commit is not at its end, "" when there is none.
func (r *chaosRun) behind() string {
	for _, topic := range []string{r.topic, protocol.RetryTopic(r.group)} {
		for _, mq := range r.box.Queues(topic) {
			_, end, err := r.box.Bounds(mq)
			at, _ := r.box.Offset(r.group, mq)
			if err != nil || at != end {
				return fmt.Sprintf("%s is committed at %d, its end is %d", mq, at, end)
			}
		}
	}
	return ""
}

// stop closes all members, which must succeed now, and looks at what they left.
func (r *chaosRun) stop() {
	for _, m := range r.present() {
		if err := r.leave(m); err != nil {
			r.t.Errorf("seed %d: a member did not stop cleanly although nothing is broken any more: %v", r.plan.seed, err)
		}
	}
	for ; r.leaving > 0; r.leaving-- {
		<-r.left
	}
	if where := r.behind(); where != "" {
		r.t.Errorf("seed %d: after everybody has stopped %s", r.plan.seed, where)
	}
}

// guarded runs fn while nobody else touches members and busy.
func (r *chaosRun) guarded(fn func()) {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	fn()
}

// present is the members alive.
func (r *chaosRun) present() (list []*chaosMember) {
	r.guarded(func() { list = slices.Clone(r.members) })
	return list
}

func (r *chaosRun) remove(m *chaosMember) {
	r.guarded(func() { r.members = slices.DeleteFunc(r.members, func(x *chaosMember) bool { return x == m }) })
}

// join starts a member.
func (r *chaosRun) join() {
	n := r.born.Add(1)
	m := &chaosMember{run: r, name: fmt.Sprintf("m%d", n), host: fmt.Sprintf("10.0.%d.%d", n/200, n%200+1)}
	r.rec.know(m.host, m.name)
	m.client = r.client(m.name, m.host)
	cfg := client.ConsumerConfig{
		Group: r.group, Subscriptions: []client.Subscription{{Topic: r.topic}}, Handler: m.handle, From: client.From{Where: client.FromFirst},
		Orderly: r.plan.orderly, Workers: r.plan.workers, BatchSize: r.plan.batch, MaxReconsume: chaosAttempts - 1,
		SuspendPause: 200 * time.Millisecond, LocalRetryPause: 2 * time.Second, OnEvent: m.onEvent,
	}
	for {
		p, err := m.client.StartPushConsumer(r.t.Context(), cfg)
		if err == nil {
			m.consumer = p
			r.guarded(func() { r.members = append(r.members, m) })
			return
		}
		time.Sleep(time.Second) // a broker or the name server is away
	}
}

func (r *chaosRun) client(name, host string) *client.Client {
	cfg := r.cluster.Config()
	cfg.ClientID = name
	cfg.Dial = r.tap.dial(host, r.cluster.Net.DialFrom(host))
	c, err := client.New(cfg)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := c.Start(context.WithoutCancel(r.t.Context())); err != nil {
		r.t.Fatal(err)
	}
	return c
}

// leave stops a member as a user would.
func (r *chaosRun) leave(m *chaosMember) error {
	r.remove(m)
	r.rec.add(history.Event{Type: history.TypeStopping, Member: m.name})
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := m.client.Close(ctx)
	r.rec.add(history.Event{Type: history.TypeStop, Member: m.name, Clean: err == nil})
	return err
}

// crash ends a member without a word: killed, its connections are reset and nothing can be dialled; vanished, nothing
// arrives any more in either direction and the brokers find out by its silence.
func (r *chaosRun) crash(m *chaosMember, vanish bool) {
	r.remove(m)
	f := r.cluster.Net.Faults(m.host)
	if vanish {
		f.Blackhole(3)
	} else {
		f.Refuse()
		f.Cut()
	}
	r.rec.crash(m.name)
	r.guarded(func() { r.leaving++ })
	go func() { // the goroutines of a dead process have to end somehow
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = m.client.Close(ctx) // it cannot succeed
		r.left <- struct{}{}
	}()
}

// handle is the handler of every member: what becomes of a message follows from its number.
func (m *chaosMember) handle(ctx context.Context, b *client.Batch) client.Result {
	batch := m.batches.Add(1)
	seqs := make([]int64, len(b.Messages))
	for i, msg := range b.Messages {
		e := m.event(history.TypeDeliver, b, msg, batch)
		e.Hash, e.Attempt = history.HashOf(msg.Body), msg.ReconsumeTimes
		identify(&e, msg)
		seqs[i] = e.Seq
		if !m.run.rec.add(e) {
			<-ctx.Done() // killed
			return client.Leave
		}
	}
	result := client.Success
	if !m.work(ctx, seqs[0]) {
		result = client.Leave
	} else if slices.ContainsFunc(b.Messages, fails) {
		result = client.Later
		b.DelayLevel = 1
	}
	for _, msg := range b.Messages {
		e := m.event(history.TypeDone, b, msg, batch)
		e.Result = [...]string{client.Success: history.ResultSuccess, client.Later: history.ResultLater, client.Leave: history.ResultLeave}[result]
		m.run.rec.add(e)
	}
	if result == client.Later && seqs[0]%5 == 0 {
		panic("as bad handlers do")
	}
	return result
}

func (m *chaosMember) event(kind history.Type, b *client.Batch, msg *protocol.MessageExt, batch int64) history.Event {
	return history.Event{
		Type: kind, Group: m.run.group, Member: m.name, Queue: b.Queue.String(), Epoch: b.Epoch, Offset: msg.QueueOffset, Batch: batch,
	}
}

// fails decides about a message: some fail at first, a few always.
func fails(msg *protocol.MessageExt) bool {
	seq, _ := strconv.ParseInt(msg.Property(history.PropertySeq), 10, 64)
	return seq%23 == 7 && msg.ReconsumeTimes == 0 || seq%97 == 13
}

// work takes its time; false when it was interrupted.
func (m *chaosMember) work(ctx context.Context, seq int64) bool {
	wait := time.Duration(seq*7919%20) * time.Millisecond
	if until := time.Unix(0, m.pausedTo.Load()); time.Until(until) > wait {
		wait = time.Until(until)
		m.waited.Add(1)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// produce sends the messages of one producer, each until it is known to be stored.
func (r *chaosRun) produce(i int, ended chan<- struct{}) {
	defer func() { ended <- struct{}{} }()
	name := fmt.Sprintf("p%d", i+1)
	c := r.client(name, fmt.Sprintf("10.1.0.%d", i+1))
	p, err := c.StartProducer(r.t.Context(), client.ProducerConfig{Group: name})
	if err != nil {
		r.t.Error(err)
		return
	}
	rng := rand.New(rand.NewPCG(r.plan.seed, uint64(100+i)))
	for seq := int64(0); seq < int64(r.plan.messages) || r.pending.Load() > 0; seq++ {
		time.Sleep(r.plan.pace/2 + rand.N(r.plan.pace))
		m := r.message(name, seq, rng)
		for !r.send(p, m, name, seq) {
			time.Sleep(300 * time.Millisecond)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = c.Close(ctx) // what matters was acknowledged
}

func (r *chaosRun) message(producer string, seq int64, rng *rand.Rand) *protocol.Message {
	size := rng.IntN(200)
	if seq%64 == 63 {
		size = 5000 // is compressed
	}
	body := fmt.Sprintf("%s %d %s", producer, seq, strings.Repeat("x", size))
	return &protocol.Message{Topic: r.topic, Body: []byte(body), Properties: protocol.Properties{
		{Name: history.PropertyProducer, Value: producer}, {Name: history.PropertySeq, Value: strconv.FormatInt(seq, 10)},
	}}
}

// send makes one call and records what it said.
func (r *chaosRun) send(p *client.Producer, m *protocol.Message, producer string, seq int64) (stored bool) {
	e := history.Event{Type: history.TypeSend, Producer: producer, Seq: seq, Hash: history.HashOf(m.Body)}
	key := ""
	if r.plan.orderly {
		key = fmt.Sprintf("k%d", seq%7)
		e.Key = key
	}
	r.rec.add(e)
	var res client.SendResult
	var err error
	if r.plan.orderly {
		res, err = p.SendOrdered(r.t.Context(), m, key)
	} else {
		res, err = p.Send(r.t.Context(), m)
	}
	told := history.Event{Type: history.TypeSendAck, Producer: producer, Seq: seq, By: history.ByClient}
	switch {
	case err == nil:
		told.Result, told.Queue, told.Offset = history.ResultOK, res.MessageQueue.String(), res.Offset
	case errors.Is(err, client.ErrUnknownOutcome):
		told.Result = history.ResultUnknown
	default:
		told.Result = history.ResultFailed
	}
	r.rec.add(told)
	return err == nil
}
