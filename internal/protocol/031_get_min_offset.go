package protocol

// GET_MIN_OFFSET (31): the offset of the queue's oldest message, Java's GetMinOffsetRequestHeader.

// GetMinOffsetRequest is the header of GET_MIN_OFFSET.
type GetMinOffsetRequest struct {
	Topic   string `ext:"topic,required"`
	QueueID int32  `ext:"queueId,required"`
}

// RequestCode is GetMinOffset.
func (*GetMinOffsetRequest) RequestCode() RequestCode { return GetMinOffset }

// GetMinOffsetResponse is the header of the answer.
type GetMinOffsetResponse struct {
	Offset int64 `ext:"offset,required"`
}
