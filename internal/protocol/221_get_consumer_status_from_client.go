package protocol

// GET_CONSUMER_STATUS_FROM_CLIENT (221): the broker asks a consumer for its offsets, Java's
// GetConsumerStatusRequestHeader.

// GetConsumerStatusFromClientRequest is the header of GET_CONSUMER_STATUS_FROM_CLIENT.
type GetConsumerStatusFromClientRequest struct {
	Topic      string `ext:"topic,required"`
	Group      string `ext:"group,required"`
	ClientAddr string `ext:"clientAddr,omitempty"` // a client id
}

// RequestCode is GetConsumerStatusFromClient.
func (*GetConsumerStatusFromClientRequest) RequestCode() RequestCode {
	return GetConsumerStatusFromClient
}

// ConsumerStatus is the body of the answers to 221, which fills MessageQueueTable, and 223, which fills ConsumerTable;
// Java's GetConsumerStatusBody.
type ConsumerStatus struct {
	ConsumerTable     map[string]map[MessageQueue]int64 `json:"consumerTable"` // by client id
	MessageQueueTable map[MessageQueue]int64            `json:"messageQueueTable"`
}

var consumerStatusBody = newBody[ConsumerStatus]("consumer status")

// DecodeConsumerStatus reads the body.
func DecodeConsumerStatus(b []byte) (*ConsumerStatus, error) { return consumerStatusBody.decode(b) }

// Encode is the body as Java reads it.
func (s *ConsumerStatus) Encode() []byte { return consumerStatusBody.encode(s) }
