package sandbox

import (
	"maps"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// offsetKey says whose offsets on which topic.
type offsetKey struct {
	topic, group string
}

// offsetTable is offsets by queue number.
type offsetTable map[offsetKey]map[int32]int64

// groupOffsets is what one broker process knows of the progress of groups, Java's ConsumerOffsetManager. Everything is in
// memory; a file gets a copy of the stored offsets now and then.
type groupOffsets struct {
	stored offsetTable
	pulled offsetTable // next offset of each group's latest pull, GET_CONSUME_STATS's pullOffset
	resets offsetTable // targets of resets that no pull has been told yet; no file has them
	ver    dataVersion

	every   time.Duration
	written time.Time                     // when the file was written last
	file    map[offsetPlace]writtenOffset // of offsets that have changed since, what the file has
}

// offsetPlace names one offset of a group.
type offsetPlace struct {
	offsetKey
	queueID int32
}

// writtenOffset is an offset as a file has it; there may be none.
type writtenOffset struct {
	offset int64
	ok     bool
}

func newGroupOffsets(now time.Time, every time.Duration) groupOffsets {
	return groupOffsets{
		stored: offsetTable{}, pulled: offsetTable{}, resets: offsetTable{}, every: every, written: now, file: map[offsetPlace]writtenOffset{},
	}
}

func (t offsetTable) get(key offsetKey, queueID int32) (offset int64, ok bool) {
	offset, ok = t[key][queueID]
	return offset, ok
}

func (t offsetTable) set(key offsetKey, queueID int32, offset int64) {
	of := t[key]
	if of == nil {
		of = map[int32]int64{}
		t[key] = of
	}
	of[queueID] = offset
}

// body is the table as GET_ALL_CONSUMER_OFFSET shows it.
func (t offsetTable) body() map[string]protocol.QueueOffsets {
	out := make(map[string]protocol.QueueOffsets, len(t))
	for key, of := range t {
		list := make(protocol.QueueOffsets, 0, len(of))
		for _, id := range slices.Sorted(maps.Keys(of)) {
			list = append(list, protocol.QueueOffset{QueueID: id, Offset: of[id]})
		}
		out[key.topic+"@"+key.group] = list
	}
	return out
}

// catchUp notes that the file was written meanwhile, if it is time for that.
func (o *groupOffsets) catchUp(now time.Time) {
	if n := now.Sub(o.written) / o.every; n > 0 {
		o.written = o.written.Add(n * o.every)
		clear(o.file)
	}
}

// write puts everything into the file, as an orderly end does.
func (o *groupOffsets) write(now time.Time) {
	o.written = now
	clear(o.file)
}

// changing has to be called before a stored offset changes.
func (o *groupOffsets) changing(now time.Time, key offsetKey, queueID int32) {
	o.catchUp(now)
	place := offsetPlace{key, queueID}
	if _, known := o.file[place]; !known {
		old, ok := o.stored.get(key, queueID)
		o.file[place] = writtenOffset{old, ok}
	}
}

func (o *groupOffsets) set(now time.Time, key offsetKey, queueID int32, offset int64) {
	o.changing(now, key, queueID)
	o.stored.set(key, queueID, offset)
	o.ver.next(now)
}

// forget removes everything whose key is wanted.
func (o *groupOffsets) forget(now time.Time, wanted func(offsetKey) bool) {
	for key, of := range o.stored {
		if wanted(key) {
			for id := range of {
				o.changing(now, key, id)
			}
		}
	}
	for _, t := range []offsetTable{o.stored, o.pulled, o.resets} {
		maps.DeleteFunc(t, func(key offsetKey, _ map[int32]int64) bool { return wanted(key) })
	}
}

// lose brings the stored offsets back to what the file has, as the end of a process without warning does.
func (o *groupOffsets) lose(now time.Time) (changed []offsetPlace) {
	o.catchUp(now)
	for place, w := range o.file {
		now, is := o.stored.get(place.offsetKey, place.queueID)
		if is == w.ok && now == w.offset {
			continue
		}
		if w.ok {
			o.stored.set(place.offsetKey, place.queueID, w.offset)
		} else if of := o.stored[place.offsetKey]; of != nil {
			delete(of, place.queueID)
			if len(of) == 0 {
				delete(o.stored, place.offsetKey)
			}
		}
		changed = append(changed, place)
	}
	clear(o.file)
	return changed
}

// copyFrom makes o what another broker has, as a replica does. The tables of single groups are replaced; groups that the
// other one does not know stay.
func (o *groupOffsets) copyFrom(other *groupOffsets) {
	for key, of := range other.stored {
		o.stored[key] = maps.Clone(of)
	}
	for key, of := range other.pulled {
		o.pulled[key] = maps.Clone(of)
	}
	o.ver = other.ver
}

// commit stores a group's offset. Like a real broker it takes any number.
func (b *broker) commit(group string, mq protocol.MessageQueue, offset int64) {
	b.offsets.set(b.sandbox.now(), offsetKey{mq.Topic, group}, mq.QueueID, offset)
	b.sandbox.writes.Offsets++
	b.tell(Change{Kind: Committed, Queue: mq, Offset: offset, Group: group})
}

// notePull remembers where a group's latest pull of a queue ended.
func (b *broker) notePull(group string, mq protocol.MessageQueue, next int64) {
	b.offsets.pulled.set(offsetKey{mq.Topic, group}, mq.QueueID, next)
}

// committed is a group's stored offset in a queue; while a reset waits to be pulled, its target.
func (b *broker) committed(group, topic string, queueID int32) (int64, bool) {
	if target, ok := b.offsets.resets.get(offsetKey{topic, group}, queueID); ok {
		return target, true
	}
	return b.offsets.stored.get(offsetKey{topic, group}, queueID)
}

// loseOffsets brings the offsets of groups back to what the file has.
func (b *broker) loseOffsets() {
	for _, place := range b.offsets.lose(b.sandbox.now()) {
		offset, ok := b.offsets.stored.get(place.offsetKey, place.queueID)
		if !ok {
			offset = -1
		}
		b.tell(Change{
			Kind: OffsetLost, Group: place.group, Offset: offset,
			Queue: protocol.MessageQueue{Topic: place.topic, BrokerName: b.name, QueueID: place.queueID},
		})
	}
}

// topicsWithOffsets is the topics on which a group has stored offsets, in order.
func (b *broker) topicsWithOffsets(group string) []string {
	var out []string
	for key := range b.offsets.stored {
		if key.group == group {
			out = append(out, key.topic)
		}
	}
	slices.Sort(out)
	return out
}

// topicsByGroup is for every group with stored offsets its topics in order.
func (b *broker) topicsByGroup() map[string][]string {
	out := map[string][]string{}
	for key := range b.offsets.stored {
		out[key.group] = append(out[key.group], key.topic)
	}
	for _, topics := range out {
		slices.Sort(topics)
	}
	return out
}

// forgetOffsets removes everything stored for a group.
func (b *broker) forgetOffsets(group string) {
	b.offsets.forget(b.sandbox.now(), func(key offsetKey) bool { return key.group == group })
	b.sandbox.writes.Offsets++
}
