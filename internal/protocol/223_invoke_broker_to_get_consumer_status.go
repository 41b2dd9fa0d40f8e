package protocol

// INVOKE_BROKER_TO_GET_CONSUMER_STATUS (223): have the broker ask a group's members for their offsets, Java's
// GetConsumerStatusRequestHeader.

// InvokeBrokerToGetConsumerStatusRequest is the header of INVOKE_BROKER_TO_GET_CONSUMER_STATUS; the answer's body is a
// ConsumerStatus.
type InvokeBrokerToGetConsumerStatusRequest struct {
	Topic      string `ext:"topic,required"`
	Group      string `ext:"group,required"`
	ClientAddr string `ext:"clientAddr,omitempty"` // a client id; absent: every member
}

// RequestCode is InvokeBrokerToGetConsumerStatus.
func (*InvokeBrokerToGetConsumerStatusRequest) RequestCode() RequestCode {
	return InvokeBrokerToGetConsumerStatus
}
