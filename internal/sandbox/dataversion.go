package sandbox

import (
	"time"

	"mqctl/internal/protocol"
)

// dataVersion counts the changes of a table, Java's DataVersion.
type dataVersion struct {
	counter   int64
	timestamp int64 // ms
}

func (v *dataVersion) next(now time.Time) {
	v.counter++
	v.timestamp = now.UnixMilli()
}

func (v *dataVersion) body() protocol.DataVersion {
	return protocol.DataVersion{Counter: v.counter, Timestamp: v.timestamp}
}
