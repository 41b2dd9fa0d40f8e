package protocol

// CONSUME_MESSAGE_DIRECTLY (309): have one consumer consume one message, Java's ConsumeMessageDirectlyResultRequestHeader.
// The broker looks the message up and passes it on to the client.

// ConsumeMessageDirectlyRequest is the header of CONSUME_MESSAGE_DIRECTLY. From an admin MsgID is an offset id; to the
// client the body is the message, read by DecodeMessages.
type ConsumeMessageDirectlyRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
	ClientID      string `ext:"clientId,omitempty"`
	MsgID         string `ext:"msgId,omitempty"`
	BrokerName    string `ext:"brokerName,omitempty"`
	Topic         string `ext:"topic,omitempty"`
	TopicSysFlag  *int32 `ext:"topicSysFlag"`
	GroupSysFlag  *int32 `ext:"groupSysFlag"`
}

// RequestCode is ConsumeMessageDirectly.
func (*ConsumeMessageDirectlyRequest) RequestCode() RequestCode { return ConsumeMessageDirectly }

// ConsumeResult is what the listener made of the message, Java's CMResult.
type ConsumeResult string

// The consume results.
const (
	ConsumeResultSuccess        ConsumeResult = "CR_SUCCESS"
	ConsumeResultLater          ConsumeResult = "CR_LATER"
	ConsumeResultRollback       ConsumeResult = "CR_ROLLBACK"
	ConsumeResultCommit         ConsumeResult = "CR_COMMIT"
	ConsumeResultThrowException ConsumeResult = "CR_THROW_EXCEPTION"
	ConsumeResultReturnNull     ConsumeResult = "CR_RETURN_NULL"
)

// ConsumeMessageDirectlyResult is the body of the answer.
type ConsumeMessageDirectlyResult struct {
	AutoCommit     bool          `json:"autoCommit"`
	ConsumeResult  ConsumeResult `json:"consumeResult,omitempty"`
	Order          bool          `json:"order"`
	Remark         string        `json:"remark,omitempty"`
	SpentTimeMills int64         `json:"spentTimeMills"` // ms
}

func (r *ConsumeMessageDirectlyResult) setDefaults() {
	*r = ConsumeMessageDirectlyResult{AutoCommit: true}
}

var directResultBody = newBody[ConsumeMessageDirectlyResult]("direct consume result")

// DecodeConsumeMessageDirectlyResult reads the body.
func DecodeConsumeMessageDirectlyResult(b []byte) (*ConsumeMessageDirectlyResult, error) {
	return directResultBody.decode(b)
}

// Encode is the body as Java reads it.
func (r *ConsumeMessageDirectlyResult) Encode() []byte { return directResultBody.encode(r) }
