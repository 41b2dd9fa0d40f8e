package protocol

// CONSUMER_SEND_MSG_BACK (36): have the broker deliver a message again later, Java's ConsumerSendMsgBackRequestHeader.

// The delay levels with a meaning of their own. Others are 1 to 18.
const (
	DelayLevelBroker int32 = 0  // the broker picks 3 + reconsume times
	DelayLevelDLQ    int32 = -1 // straight to the group's dead letters
)

// ConsumerSendMsgBackRequest is the header of CONSUMER_SEND_MSG_BACK; it goes to the broker that stored the message.
type ConsumerSendMsgBackRequest struct {
	Offset            int64  `ext:"offset,required"` // commit-log offset
	Group             string `ext:"group,required"`
	DelayLevel        int32  `ext:"delayLevel,required"`
	OriginMsgID       string `ext:"originMsgId,omitempty"`
	OriginTopic       string `ext:"originTopic,omitempty"`
	UnitMode          bool   `ext:"unitMode"`
	MaxReconsumeTimes *int32 `ext:"maxReconsumeTimes"` // nil: the group's own; Java sends 16
	BrokerName        string `ext:"bname,omitempty"`
}

// RequestCode is ConsumerSendMsgBack.
func (*ConsumerSendMsgBackRequest) RequestCode() RequestCode { return ConsumerSendMsgBack }
