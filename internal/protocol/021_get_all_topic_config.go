package protocol

// GET_ALL_TOPIC_CONFIG (21): every topic of one broker, Java's TopicConfigSerializeWrapper.

// GetAllTopicConfigRequest is the header of GET_ALL_TOPIC_CONFIG. Brokers since 5.5 answer a page of MaxTopicNum topics
// from TopicSeq on when asked to; others answer everything.
type GetAllTopicConfigRequest struct {
	TopicSeq    *int32 `ext:"topicSeq"`
	MaxTopicNum *int32 `ext:"maxTopicNum"`
	DataVersion string `ext:"dataVersion,omitempty"` // a DataVersion as JSON
}

// RequestCode is GetAllTopicConfig.
func (*GetAllTopicConfigRequest) RequestCode() RequestCode { return GetAllTopicConfig }

// GetAllTopicConfigResponse is the header of the answer since 5.5.
type GetAllTopicConfigResponse struct {
	TotalTopicNum *int32 `ext:"totalTopicNum"`
}

// DataVersion tells whether a broker's table has changed, Java's DataVersion.
type DataVersion struct {
	Counter      int64 `json:"counter"`
	StateVersion int64 `json:"stateVersion"`
	Timestamp    int64 `json:"timestamp"` // ms
}

// AllTopicConfig is the body of the answer.
type AllTopicConfig struct {
	DataVersion      DataVersion            `json:"dataVersion"`
	TopicConfigTable map[string]TopicConfig `json:"topicConfigTable"` // by topic
}

var allTopicConfigBody = newBody[AllTopicConfig]("all topic configs")

// DecodeAllTopicConfig reads the body.
func DecodeAllTopicConfig(b []byte) (*AllTopicConfig, error) { return allTopicConfigBody.decode(b) }

// Encode is the body as Java reads it.
func (c *AllTopicConfig) Encode() []byte { return allTopicConfigBody.encode(c) }
