package sandbox

import (
	"slices"
	"strings"
	"unicode/utf16"

	"mqctl/internal/protocol"
)

// keyEntry says that a message with a key of this hash stands at a physical offset.
type keyEntry struct {
	offset int64
	hash   int32
}

// keyIndex finds messages by key as Java's IndexFile does: by a hash of "topic#key" alone, so that a query may return
// messages of other keys and its sender has to compare. A scan over 16 bytes a key costs a few milliseconds a million.
type keyIndex struct {
	entries deque[keyEntry]
}

// add indexes a message's unique id and its keys. prefix is topicKeyHash of its topic.
func (x *keyIndex) add(prefix int32, offset int64, f *facts) {
	if f.unique != "" {
		x.entries.push(keyEntry{offset: offset, hash: keyHash(prefix, f.unique)})
	}
	if f.keys == "" {
		return
	}
	for key := range strings.SplitSeq(f.keys, " ") {
		if key != "" {
			x.entries.push(keyEntry{offset: offset, hash: keyHash(prefix, key)})
		}
	}
}

// trim forgets messages below a physical offset.
func (x *keyIndex) trim(offset int64) {
	x.entries.trim(x.entries.search(func(e *keyEntry) bool { return e.offset >= offset }))
}

// find is the newest physical offsets, at most n, whose key hashes like key and that keep accepts, in ascending order.
func (x *keyIndex) find(prefix int32, key string, n int, keep func(offset int64) bool) []int64 {
	want := keyHash(prefix, key)
	var out []int64
	for i := x.entries.next - 1; i >= x.entries.first && len(out) < n; i-- {
		e := x.entries.at(i)
		if e.hash == want && (len(out) == 0 || out[len(out)-1] != e.offset) && keep(e.offset) {
			out = append(out, e.offset)
		}
	}
	slices.Reverse(out)
	return out
}

// topicKeyHash is the part of keyHash that all keys of a topic share.
func topicKeyHash(topic string) int32 { return protocol.HashString(topic + "#") }

// keyHash goes on with Java's String.hashCode where topicKeyHash left off.
func keyHash(prefix int32, key string) int32 {
	h := prefix
	for _, r := range key {
		if r < 0x10000 {
			h = 31*h + r
			continue
		}
		high, low := utf16.EncodeRune(r)
		h = 31*(31*h+high) + low
	}
	return h
}
