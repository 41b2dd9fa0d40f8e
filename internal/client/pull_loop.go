package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// Pauses of a pull loop that are not settings.
const (
	pausedTurn        = time.Second            // a paused queue looks again, Java's PULL_TIME_DELAY_MILLS_WHEN_SUSPEND
	brokerFlowPause   = 20 * time.Millisecond  // after FLOW_CONTROL, Java's PULL_TIME_DELAY_MILLS_WHEN_BROKER_FLOW_CONTROL
	noPermissionPause = 3 * time.Second        // the broker refuses the group or the topic
	correctionPause   = time.Second            // between two corrections of one queue's offset
	hastyAnswer       = 100 * time.Millisecond // an empty answer that comes sooner was not held back by the broker
	hastyPause        = 200 * time.Millisecond // what paces the loop then
)

// pullLoop finds out where to begin and then reads the queue until ctx ends: PullMessageService and the callback of
// DefaultMQPushConsumerImpl.pullMessage in Java. It is the only one that begins epochs of its queue.
func (q *assignedQueue) pullLoop(ctx context.Context, from From) {
	if q.loadStart(ctx, from) {
		q.run(ctx)
	}
}

// run takes turns until ctx ends, the queue was read up to its until, or its lock was lost.
func (q *assignedQueue) run(ctx context.Context) {
	for q.until == noOffset || q.epoch.Load().pq.Next() < q.until {
		if q.cfg.Orderly && q.epoch.Load().pq.Dropped() {
			return // the lock was lost
		}
		wait, nudge := q.turn(ctx)
		if ctx.Err() != nil {
			return
		}
		if wait > 0 {
			began := time.Now()
			if !pause(ctx, wait, nudge) {
				return
			}
			if stats.Verdict(q.verdict.Load()) != stats.VerdictPull {
				q.blocked.Add(int64(time.Since(began)))
			}
		}
	}
}

// loadStart finds out where to begin and does not give up: without knowing, nothing may be pulled or committed.
func (q *assignedQueue) loadStart(ctx context.Context, from From) (ok bool) {
	for {
		offset, stored, err := q.client.startOffset(ctx, q.store, from, q.mq)
		if err == nil {
			q.setError(nil)
			if old := q.epoch.Load(); old != nil && offset < old.progress.done.Load() {
				q.client.log.Warn("the broker's offset lies behind what was consumed here: messages are repeated",
					"queue", q.mq, "offset", offset, "consumed", old.progress.done.Load())
			}
			q.begin(offset, q.limits(), stored, true)
			q.client.log.Debug("queue taken over", "queue", q.mq, "offset", offset, "stored", stored)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		if q.setError(err) {
			q.client.log.Warn("the start offset is not known yet: the queue waits", "queue", q.mq, "err", err)
		}
		q.afterError(err)
		if !pause(ctx, q.cfg.PullErrorPause, nil) {
			return false
		}
	}
}

// limits are the flow-control limits of one queue.
func (q *assignedQueue) limits() flowLimits {
	if l := q.flow.Load(); l != nil {
		return *l
	}
	return q.ownLimits()
}

func (q *assignedQueue) ownLimits() flowLimits {
	l := flowLimits{count: q.cfg.MaxCachedCount, bytes: q.cfg.MaxCachedMiB << 20, span: q.cfg.MaxSpan, total: q.cfg.CacheTotal}
	if q.cfg.Orderly {
		l.span = 0
	}
	return l
}

// turn is one turn of the ladder: paused, flow control, pull. It returns how long to wait before the next one, and what
// may cut the wait short.
func (q *assignedQueue) turn(ctx context.Context) (wait time.Duration, nudge <-chan struct{}) {
	e := q.epoch.Load()
	if q.paused.Load() {
		return pausedTurn, q.resumed
	}
	if q.cfg.Orderly && !q.lockHeld(time.Now()) {
		return lockPause, nil // lockLoop renews it or finds out that it is lost
	}
	v, cache := e.pq.Verdict()
	q.hit(v)
	if v != stats.VerdictPull {
		q.logHeldBack(e, v, cache)
		return q.cfg.FlowControlPause, e.pq.room
	}
	began := time.Now()
	res, err := q.pull(ctx, e)
	if ctx.Err() != nil {
		return 0, nil
	}
	if err != nil {
		return q.onPullError(ctx, err), nil
	}
	if q.setError(nil) {
		q.client.log.Info("pulling again", "queue", q.mq)
	}
	return q.onPulled(ctx, e, res, began), nil
}

// logHeldBack writes the 1st, 1001st, … refusal of each kind, as Java does for a whole consumer.
func (q *assignedQueue) logHeldBack(e *queueEpoch, v stats.Verdict, c cacheState) {
	n := q.hits[v-1].Load()
	if n%1000 != 1 {
		return
	}
	log := q.client.log.Warn
	if q.inline {
		log = q.client.log.Debug // a reader is held back by whoever reads, as a pipe is: no news
	}
	log("flow control holds the queue back", "queue", q.mq, "limit", v, "hits", n,
		"min_offset", e.pq.Low(), "next_offset", e.pq.Next(), "count", c.count, "bytes", c.bytes, "span", c.span)
}

// onPulled takes in one answer.
func (q *assignedQueue) onPulled(ctx context.Context, e *queueEpoch, res *pullResult, began time.Time) (wait time.Duration) {
	now := time.Now()
	q.pulls.Add(1)
	q.lastPull.Store(now.UnixMilli())
	if res.status == protocol.CodePullOffsetMoved {
		return q.onOffsetMoved(ctx, e, res)
	}
	q.brokerMin.Store(res.minOffset)
	q.brokerMax.Store(res.maxOffset)
	q.takeoverAt.CompareAndSwap(noOffset, res.maxOffset)
	if res.next < e.pq.Next() {
		q.client.log.Warn("the broker's next offset goes backwards", "queue", q.mq, "asked", e.pq.Next(), "next", res.next)
	}
	before := e.pq.Next()
	accepted, low, ok := e.pq.Put(res.messages, res.next)
	if !ok {
		return 0 // the lock was lost while the pull was under way
	}
	e.progress.advance(low)
	if accepted > 0 {
		q.pulled.Add(int64(accepted))
		took := int64(now.Sub(began))
		q.pullRT.Store(took)
		q.pullsFound.Add(1)
		q.pullTime.Add(took)
		q.ready.push(e)
	}
	stuck := e.pq.Next() == before
	if stuck && now.Sub(began) < hastyAnswer {
		return hastyPause // nothing new and the broker did not hold the pull: it must not become a busy loop
	}
	return q.cfg.PullInterval
}

// onOffsetMoved follows the broker to the offset it names: below its minimum, beyond its maximum, or reset. The old
// epoch ends, so late results cannot overwrite the correction, and the correction is saved although no message follows.
func (q *assignedQueue) onOffsetMoved(ctx context.Context, e *queueEpoch, res *pullResult) time.Duration {
	q.client.log.Warn("the broker moved the offset", "queue", q.mq, "old", e.pq.Next(), "new", res.next, "min", res.minOffset, "max", res.maxOffset)
	next := q.begin(res.next, q.limits(), false, false)
	if err := q.saveProgress(ctx, next); err != nil {
		q.client.log.Warn("the corrected offset is not saved yet", "queue", q.mq, "err", err)
	}
	return correctionPause
}

// saveProgress stores the epoch's progress if the store does not have it. One save of a queue is under way at a time: of two
// the later one could be stored first and the offset would fall, and one of an epoch that has ended would undo a reset.
func (q *assignedQueue) saveProgress(ctx context.Context, e *queueEpoch) error {
	return q.save(ctx, e, false)
}

// save is saveProgress; last lets it save what was given up.
func (q *assignedQueue) save(ctx context.Context, e *queueEpoch, last bool) error {
	if _, ok := e.progress.unsaved(); !ok || q.store == nil || q.cfg.NeverCommit {
		return nil
	}
	select {
	case q.saving <- struct{}{}:
		defer func() { <-q.saving }()
	case <-ctx.Done():
		return fmt.Errorf("commit %s: %w", q.mq, ctx.Err())
	}
	offset, ok := e.progress.unsaved()
	if !ok || q.epoch.Load() != e || q.gone.Load() && !last {
		return nil
	}
	if err := q.learnFloor(ctx, e); err != nil || offset < e.floor {
		return err
	}
	if err := q.store.save(ctx, q.mq, offset); err != nil {
		return err
	}
	e.progress.saved.Store(offset)
	return nil
}

// confirmProgress makes sure that the store has what the epoch has finished, although it said so before: a save of the
// queue's last owner can arrive late, and a broker that crashes forgets its latest offsets. It leaves an offset alone that is ahead.
func (q *assignedQueue) confirmProgress(ctx context.Context, e *queueEpoch) error {
	return q.confirm(ctx, e, false)
}

// lastSave is confirmProgress for a queue that is given up: whatever else wants to save it comes too late.
func (q *assignedQueue) lastSave(ctx context.Context, e *queueEpoch) error {
	q.gone.Store(true)
	return q.confirm(ctx, e, true)
}

func (q *assignedQueue) confirm(ctx context.Context, e *queueEpoch, last bool) error {
	saved := e.progress.saved.Load()
	if saved != noOffset && saved > e.progress.first && q.store != nil && q.store.remote() && !q.cfg.NeverCommit {
		stored, err := q.store.load(ctx, q.mq)
		if err != nil && !errors.Is(err, ErrNoOffset) {
			return err
		}
		if err == nil && stored > e.progress.done.Load() {
			return nil // somebody else has taken the queue over and is ahead
		}
		if err != nil || stored < saved {
			e.progress.saved.CompareAndSwap(saved, noOffset)
		}
	}
	return q.save(ctx, e, last)
}

// learnFloor asks once, before the first save of a queue that was taken over, how far its last owner had come: it may have
// saved after we asked where to begin. We repeat its messages then, but the commit must not fall.
func (q *assignedQueue) learnFloor(ctx context.Context, e *queueEpoch) error {
	if !e.unsure || !q.store.remote() {
		return nil
	}
	stored, err := q.store.load(ctx, q.mq)
	if err != nil && !errors.Is(err, ErrNoOffset) {
		return err
	}
	e.unsure, e.floor = false, stored
	return nil
}

// onPullError reacts to a failed pull and returns how long to wait.
func (q *assignedQueue) onPullError(ctx context.Context, err error) time.Duration {
	if q.setError(err) {
		q.client.log.Warn("pull failed", "queue", q.mq, "err", err)
	}
	q.afterError(err)
	code, answered := CodeOf(err)
	switch {
	case answered && code == protocol.CodeFlowControl:
		q.hit(stats.VerdictBroker)
		return brokerFlowPause
	case answered && code == protocol.CodeSystemBusy:
		q.hit(stats.VerdictBroker)
	case answered && code == protocol.CodeNoPermission:
		return noPermissionPause
	}
	return q.cfg.PullErrorPause
}

// afterError nudges the loop that can mend the cause: heartbeats when the broker does not know the group's subscription,
// routes when the topic or the broker is not where it was.
func (q *assignedQueue) afterError(err error) {
	code, answered := CodeOf(err)
	switch {
	case !answered, errors.Is(err, ErrBrokerNotFound):
		wake(q.client.wakeRoute)
	case code == protocol.CodeSubscriptionNotExist || code == protocol.CodeSubscriptionNotLatest ||
		code == protocol.CodeFilterDataNotExist || code == protocol.CodeFilterDataNotLatest ||
		code == protocol.CodeSubscriptionGroupNotExist:
		wake(q.client.wakeHeartbeat)
	case code == protocol.CodeTopicNotExist || code == protocol.CodeInvalidParameter:
		wake(q.client.wakeRoute)
	}
}
