package client

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// puller is what the pull loops of one consumer share.
type puller struct {
	client *Client
	group  string
	cfg    ConsumerConfig
	ready  *readyList
	store  offsetStore // nil: nothing is loaded or saved
	// subscription is the topic's filter in force.
	subscription func(topic string) *protocol.SubscriptionData
	// inline sends the subscription in each pull, so that the group needs no member that said so in a heartbeat.
	inline bool

	cachedBytes atomic.Int64
	epochs      atomic.Int64
	bodyErrors  atomic.Int64 // messages whose body could not be unpacked
}

// assignedQueue is one MessageQueue that this consumer reads: its pull loop and what the loop shares with others.
type assignedQueue struct {
	*puller
	mq     protocol.MessageQueue
	cancel context.CancelFunc
	ended  chan struct{} // closed when the pull loop has ended; a new one for each start
	until  int64         // the loop ends when everything below it was fetched; noOffset: never

	epoch   atomic.Pointer[queueEpoch] // nil until the start offset is known
	saving  chan struct{}              // capacity 1: whoever has put a token in may save the offset
	paused  atomic.Bool
	flow    atomic.Pointer[flowLimits] // limits in force when they are not the consumer's own
	replica atomic.Int64               // the broker id that the last answer suggested to read from
	resumed chan struct{}              // nudged by resume
	leaving atomic.Bool                // revoked, waiting for its running handler
	gone    atomic.Bool                // given up: only its last save counts, a later one would undo the next owner's

	// orderly consumption
	lockedAt atomic.Pointer[time.Time] // when the lock was last granted; nil while it is not held
	busy     atomic.Bool               // a worker handles the queue, or a batch of it waits to be handled again
	idle     chan struct{}             // nudged when busy ends

	// counters; written by the loop and the workers, read by snapshots
	hits        [5]atomic.Int64 // by verdict, VerdictCount first
	verdict     atomic.Uint32   // of the latest turn
	blocked     atomic.Int64    // ns held back
	pulls       atomic.Int64
	pulled      atomic.Int64 // messages received
	pullsFound  atomic.Int64 // pulls that found messages
	pullTime    atomic.Int64 // ns of those
	consumed    atomic.Int64
	failed      atomic.Int64
	consumeTime atomic.Int64 // ns in handlers
	lastPull    atomic.Int64 // ms since the epoch, 0 never
	lastTaken   atomic.Int64 // ms since the epoch, 0 never: when a handler last began or ended
	pullRT      atomic.Int64 // ns of the last pull that found messages
	brokerMin   atomic.Int64 // noOffset before the first answer
	brokerMax   atomic.Int64
	takeoverAt  atomic.Int64 // the queue's end when it was taken over; noOffset before the first answer

	mu        sync.Mutex
	lastError string
}

// queueEpoch is one uninterrupted reading of a queue. A seek, a reset and a corrected offset begin a new one; answers
// and results of an older one count for nothing.
type queueEpoch struct {
	queue    *assignedQueue
	number   int64
	pq       *ProcessQueue
	progress *progress
	listed   bool // guarded by readyList.mu

	// unsure says that the owner before may have saved more after we asked where to begin; guarded by queue.saving.
	unsure bool
	floor  int64 // what it had saved; nothing below is saved by this epoch; guarded by queue.saving
	ended  atomic.Bool
}

func (p *puller) newAssignedQueue(mq protocol.MessageQueue) *assignedQueue {
	q := &assignedQueue{puller: p, mq: mq, ended: make(chan struct{}), resumed: make(chan struct{}, 1), cancel: func() {}, until: noOffset, idle: make(chan struct{}, 1), saving: make(chan struct{}, 1)}
	q.brokerMin.Store(noOffset)
	q.brokerMax.Store(noOffset)
	q.takeoverAt.Store(noOffset)
	return q
}

// startLoop runs the pull loop of q until halt or the end of the client.
func (q *assignedQueue) startLoop(run func(ctx context.Context)) {
	ctx, cancel := context.WithCancel(q.client.ctx)
	ended := make(chan struct{})
	q.cancel, q.ended = cancel, ended
	q.client.loops.Go(func() {
		defer close(ended)
		defer cancel()
		run(ctx)
	})
}

// halt ends the pull loop and waits for it; what is cached stays.
func (q *assignedQueue) halt() {
	q.cancel()
	<-q.ended
}

// drop forgets what is cached and makes late results count for nothing.
func (q *assignedQueue) drop() {
	if e := q.epoch.Load(); e != nil {
		e.end()
	}
}

// begin opens a new epoch that reads from offset. With saved, the store has that offset already; with takeover, somebody
// else may have owned the queue until now.
func (q *assignedQueue) begin(offset int64, limits flowLimits, saved, takeover bool) *queueEpoch {
	e := &queueEpoch{
		queue: q, number: q.epochs.Add(1), pq: newProcessQueue(offset, limits, &q.cachedBytes), progress: newProgress(),
		unsure: takeover,
	}
	e.progress.first = offset
	e.progress.done.Store(offset)
	if saved {
		e.progress.saved.Store(offset)
	}
	if old := q.epoch.Swap(e); old != nil {
		old.end()
	}
	q.tell(QueueTaken, e, offset)
	return e
}

func (q *assignedQueue) hit(v stats.Verdict) {
	q.verdict.Store(uint32(v))
	if v != stats.VerdictPull {
		q.hits[v-1].Add(1)
	}
}

// setError remembers the latest failure; it reports whether it is a new one, worth a log line.
func (q *assignedQueue) setError(err error) (news bool) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	news = q.lastError != text
	q.lastError = text
	return news
}

// snapshot copies the queue's numbers.
func (q *assignedQueue) snapshot(now time.Time) stats.Queue {
	s := stats.Queue{
		Topic: q.mq.Topic, Broker: q.mq.BrokerName, QueueID: q.mq.QueueID,
		BrokerMin: offsetOrNil(q.brokerMin.Load()), BrokerMax: offsetOrNil(q.brokerMax.Load()),
		Paused: q.paused.Load(), Locked: q.lockedAt.Load() != nil, Last: stats.Verdict(q.verdict.Load()).String(),
		Hits: stats.Hits{
			Count: q.hits[0].Load(), Size: q.hits[1].Load(), Span: q.hits[2].Load(), Total: q.hits[3].Load(), Broker: q.hits[4].Load(),
		},
		Blocked: time.Duration(q.blocked.Load()), Pulls: q.pulls.Load(), Consumed: q.consumed.Load(), Failed: q.failed.Load(),
		LastPull: timeOrNil(q.lastPull.Load()), LastConsume: timeOrNil(q.lastTaken.Load()),
	}
	if rt := q.pullRT.Load(); rt > 0 {
		d := time.Duration(rt)
		s.PullRT = &d
	}
	q.mu.Lock()
	s.LastError = q.lastError
	q.mu.Unlock()
	e := q.epoch.Load()
	if e == nil {
		return s
	}
	s.Epoch = e.number
	if oldest := e.pq.fill(&s); oldest != nil {
		age := max(0, now.Sub(oldest.StoreTime()))
		s.OldestAge = &age
	}
	next := e.pq.Next()
	s.NextOffset = &next
	s.Consumable = offsetOrNil(e.progress.done.Load())
	s.Committed = offsetOrNil(e.progress.saved.Load())
	if s.BrokerMax != nil && s.Committed != nil {
		lag := max(0, *s.BrokerMax-*s.Committed)
		s.Lag = &lag
	}
	return s
}

func timeOrNil(ms int64) *time.Time {
	if ms == 0 {
		return nil
	}
	t := time.UnixMilli(ms)
	return &t
}
