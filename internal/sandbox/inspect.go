package sandbox

import (
	"fmt"
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// Writes counts what requests have changed since the sandbox was made. Observing must leave it as it was.
type Writes struct {
	Messages  int64 // stored, delayed ones once more when they are delivered
	Offsets   int64 // stored or forgotten, those of the commit bit of pulls included
	Members   int64 // consumers that joined or left a group
	Producers int64 // producers that joined a group
	Topics    int64 // created, changed or deleted, on each broker
	Groups    int64 // created, changed or deleted, on each broker
	Locks     int64 // taken, refreshed or given back
}

// Writes is the current count of changes.
func (s *Sandbox) Writes() (w Writes) {
	s.do(func() { w = s.writes })
	return w
}

// Counts is how many requests of each code have arrived, whatever faults made of them.
func (s *Sandbox) Counts() (counts map[protocol.RequestCode]int64) {
	s.do(func() { counts = maps.Clone(s.counts) })
	return counts
}

// Member is one client of a consumer group on one broker.
type Member struct {
	Broker   string
	ClientID string
	Addr     string // ip:port of its connection
}

// Members is the clients of a consumer group, by broker in order of joining; a replica has a list of its own.
func (s *Sandbox) Members(group string) (list []Member) {
	s.do(func() {
		for _, b := range s.nodes() {
			if g := b.consumers[group]; g != nil {
				for _, m := range g.members {
					list = append(list, Member{Broker: b.node(), ClientID: m.clientID, Addr: m.peer.addr.String()})
				}
			}
		}
	})
	return list
}

// onQueue runs fn on the run goroutine for an existing queue.
func (s *Sandbox) onQueue(mq protocol.MessageQueue, fn func(b *broker, q *queue)) error {
	b, err := s.broker(mq.BrokerName)
	if err != nil {
		return err
	}
	found := false
	if !s.do(func() {
		t := b.topics[mq.Topic]
		if t == nil || mq.QueueID < 0 || mq.QueueID >= t.queueCount() {
			return
		}
		found = true
		fn(b, b.queue(t, mq.QueueID))
	}) {
		return ErrClosed
	}
	if !found {
		return fmt.Errorf("%w: %s", ErrNoQueue, mq)
	}
	return nil
}

// Messages is what a queue holds, oldest first, decoded as a consumer would and with copies of all bytes.
func (s *Sandbox) Messages(mq protocol.MessageQueue) (list []protocol.MessageExt, err error) {
	var body []byte
	err = s.onQueue(mq, func(b *broker, q *queue) {
		for i := q.minOffset(); i < q.maxOffset(); i++ {
			e := q.entries.at(i)
			body = append(body, b.log.record(e.offset, e.size)...)
		}
	})
	if err != nil {
		return nil, err
	}
	list, err = protocol.DecodeMessages(body, protocol.DecodeOptions{})
	for i := range list {
		list[i].BrokerName = mq.BrokerName
	}
	return list, err
}

// Append stores a message as it is behind a queue, past everything that a send would check or add: an empty body, a damaged
// one, a born host of any kind. Topic, queue, store host, store time and offsets are filled in; the offset in the queue comes
// back.
func (s *Sandbox) Append(mq protocol.MessageQueue, m protocol.MessageExt) (offset int64, err error) {
	err = s.onQueue(mq, func(b *broker, q *queue) {
		m.Topic, m.QueueID, m.StoreTimestamp = mq.Topic, mq.QueueID, s.now().UnixMilli()
		f := readFacts(string(m.RawProperties))
		f.delay = 0
		b.put(&m, &f)
		offset = m.QueueOffset
	})
	return offset, err
}

// Bounds is a queue's minimum and maximum offset.
func (s *Sandbox) Bounds(mq protocol.MessageQueue) (lo, hi int64, err error) {
	err = s.onQueue(mq, func(_ *broker, q *queue) { lo, hi = q.minOffset(), q.maxOffset() })
	return lo, hi, err
}

// AdvanceMinOffset forgets a queue's messages below offset, as retention does. An offset beyond the end leaves an empty
// queue that goes on there: minimum and maximum are then equal. A lower offset than the minimum changes nothing.
func (s *Sandbox) AdvanceMinOffset(mq protocol.MessageQueue, offset int64) error {
	return s.onQueue(mq, func(b *broker, q *queue) {
		q.entries.trim(offset)
		b.wake(q)
	})
}

// SetOffset stores a group's offset in a queue, as a commit would.
func (s *Sandbox) SetOffset(group string, mq protocol.MessageQueue, offset int64) error {
	return s.onQueue(mq, func(b *broker, q *queue) { b.commit(group, q.mq, offset) })
}

// Offset is a group's stored offset in a queue; false without one.
func (s *Sandbox) Offset(group string, mq protocol.MessageQueue) (offset int64, ok bool) {
	b, err := s.broker(mq.BrokerName)
	if err != nil {
		return 0, false
	}
	s.do(func() { offset, ok = b.committed(group, mq.Topic, mq.QueueID) })
	return offset, ok
}

// LoseLock takes a queue lock away from whoever holds it and gives it to another client id, as happens when a broker took
// the holder for dead; with "" the lock is free. Nobody is told.
func (s *Sandbox) LoseLock(group string, mq protocol.MessageQueue, to string) error {
	return s.onBroker(mq.BrokerName, func(b *broker) {
		b.loseLock(group, mq)
		if to != "" {
			b.tryLock(group, mq, to)
		}
	})
}

// LockHolder is the client that holds a queue lock, "" for none.
func (s *Sandbox) LockHolder(group string, mq protocol.MessageQueue) (clientID string) {
	err := s.onBroker(mq.BrokerName, func(b *broker) {
		if l := b.locks[group][mq]; l != nil && !l.expired(s.now()) {
			clientID = l.clientID
		}
	})
	if err != nil {
		return ""
	}
	return clientID
}

func (s *Sandbox) onBroker(name string, fn func(b *broker)) error {
	b, err := s.broker(name)
	if err != nil {
		return err
	}
	if !s.do(func() { fn(b) }) {
		return ErrClosed
	}
	return nil
}

// CreateTopic creates a topic on every broker, or changes its number of queues. It does not count as a write.
func (s *Sandbox) CreateTopic(spec TopicSpec) error {
	if remark := badTopicName(spec.Name); remark != "" {
		return fmt.Errorf("%w: topic %q: %s", ErrOptions, spec.Name, remark)
	}
	n := int32(orDefault(spec.Queues, defaultQueues))
	if n < 1 || n > maxQueues {
		return fmt.Errorf("%w: topic %s: %d queues, want 1 to %d", ErrOptions, spec.Name, spec.Queues, maxQueues)
	}
	var full error
	if !s.do(func() {
		before := s.writes
		for _, b := range s.brokers {
			if b.createTopic(spec.Name, n, n, protocol.PermRead|protocol.PermWrite) == nil {
				full = fmt.Errorf("%w: broker %s has as many topics as it may", ErrOptions, b.name)
			}
		}
		s.writes = before
	}) {
		return ErrClosed
	}
	return full
}

// SetPerm changes the permission of a topic on every broker that has it.
func (s *Sandbox) SetPerm(topic string, perm protocol.Perm) {
	s.do(func() {
		for _, b := range s.brokers {
			if t := b.topics[topic]; t != nil {
				t.Perm = perm
			}
		}
	})
}

// SetUnroutedTopic makes the name server say that it does not know a topic, whatever the brokers have; false ends that.
func (s *Sandbox) SetUnroutedTopic(topic string, unrouted bool) {
	s.do(func() {
		delete(s.names.unrouted, topic)
		if unrouted {
			s.names.unrouted[topic] = true
		}
	})
}

// Topics is the names of all topics that have a route, in order.
func (s *Sandbox) Topics() (names []string) {
	s.do(func() { names = s.routedTopics() })
	return names
}

// Held is how many pulls are parked at all brokers.
func (s *Sandbox) Held() (n int) {
	s.do(func() {
		for _, p := range s.peers {
			n += len(p.held)
		}
	})
	return n
}

// Queues is every queue of a topic in Java's order.
func (s *Sandbox) Queues(topic string) (list []protocol.MessageQueue) {
	s.do(func() {
		for _, b := range s.brokers {
			if t := b.topics[topic]; t != nil {
				for id := range t.queueCount() {
					list = append(list, protocol.MessageQueue{Topic: topic, BrokerName: b.name, QueueID: id})
				}
			}
		}
	})
	slices.SortFunc(list, protocol.CompareMessageQueues)
	return list
}
