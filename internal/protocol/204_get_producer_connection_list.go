package protocol

// GET_PRODUCER_CONNECTION_LIST (204): a producer group's members, Java's ProducerConnection.

// GetProducerConnectionListRequest is the header of GET_PRODUCER_CONNECTION_LIST. Nobody online is SYSTEM_ERROR.
type GetProducerConnectionListRequest struct {
	ProducerGroup string `ext:"producerGroup,required"`
}

// RequestCode is GetProducerConnectionList.
func (*GetProducerConnectionListRequest) RequestCode() RequestCode { return GetProducerConnectionList }

// ProducerConnection is the body of the answer.
type ProducerConnection struct {
	ConnectionSet []Connection `json:"connectionSet"`
}

var producerConnectionBody = newBody[ProducerConnection]("producer connections")

// DecodeProducerConnection reads the body.
func DecodeProducerConnection(b []byte) (*ProducerConnection, error) {
	return producerConnectionBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *ProducerConnection) Encode() []byte { return producerConnectionBody.encode(c) }
