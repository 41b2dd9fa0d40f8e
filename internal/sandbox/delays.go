package sandbox

import (
	"strconv"
	"time"

	"mqctl/internal/protocol"
)

// maxDelayLevel is the highest delay level; higher ones are cut to it.
const maxDelayLevel = 18

// delayTable is a real broker's default messageDelayLevel; level 0 delays nothing.
var delayTable = [maxDelayLevel + 1]time.Duration{
	0, time.Second, 5 * time.Second, 10 * time.Second, 30 * time.Second, time.Minute, 2 * time.Minute, 3 * time.Minute,
	4 * time.Minute, 5 * time.Minute, 6 * time.Minute, 7 * time.Minute, 8 * time.Minute, 9 * time.Minute, 10 * time.Minute,
	20 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
}

// delayLevel is how far one queue of the schedule topic has been delivered. A level's messages are due in the order they
// came in, so one alarm for the oldest is enough.
type delayLevel struct {
	next  int64 // queue offset of the first message not delivered yet
	alarm *alarm
}

// putDelayed stores m in the schedule topic, in the queue of its level, with its real place among the properties. In such
// a queue the tags of an entry are the time of delivery.
func (b *broker) putDelayed(m *protocol.MessageExt, f *facts) *queue {
	level := min(f.delay, maxDelayLevel)
	p := withRealQueue(m)
	p.Set(protocol.PropertyDelayLevel, strconv.Itoa(level))
	m.RawProperties = p.AppendTo(nil)
	m.Topic, m.QueueID = protocol.ScheduleTopic, int32(level-1)
	q := b.append(m, f, m.StoreTimestamp+delayTable[level].Milliseconds())
	b.armDelay(level)
	return q
}

// armDelay sets the alarm for the oldest undelivered message of a level, unless it is set already.
func (b *broker) armDelay(level int) {
	d := &b.delays[level]
	q := b.queueOf(protocol.ScheduleTopic, int32(level-1))
	if q == nil || !b.up || d.alarm != nil {
		return
	}
	d.next = max(d.next, q.minOffset()) // what was dropped for want of memory is never delivered, as with retention
	if d.next >= q.maxOffset() {
		return
	}
	due := time.UnixMilli(q.entries.at(d.next).tags)
	d.alarm = b.sandbox.alarms.set(due, func() {
		d.alarm = nil
		if b.up {
			b.deliverDue(level, q)
			b.armDelay(level)
		}
	})
}

// deliverDue moves the messages of a level whose time has come to their real queues.
func (b *broker) deliverDue(level int, q *queue) {
	d := &b.delays[level]
	now := b.sandbox.now().UnixMilli()
	for {
		d.next = max(d.next, q.minOffset()) // a delivery may have pushed older messages out
		if d.next >= q.maxOffset() {
			return
		}
		e := *q.entries.at(d.next)
		if e.tags > now {
			return
		}
		d.next++
		if m := b.message(e.offset); m != nil {
			b.deliver(m)
		}
	}
}

// deliver stores a delayed message in its real queue: born data and properties stay, DELAY and the real place included,
// the store time is now.
func (b *broker) deliver(m *protocol.MessageExt) {
	f := readFacts(string(m.RawProperties))
	f.delay = 0
	m.Topic = m.Property(protocol.PropertyRealTopic)
	id, err := strconv.Atoi(m.Property(protocol.PropertyRealQueueID))
	if err != nil || b.topics[m.Topic] == nil {
		b.sandbox.log.Warn("a delayed message has nowhere to go", "topic", m.Topic, "id", f.unique)
		return
	}
	m.QueueID = int32(id)
	b.put(m, &f)
}
