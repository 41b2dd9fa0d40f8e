package protocol

// RESET_CONSUMER_CLIENT_OFFSET (220): the broker tells a consumer its new offsets, Java's ResetOffsetRequestHeader.
// One-way; only brokers without server-side reset send it.

// ResetConsumerClientOffsetRequest is the header of RESET_CONSUMER_CLIENT_OFFSET; the offsets are in the body.
type ResetConsumerClientOffsetRequest struct {
	Topic     string `ext:"topic,required"`
	Group     string `ext:"group,required"`
	Timestamp int64  `ext:"timestamp"` // ms
	IsForce   bool   `ext:"isForce"`
	QueueID   *int32 `ext:"queueId"` // -1 for all
	Offset    *int64 `ext:"offset"`
}

// RequestCode is ResetConsumerClientOffset.
func (*ResetConsumerClientOffsetRequest) RequestCode() RequestCode { return ResetConsumerClientOffset }

// ResetOffsetBody is the body of 220 and of the answer to INVOKE_BROKER_TO_RESET_OFFSET, Java's ResetOffsetBody.
type ResetOffsetBody struct {
	OffsetTable map[MessageQueue]int64 `json:"offsetTable"`
}

var resetOffsetBody = newBody[ResetOffsetBody]("reset offsets")

// DecodeResetOffsetBody reads the body in its map form and in the list form that a broker pushes when a C++ admin asked
// for the reset (Java's ResetOffsetBodyForC).
func DecodeResetOffsetBody(b []byte) (*ResetOffsetBody, error) { return resetOffsetBody.decode(b) }

// Encode is the body in its map form.
func (r *ResetOffsetBody) Encode() []byte { return resetOffsetBody.encode(r) }
