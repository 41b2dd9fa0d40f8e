package protocol

// GET_TOPIC_STATS_INFO (202): the offsets of a topic's queues on one broker, Java's TopicStatsTable.

// GetTopicStatsInfoRequest is the header of GET_TOPIC_STATS_INFO.
type GetTopicStatsInfoRequest struct {
	Topic string `ext:"topic,required"`
}

// RequestCode is GetTopicStatsInfo.
func (*GetTopicStatsInfoRequest) RequestCode() RequestCode { return GetTopicStatsInfo }

// TopicStatsTable is the body of the answer.
type TopicStatsTable struct {
	OffsetTable map[MessageQueue]TopicOffset `json:"offsetTable"`
	TopicPutTPS float64                      `json:"topicPutTps"`
}

// TopicOffset is the range of one queue: MaxOffset is that of the next message.
type TopicOffset struct {
	LastUpdateTimestamp int64 `json:"lastUpdateTimestamp"` // ms; 0 for an empty queue
	MaxOffset           int64 `json:"maxOffset"`
	MinOffset           int64 `json:"minOffset"`
}

var topicStatsBody = newBody[TopicStatsTable]("topic stats")

// DecodeTopicStatsTable reads the body.
func DecodeTopicStatsTable(b []byte) (*TopicStatsTable, error) { return topicStatsBody.decode(b) }

// Encode is the body as Java reads it.
func (t *TopicStatsTable) Encode() []byte { return topicStatsBody.encode(t) }
