package protocol

// UNREGISTER_CLIENT (35): leave one producer or consumer group, Java's UnregisterClientRequestHeader.

// UnregisterClientRequest is the header of UNREGISTER_CLIENT.
type UnregisterClientRequest struct {
	ClientID      string `ext:"clientID,required"`
	ProducerGroup string `ext:"producerGroup,omitempty"`
	ConsumerGroup string `ext:"consumerGroup,omitempty"`
}

// RequestCode is UnregisterClient.
func (*UnregisterClientRequest) RequestCode() RequestCode { return UnregisterClient }
