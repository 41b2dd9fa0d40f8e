package protocol

// UPDATE_CONSUMER_OFFSET (15): store a group's offset in one queue, Java's UpdateConsumerOffsetRequestHeader.

// UpdateConsumerOffsetRequest is the header of UPDATE_CONSUMER_OFFSET. The broker takes any number, also one beyond the
// queue's range.
type UpdateConsumerOffsetRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
	Topic         string `ext:"topic,required"`
	QueueID       int32  `ext:"queueId,required"`
	CommitOffset  int64  `ext:"commitOffset,required"`
	BrokerName    string `ext:"bname,omitempty"`
}

// RequestCode is UpdateConsumerOffset.
func (*UpdateConsumerOffsetRequest) RequestCode() RequestCode { return UpdateConsumerOffset }
