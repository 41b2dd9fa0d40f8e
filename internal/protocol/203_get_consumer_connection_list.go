package protocol

// GET_CONSUMER_CONNECTION_LIST (203): a group's members and subscriptions, Java's ConsumerConnection.

// GetConsumerConnectionListRequest is the header of GET_CONSUMER_CONNECTION_LIST. Nobody online is CONSUMER_NOT_ONLINE.
type GetConsumerConnectionListRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
}

// RequestCode is GetConsumerConnectionList.
func (*GetConsumerConnectionListRequest) RequestCode() RequestCode { return GetConsumerConnectionList }

// ConsumerConnection is the body of the answer.
type ConsumerConnection struct {
	ConnectionSet     []Connection                `json:"connectionSet"`
	ConsumeFromWhere  ConsumeFromWhere            `json:"consumeFromWhere,omitempty"`
	ConsumeType       ConsumeType                 `json:"consumeType,omitempty"`
	MessageModel      MessageModel                `json:"messageModel,omitempty"`
	SubscriptionTable map[string]SubscriptionData `json:"subscriptionTable"` // by topic
}

// Connection is one client as the broker sees it, Java's Connection.
type Connection struct {
	ClientAddr string    `json:"clientAddr"` // ip:port
	ClientID   string    `json:"clientId"`
	Language   string    `json:"language"` // name of a Language
	Version    MQVersion `json:"version"`
}

var consumerConnectionBody = newBody[ConsumerConnection]("consumer connections")

// DecodeConsumerConnection reads the body.
func DecodeConsumerConnection(b []byte) (*ConsumerConnection, error) {
	return consumerConnectionBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *ConsumerConnection) Encode() []byte { return consumerConnectionBody.encode(c) }
