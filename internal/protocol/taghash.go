package protocol

import "unicode/utf16"

// HashString is Java's String.hashCode over UTF-16 units: 31*h + unit, wrapping at 32 bits, 0 for "". Brokers filter tags by
// it ("TagA" is 2598919), and Java producers choose the queue of a sharding key with it.
func HashString(s string) int32 {
	var h int32
	for _, r := range s {
		if r < 0x10000 {
			h = 31*h + r
			continue
		}
		high, low := utf16.EncodeRune(r)
		h = 31*(31*h+high) + low
	}
	return h
}
