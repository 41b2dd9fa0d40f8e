package protocol

// DELETE_TOPIC_IN_BROKER (215): remove a topic from one broker, Java's DeleteTopicRequestHeader. An absent topic is a
// success.

// DeleteTopicInBrokerRequest is the header of DELETE_TOPIC_IN_BROKER.
type DeleteTopicInBrokerRequest struct {
	Topic string `ext:"topic,required"`
}

// RequestCode is DeleteTopicInBroker.
func (*DeleteTopicInBrokerRequest) RequestCode() RequestCode { return DeleteTopicInBroker }
