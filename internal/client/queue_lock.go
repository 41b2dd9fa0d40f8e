package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
)

// Times of the queue locks of orderly consumption.
const (
	lockRenewal     = 20 * time.Second // Java's ProcessQueue.REBALANCE_LOCK_INTERVAL
	lockLease       = 30 * time.Second // after that without an answer no handler starts, Java's REBALANCE_LOCK_MAX_LIVE_TIME
	brokerLockLease = 60 * time.Second // after that the broker may have given the queue to somebody else
	lockPause       = 3 * time.Second  // a queue without its lock tries again, Java's PULL_TIME_DELAY_MILLS_WHEN_LOCK
	unlockWait      = 20 * time.Second // how long a revoked queue waits for its running handler, Java's UNLOCK_DELAY_TIME_MILLS
)

// lockHeld reports whether q's lock is surely ours at now.
func (q *assignedQueue) lockHeld(now time.Time) bool {
	at := q.lockedAt.Load()
	return at != nil && now.Sub(*at) < lockLease
}

// lockQueues asks one broker to lock queues for this client (request 41). What it grants is marked as held from before
// the request on; what it refuses is lost, and with it everything cached: somebody else may be handling it.
func (p *PushConsumer) lockQueues(ctx context.Context, broker string, queues []*assignedQueue) error {
	addr, err := p.client.BrokerAddr(broker)
	if err != nil {
		return fmt.Errorf("lock queues of %s: %w", broker, err)
	}
	asked := time.Now()
	body := &protocol.LockBatchBody{ClientID: p.client.id, ConsumerGroup: p.group, MQSet: queuesOf(queues)}
	resp, err := p.client.callWithin(ctx, addr, protocol.NewBodyRequest(protocol.LockBatchMQ, body.Encode()))
	if err != nil {
		return fmt.Errorf("lock queues of %s: %w", broker, err)
	}
	granted, err := protocol.DecodeLockBatchResult(resp.Body)
	if err != nil {
		return fmt.Errorf("lock queues of %s: answer of %s: %w", broker, addr, err)
	}
	var g errgroup.Group
	g.SetLimit(persistParallel)
	for _, q := range queues {
		if !slices.Contains(granted.LockOKMQSet, q.mq) {
			q.loseLock("the broker refused it")
			continue
		}
		g.Go(func() error {
			if q.overtaken(ctx) {
				q.loseLock("another member has consumed the queue meanwhile")
			} else {
				q.grantLock(asked)
			}
			return nil
		})
	}
	return g.Wait()
}

// overtaken reports whether another member has finished more of the queue than this one knows of. Brokers forget locks when
// they restart: somebody else may have had the lock and given it back between two renewals, and nothing tells of it. Going on
// with what is cached would then repeat messages out of order.
func (q *assignedQueue) overtaken(ctx context.Context) bool {
	e := q.epoch.Load()
	if e == nil || e.pq.Dropped() || !q.store.remote() || q.cfg.NeverCommit {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, q.client.cfg.CallTimeout)
	defer cancel()
	stored, err := q.store.load(ctx, q.mq)
	return err == nil && stored > e.progress.done.Load()
}

// grantLock notes that the broker holds the lock for us since at least asked. After a gap in which the broker may have
// given it away, what is cached is out of date.
func (q *assignedQueue) grantLock(asked time.Time) {
	if old := q.lockedAt.Swap(&asked); old != nil && asked.Sub(*old) >= brokerLockLease {
		q.drop()
	}
}

func (q *assignedQueue) loseLock(why string) {
	if q.lockedAt.Swap(nil) != nil {
		q.client.log.Warn("queue lock lost", "queue", q.mq, "why", why)
	}
	q.drop()
}

// lockLoop renews the locks of every owned queue, Java's ConsumeMessageOrderlyService.lockMQPeriodically.
func (p *PushConsumer) lockLoop() {
	for pause(p.handlerCtx, lockRenewal, nil) {
		p.renewLocks(p.handlerCtx)
	}
}

func (p *PushConsumer) renewLocks(ctx context.Context) {
	held := slices.DeleteFunc(p.table.all(), func(q *assignedQueue) bool { return q.lockedAt.Load() == nil || q.leaving.Load() })
	p.eachBroker(held, func(broker string, queues []*assignedQueue) {
		if err := p.lockQueues(ctx, broker, queues); err != nil && ctx.Err() == nil {
			p.client.log.Warn("queue locks are not renewed", "broker", broker, "queues", len(queues), "err", err)
		}
	})
}

// eachBroker calls f side by side for the queues of each broker, and waits.
func (p *PushConsumer) eachBroker(queues []*assignedQueue, f func(broker string, queues []*assignedQueue)) {
	byBroker := map[string][]*assignedQueue{}
	for _, q := range queues {
		byBroker[q.mq.BrokerName] = append(byBroker[q.mq.BrokerName], q)
	}
	var g errgroup.Group
	for broker, list := range byBroker {
		g.Go(func() error { f(broker, list); return nil })
	}
	_ = g.Wait()
}

// acquireLock waits until the queue's lock is held; false when ctx ended first.
func (p *PushConsumer) acquireLock(ctx context.Context, q *assignedQueue) bool {
	for {
		if q.lockHeld(time.Now()) {
			return true
		}
		err := p.lockQueues(ctx, q.mq.BrokerName, []*assignedQueue{q})
		if ctx.Err() != nil {
			return false
		}
		if err == nil && q.lockHeld(time.Now()) {
			return true
		}
		if err == nil {
			err = errors.New("another member holds the lock")
		}
		if q.setError(err) {
			p.client.log.Info("waiting for the queue lock", "queue", q.mq, "err", err)
		}
		q.afterError(err)
		if !pause(ctx, lockPause, nil) {
			return false
		}
	}
}

// unlock gives queues back to their brokers (request 42).
func (p *PushConsumer) unlock(ctx context.Context, queues []*assignedQueue) {
	held := slices.DeleteFunc(slices.Clone(queues), func(q *assignedQueue) bool { return q.lockedAt.Swap(nil) == nil })
	p.eachBroker(held, func(broker string, list []*assignedQueue) {
		addr, err := p.client.BrokerAddr(broker)
		if err == nil {
			body := &protocol.LockBatchBody{ClientID: p.client.id, ConsumerGroup: p.group, MQSet: queuesOf(list)}
			_, err = p.client.callWithin(ctx, addr, protocol.NewBodyRequest(protocol.UnlockBatchMQ, body.Encode()))
		}
		if err != nil {
			p.client.log.Debug("queues are not unlocked: their locks expire within a minute", "broker", broker, "err", err)
		}
	})
}
