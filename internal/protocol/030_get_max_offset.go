package protocol

// GET_MAX_OFFSET (30): the offset that the queue's next message will have, Java's GetMaxOffsetRequestHeader.

// GetMaxOffsetRequest is the header of GET_MAX_OFFSET.
type GetMaxOffsetRequest struct {
	Topic     string `ext:"topic,required"`
	QueueID   int32  `ext:"queueId,required"`
	Committed *bool  `ext:"committed"` // since 5.0.0; default true
}

// RequestCode is GetMaxOffset.
func (*GetMaxOffsetRequest) RequestCode() RequestCode { return GetMaxOffset }

// GetMaxOffsetResponse is the header of the answer; an unknown topic gives 0.
type GetMaxOffsetResponse struct {
	Offset int64 `ext:"offset,required"`
}
