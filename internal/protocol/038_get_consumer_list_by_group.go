package protocol

// GET_CONSUMER_LIST_BY_GROUP (38): the client ids of a group's members, Java's GetConsumerListByGroupRequestHeader.

// GetConsumerListByGroupRequest is the header of GET_CONSUMER_LIST_BY_GROUP. Nobody online is SYSTEM_ERROR.
type GetConsumerListByGroupRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
}

// RequestCode is GetConsumerListByGroup.
func (*GetConsumerListByGroupRequest) RequestCode() RequestCode { return GetConsumerListByGroup }

// ConsumerList is the body of the answer, Java's GetConsumerListByGroupResponseBody.
type ConsumerList struct {
	ConsumerIDList []string `json:"consumerIdList"`
}

var consumerListBody = newBody[ConsumerList]("consumer list")

// DecodeConsumerList reads the body.
func DecodeConsumerList(b []byte) (*ConsumerList, error) { return consumerListBody.decode(b) }

// Encode is the body as Java reads it.
func (l *ConsumerList) Encode() []byte { return consumerListBody.encode(l) }
