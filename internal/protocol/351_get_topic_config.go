package protocol

// GET_TOPIC_CONFIG (351): one topic of one broker, Java's TopicConfig. Since 5.0.0.

// GetTopicConfigRequest is the header of GET_TOPIC_CONFIG.
type GetTopicConfigRequest struct {
	Topic string `ext:"topic,required"`
}

// RequestCode is GetTopicConfig.
func (*GetTopicConfigRequest) RequestCode() RequestCode { return GetTopicConfig }

// TopicConfig is the body of the answer, and an entry of GET_ALL_TOPIC_CONFIG.
type TopicConfig struct {
	Attributes      map[string]string `json:"attributes"` // such as message.type: FIFO
	Order           bool              `json:"order"`
	Perm            Perm              `json:"perm"`
	ReadQueueNums   int32             `json:"readQueueNums"`
	TopicFilterType string            `json:"topicFilterType"`
	TopicName       string            `json:"topicName"`
	TopicSysFlag    int32             `json:"topicSysFlag"`
	WriteQueueNums  int32             `json:"writeQueueNums"`
}

var topicConfigBody = newBody[TopicConfig]("topic config")

// DecodeTopicConfig reads the body.
func DecodeTopicConfig(b []byte) (*TopicConfig, error) { return topicConfigBody.decode(b) }

// Encode is the body as Java reads it.
func (c *TopicConfig) Encode() []byte { return topicConfigBody.encode(c) }
