package protocol

// INVOKE_BROKER_TO_RESET_OFFSET (222): move a group's offsets, Java's ResetOffsetRequestHeader.

// InvokeBrokerToResetOffsetRequest is the header of INVOKE_BROKER_TO_RESET_OFFSET; the answer's body is a
// ResetOffsetBody. Always give QueueID and Offset both: an offset without a queue moves every queue to its max.
type InvokeBrokerToResetOffsetRequest struct {
	Topic     string `ext:"topic,required"`
	Group     string `ext:"group,required"`
	Timestamp int64  `ext:"timestamp,required"` // ms; -1 means the max offset, or Offset when that is there
	IsForce   bool   `ext:"isForce"`
	QueueID   *int32 `ext:"queueId"` // -1 for all; since 5.1.0
	Offset    *int64 `ext:"offset"`  // since 5.1.0
}

// RequestCode is InvokeBrokerToResetOffset.
func (*InvokeBrokerToResetOffsetRequest) RequestCode() RequestCode { return InvokeBrokerToResetOffset }
