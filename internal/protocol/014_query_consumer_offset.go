package protocol

// QUERY_CONSUMER_OFFSET (14): a group's stored offset in one queue, Java's QueryConsumerOffsetRequestHeader.

// QueryConsumerOffsetRequest is the header of QUERY_CONSUMER_OFFSET. No stored offset is QUERY_NOT_FOUND, except that a
// young queue, whose offset 0 is still in memory, answers 0: SetZeroIfNotFound false turns that off (since 5.0.0).
type QueryConsumerOffsetRequest struct {
	ConsumerGroup     string `ext:"consumerGroup,required"`
	Topic             string `ext:"topic,required"`
	QueueID           int32  `ext:"queueId,required"`
	SetZeroIfNotFound *bool  `ext:"setZeroIfNotFound"`
	BrokerName        string `ext:"bname,omitempty"`
}

// RequestCode is QueryConsumerOffset.
func (*QueryConsumerOffsetRequest) RequestCode() RequestCode { return QueryConsumerOffset }

// QueryConsumerOffsetResponse is the header of the answer.
type QueryConsumerOffsetResponse struct {
	Offset int64 `ext:"offset,required"`
}
