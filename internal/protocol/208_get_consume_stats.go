package protocol

// GET_CONSUME_STATS (208): a group's offsets and those of its queues on one broker, Java's ConsumeStats.

// GetConsumeStatsRequest is the header of GET_CONSUME_STATS. Without a topic it answers for all that have offsets.
type GetConsumeStatsRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
	Topic         string `ext:"topic,omitempty"`
	TopicList     string `ext:"topicList,omitempty"`
}

// RequestCode is GetConsumeStats.
func (*GetConsumeStatsRequest) RequestCode() RequestCode { return GetConsumeStats }

// ConsumeStats is the body of the answer; an unknown group has an empty table.
type ConsumeStats struct {
	ConsumeTPS  float64                        `json:"consumeTps"`
	OffsetTable map[MessageQueue]OffsetWrapper `json:"offsetTable"`
}

// OffsetWrapper is where a group stands in one queue.
type OffsetWrapper struct {
	BrokerOffset   int64 `json:"brokerOffset"` // of the next message to be stored
	ConsumerOffset int64 `json:"consumerOffset"`
	LastTimestamp  int64 `json:"lastTimestamp"` // store time of message ConsumerOffset-1 in ms, 0 if there is none
	PullOffset     int64 `json:"pullOffset"`    // since 5.0.0, -1 before
}

func (o *OffsetWrapper) setDefaults() { *o = OffsetWrapper{PullOffset: -1} }

var consumeStatsBody = newBody[ConsumeStats]("consume stats")

// DecodeConsumeStats reads the body.
func DecodeConsumeStats(b []byte) (*ConsumeStats, error) { return consumeStatsBody.decode(b) }

// Encode is the body as Java reads it.
func (s *ConsumeStats) Encode() []byte { return consumeStatsBody.encode(s) }
