package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// put stores m, whose properties are final and have been read into f, and is the only way into a queue. It fills in what
// the store decides: offsets, times, host. A message with a delay goes to the schedule topic instead (see delays.go). The
// queue that took it comes back, nil when the topic or the queue number does not exist.
func (b *broker) put(m *protocol.MessageExt, f *facts) *queue {
	m.StoreTimestamp = b.sandbox.now().UnixMilli()
	if kind := m.SysFlag & protocol.FlagTransRollback; f.delay > 0 && (kind == 0 || kind == protocol.FlagTransCommit) {
		return b.putDelayed(m, f)
	}
	tags := int64(0)
	if f.tags != "" {
		tags = int64(protocol.HashString(f.tags))
	}
	return b.append(m, f, tags)
}

// append writes m behind its queue.
func (b *broker) append(m *protocol.MessageExt, f *facts, tags int64) *queue {
	t := b.topics[m.Topic]
	if t == nil {
		return nil
	}
	q := b.queue(t, m.QueueID)
	if q == nil {
		return nil
	}
	m.StoreHost = b.host
	m.QueueOffset = q.maxOffset()
	size := b.log.append(m)
	q.entries.push(entry{offset: m.CommitLogOffset, storeTime: m.StoreTimestamp, tags: tags, size: int32(size)})
	b.keys.add(t.keyPrefix, m.CommitLogOffset, f)
	b.stored++
	b.sandbox.writes.Messages++
	b.tell(Change{Kind: Stored, Queue: q.mq, Offset: m.QueueOffset, Message: m})
	b.wake(q)
	b.shrink()
	return q
}

// memory is what b's messages take, in bytes.
func (b *broker) memory() int64 {
	return b.log.bytes + int64(len(b.keys.entries.chunks))*chunkSize*keyMemory
}

// shrink drops the oldest messages until the rest fits into the limit, as retention does on a real broker.
func (b *broker) shrink() {
	if b.memory() <= b.log.limit {
		return
	}
	for b.memory() > b.log.limit && b.log.dropOldest() {
		b.keys.trim(b.log.minOffset())
	}
	oldest := b.log.minOffset()
	for _, t := range b.topics {
		for _, q := range t.queues {
			q.entries.trim(q.entries.search(func(e *entry) bool { return e.offset >= oldest }))
		}
	}
}

// message decodes the stored message at a physical offset as it was stored; nil when there is none.
func (b *broker) message(offset int64) *protocol.MessageExt {
	rec := b.log.recordAt(offset)
	if rec == nil {
		return nil
	}
	list, err := protocol.DecodeMessages(rec, protocol.DecodeOptions{KeepPacked: true})
	if err != nil || len(list) != 1 || list[0].BodyErr != nil {
		return nil
	}
	return &list[0]
}

// withRealQueue is m's properties with the place that it is meant for, so that it may be stored elsewhere meanwhile.
func withRealQueue(m *protocol.MessageExt) protocol.Properties {
	p := m.Properties()
	p.Set(protocol.PropertyRealTopic, m.Topic)
	p.Set(protocol.PropertyRealQueueID, strconv.Itoa(int(m.QueueID)))
	return p
}
