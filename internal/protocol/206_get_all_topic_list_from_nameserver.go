package protocol

// GET_ALL_TOPIC_LIST_FROM_NAMESERVER (206): every topic that has a route. The request has no header.

// TopicList is the body of the answer and of several other requests, Java's TopicList. It has no order and includes
// system topics, and the names of clusters and brokers.
type TopicList struct {
	BrokerAddr string   `json:"brokerAddr,omitempty"`
	TopicList  []string `json:"topicList"`
}

var topicListBody = newBody[TopicList]("topic list")

// DecodeTopicList reads the body.
func DecodeTopicList(b []byte) (*TopicList, error) { return topicListBody.decode(b) }

// Encode is the body as Java reads it.
func (l *TopicList) Encode() []byte { return topicListBody.encode(l) }
