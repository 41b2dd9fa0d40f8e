package protocol

// GET_EARLIEST_MSG_STORETIME (32): when the queue's oldest message was stored, Java's
// GetEarliestMsgStoretimeRequestHeader.

// GetEarliestMsgStoreTimeRequest is the header of GET_EARLIEST_MSG_STORETIME.
type GetEarliestMsgStoreTimeRequest struct {
	Topic   string `ext:"topic,required"`
	QueueID int32  `ext:"queueId,required"`
}

// RequestCode is GetEarliestMsgStoreTime.
func (*GetEarliestMsgStoreTimeRequest) RequestCode() RequestCode { return GetEarliestMsgStoreTime }

// GetEarliestMsgStoreTimeResponse is the header of the answer.
type GetEarliestMsgStoreTimeResponse struct {
	Timestamp int64 `ext:"timestamp,required"` // ms; -1 for an empty queue
}
