package sandbox

import (
	"time"

	"mqctl/internal/protocol"
)

// lockTable is the locks of one group. A locked queue need not exist, nor be this broker's.
type lockTable map[protocol.MessageQueue]*lock

// lock is a queue lock of an orderly consumer.
type lock struct {
	clientID string
	at       time.Time // when it was taken or refreshed last
}

func (l *lock) expired(now time.Time) bool { return now.Sub(l.at) > lockLife }

// tryLock takes or refreshes a lock.
func (b *broker) tryLock(group string, mq protocol.MessageQueue, clientID string) bool {
	now := b.sandbox.now()
	table := b.locks[group]
	if table == nil {
		table = lockTable{}
		b.locks[group] = table
	}
	l := table[mq]
	switch {
	case l == nil && len(table) >= maxLocks:
		return false
	case l != nil && l.clientID != clientID && !l.expired(now):
		b.tell(Change{Kind: LockRefused, Queue: mq, Group: group, LockID: clientID})
		return false
	}
	table[mq] = &lock{clientID: clientID, at: now}
	b.sandbox.writes.Locks++
	b.tell(Change{Kind: Locked, Queue: mq, Group: group, LockID: clientID})
	return true
}

// unlock gives a lock back, if it is the client's.
func (b *broker) unlock(group string, mq protocol.MessageQueue, clientID string) {
	if l := b.locks[group][mq]; l != nil && l.clientID == clientID {
		delete(b.locks[group], mq)
		b.sandbox.writes.Locks++
		b.tell(Change{Kind: Unlocked, Queue: mq, Group: group, LockID: clientID})
	}
}

// holdsLocks reports whether any member of a group holds a lock: then it consumes in order.
func (b *broker) holdsLocks(group string) bool {
	for _, l := range b.locks[group] {
		if !l.expired(b.sandbox.now()) {
			return true
		}
	}
	return false
}
