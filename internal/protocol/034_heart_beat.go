package protocol

// HEART_BEAT (34): what a client produces to and consumes, Java's HeartbeatData. The request has no header.

// HeartBeatResponse is the header of the answer.
type HeartBeatResponse struct {
	SupportHeartbeatV2 bool `ext:"IS_SUPPORT_HEART_BEAT_V2,omitempty"` // since 5.1.3
	SubChange          bool `ext:"IS_SUB_CHANGE,omitempty"`
}

// ConsumeType is how a group gets its messages, Java's ConsumeType.
type ConsumeType string

// The consume types.
const (
	ConsumePassively ConsumeType = "CONSUME_PASSIVELY" // push
	ConsumeActively  ConsumeType = "CONSUME_ACTIVELY"  // pull and lite pull
	ConsumePop       ConsumeType = "CONSUME_POP"
)

// MessageModel is how a group shares its queues, Java's MessageModel.
type MessageModel string

// The message models.
const (
	Clustering   MessageModel = "CLUSTERING"
	Broadcasting MessageModel = "BROADCASTING"
)

// ConsumeFromWhere is where a group without offsets starts, Java's ConsumeFromWhere.
type ConsumeFromWhere string

// The places to start from; Java has three more names for the first.
const (
	ConsumeFromLastOffset  ConsumeFromWhere = "CONSUME_FROM_LAST_OFFSET"
	ConsumeFromFirstOffset ConsumeFromWhere = "CONSUME_FROM_FIRST_OFFSET"
	ConsumeFromTimestamp   ConsumeFromWhere = "CONSUME_FROM_TIMESTAMP"
)

// HeartbeatData is the body of HEART_BEAT. A fingerprint of 0 and WithoutSub false mean the full heartbeat of version 1.
type HeartbeatData struct {
	ClientID             string         `json:"clientID"` // unique in the cluster
	ConsumerDataSet      []ConsumerData `json:"consumerDataSet"`
	HeartbeatFingerprint int32          `json:"heartbeatFingerprint"`
	ProducerDataSet      []ProducerData `json:"producerDataSet"`
	WithoutSub           bool           `json:"withoutSub"`
}

// ConsumerData is one consumer group of a client. The broker drops the group's subscriptions that are not listed.
type ConsumerData struct {
	ConsumeFromWhere    ConsumeFromWhere   `json:"consumeFromWhere"`
	ConsumeType         ConsumeType        `json:"consumeType"`
	GroupName           string             `json:"groupName"`
	MessageModel        MessageModel       `json:"messageModel"`
	SubscriptionDataSet []SubscriptionData `json:"subscriptionDataSet"`
	UnitMode            bool               `json:"unitMode"`
}

// ProducerData is one producer group of a client; the broker asks any member about open transactions.
type ProducerData struct {
	GroupName string `json:"groupName"`
}

var heartbeatBody = newBody[HeartbeatData]("heartbeat")

// DecodeHeartbeatData reads the body.
func DecodeHeartbeatData(b []byte) (*HeartbeatData, error) { return heartbeatBody.decode(b) }

// Encode is the body as Java reads it.
func (h *HeartbeatData) Encode() []byte { return heartbeatBody.encode(h) }
