package protocol

// SEARCH_OFFSET_BY_TIMESTAMP (29): the offset at a store time, Java's SearchOffsetRequestHeader.

// Which offset an inexact time means. Lower is the first message at or after it, the queue's max offset when there is
// none; upper is the last at or before it. Brokers before 5.1.4 know lower only.
const (
	BoundaryLower = "lower"
	BoundaryUpper = "upper"
)

// SearchOffsetByTimestampRequest is the header of SEARCH_OFFSET_BY_TIMESTAMP.
type SearchOffsetByTimestampRequest struct {
	Topic        string `ext:"topic,required"`
	QueueID      int32  `ext:"queueId,required"`
	Timestamp    int64  `ext:"timestamp,required"` // ms
	BoundaryType string `ext:"boundaryType,omitempty"`
}

// RequestCode is SearchOffsetByTimestamp.
func (*SearchOffsetByTimestampRequest) RequestCode() RequestCode { return SearchOffsetByTimestamp }

// SearchOffsetByTimestampResponse is the header of the answer; an empty queue gives 0.
type SearchOffsetByTimestampResponse struct {
	Offset int64 `ext:"offset,required"`
}
