package sandbox

import (
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// offsetKey says whose offsets on which topic.
type offsetKey struct {
	topic, group string
}

// commit stores a group's offset. Like a real broker it takes any number.
func (b *broker) commit(group string, mq protocol.MessageQueue, offset int64) {
	setOffset(b.offsets, offsetKey{mq.Topic, group}, mq.QueueID, offset)
	b.offsetVer.next(b.sandbox.now())
	b.sandbox.writes.Offsets++
	b.tell(Change{Kind: Committed, Queue: mq, Offset: offset, Group: group})
}

// notePull remembers where a group's latest pull of a queue ended.
func (b *broker) notePull(group string, mq protocol.MessageQueue, next int64) {
	setOffset(b.pulled, offsetKey{mq.Topic, group}, mq.QueueID, next)
}

func setOffset(table map[offsetKey]map[int32]int64, key offsetKey, queueID int32, offset int64) {
	of := table[key]
	if of == nil {
		of = map[int32]int64{}
		table[key] = of
	}
	of[queueID] = offset
}

// committed is a group's stored offset in a queue.
func (b *broker) committed(group, topic string, queueID int32) (int64, bool) {
	offset, ok := b.offsets[offsetKey{topic, group}][queueID]
	return offset, ok
}

// topicsWithOffsets is the topics on which a group has stored offsets, in order.
func (b *broker) topicsWithOffsets(group string) []string {
	var out []string
	for key := range b.offsets {
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
	for key := range b.offsets {
		out[key.group] = append(out[key.group], key.topic)
	}
	for _, topics := range out {
		slices.Sort(topics)
	}
	return out
}

// offsetTable is one of the tables as GET_ALL_CONSUMER_OFFSET shows it.
func offsetTable(table map[offsetKey]map[int32]int64) map[string]protocol.QueueOffsets {
	out := make(map[string]protocol.QueueOffsets, len(table))
	for key, of := range table {
		list := make(protocol.QueueOffsets, 0, len(of))
		for _, id := range slices.Sorted(maps.Keys(of)) {
			list = append(list, protocol.QueueOffset{QueueID: id, Offset: of[id]})
		}
		out[key.topic+"@"+key.group] = list
	}
	return out
}

// forgetOffsets removes everything stored for a group.
func (b *broker) forgetOffsets(group string) {
	of := func(key offsetKey, _ map[int32]int64) bool { return key.group == group }
	maps.DeleteFunc(b.offsets, of)
	maps.DeleteFunc(b.pulled, of)
	b.sandbox.writes.Offsets++
}
