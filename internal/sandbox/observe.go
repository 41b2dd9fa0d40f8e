package sandbox

import (
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// ChangeKind says what an observed Change is about.
type ChangeKind uint8

// The kinds of changes.
const (
	Stored      ChangeKind = iota // a message got its place in a queue: sent, delivered after a delay, or handed back
	SentBack                      // CONSUMER_SEND_MSG_BACK has stored a copy; Queue and Offset are where the message came from
	Committed                     // a group's offset was stored
	Locked                        // a queue lock was granted or refreshed
	LockRefused                   // a queue lock was asked for, but another client holds it
	Unlocked                      // a client gave its queue lock back
	LockLost                      // a queue lock was forgotten without its holder's doing
	OffsetLost                    // a group's offset fell back to what was written down, to -1 for nothing
)

// Change is something that has changed inside the sandbox, as it happens. It is the truth about acknowledgements, whatever
// clients believe: a message that is stored may never be lost, and an offset that is committed may skip nothing.
type Change struct {
	Kind    ChangeKind
	Broker  string
	Queue   protocol.MessageQueue
	Offset  int64                // Stored: the message's own; Committed and OffsetLost: the group's
	Group   string               // of offsets, SentBack, and about locks
	Client  string               // who asked: ip:port of the connection; "" when the sandbox or a method of it did
	LockID  string               // about locks: the client id of the lock
	Message *protocol.MessageExt // Stored and SentBack: what was stored; valid during the call only
	Request protocol.RequestCode // that caused it; 0 when none did
	Oneway  bool                 // nobody waits for the request's answer
}

// changes is who wants to know about changes, and what is being handled.
type changes struct {
	observers []*observer
	request   *request // nil between requests
}

type observer struct{ fn func(*Change) }

// Observe has fn called for every change from now on. It runs on the goroutine that owns the sandbox: it must not block,
// and must not call the Sandbox's methods. remove ends that.
func (s *Sandbox) Observe(fn func(*Change)) (remove func()) {
	o := &observer{fn}
	s.do(func() { s.changes.observers = append(s.changes.observers, o) })
	return func() {
		s.do(func() {
			s.changes.observers = slices.DeleteFunc(slices.Clone(s.changes.observers), func(x *observer) bool { return x == o })
		})
	}
}

// tell reports a change at b to the observers; it fills in what the request in hand knows.
func (b *broker) tell(c Change) {
	w := &b.sandbox.changes
	if len(w.observers) == 0 {
		return
	}
	c.Broker = b.node()
	if r := w.request; r != nil {
		c.Client, c.Request, c.Oneway = r.peer.addr.String(), r.RequestCode(), r.IsOneway()
	}
	for _, o := range w.observers {
		o.fn(&c)
	}
}

// loseLocks forgets all queue locks: a real broker keeps them in memory only.
func (b *broker) loseLocks() {
	for _, group := range slices.Sorted(maps.Keys(b.locks)) {
		for _, mq := range slices.SortedFunc(maps.Keys(b.locks[group]), protocol.CompareMessageQueues) {
			b.loseLock(group, mq)
		}
	}
	clear(b.locks)
}

func (b *broker) loseLock(group string, mq protocol.MessageQueue) {
	l := b.locks[group][mq]
	if l == nil {
		return
	}
	delete(b.locks[group], mq)
	b.tell(Change{Kind: LockLost, Queue: mq, Group: group, LockID: l.clientID})
}
