package sandbox

import "mqctl/internal/protocol"

// filter is what a broker knows of a subscription: hashes of tags. Messages of other tags with the same hash pass.
type filter struct {
	codes []int32 // empty: everything
}

func filterOf(s *protocol.SubscriptionData) filter {
	if !s.IsTag() {
		return filter{}
	}
	return filter{codes: s.CodeSet}
}

// match reports whether a pull gets the message.
func (f *filter) match(e *entry, _ *commitLog) bool {
	if len(f.codes) == 0 {
		return true
	}
	for _, c := range f.codes {
		if int64(c) == e.tags {
			return true
		}
	}
	return false
}
