package protocol

// SEND_MESSAGE (10): one message with the header's fields under their full names, Java's SendMessageRequestHeader.

// SendMessageRequest is the header of SEND_MESSAGE. The body is the message's, packed if SysFlag says so; brokers fail on
// an empty one.
type SendMessageRequest struct {
	ProducerGroup         string  `ext:"producerGroup"`
	Topic                 string  `ext:"topic"`
	DefaultTopic          string  `ext:"defaultTopic"`          // template of a topic that is created by the send, TBW102
	DefaultTopicQueueNums int32   `ext:"defaultTopicQueueNums"` // Java's default: 4
	QueueID               int32   `ext:"queueId"`               // negative: the broker picks one
	SysFlag               SysFlag `ext:"sysFlag"`
	BornTimestamp         int64   `ext:"bornTimestamp"` // ms
	Flag                  int32   `ext:"flag"`          // the user's, stored as it is
	Properties            string  `ext:"properties,omitempty"`
	ReconsumeTimes        int32   `ext:"reconsumeTimes"` // counts only for %RETRY% topics
	UnitMode              bool    `ext:"unitMode"`
	MaxReconsumeTimes     *int32  `ext:"maxReconsumeTimes"` // for %RETRY% topics; nil: the group's own
	Batch                 bool    `ext:"batch"`
	BrokerName            string  `ext:"bname,omitempty"`
}

// RequestCode is SendMessage.
func (*SendMessageRequest) RequestCode() RequestCode { return SendMessage }

// V2 is the same header under the one-letter names.
func (r *SendMessageRequest) V2() *SendMessageV2Request {
	return &SendMessageV2Request{
		A: r.ProducerGroup, B: r.Topic, C: r.DefaultTopic, D: r.DefaultTopicQueueNums, E: r.QueueID, F: r.SysFlag,
		G: r.BornTimestamp, H: r.Flag, I: r.Properties, J: r.ReconsumeTimes, K: r.UnitMode, L: r.MaxReconsumeTimes,
		M: r.Batch, N: r.BrokerName,
	}
}

// SendMessageResponse is the header of a successful answer (codes 0, 10, 11 and 12) to all kinds of send.
type SendMessageResponse struct {
	MsgID         string `ext:"msgId,required"` // offset id; for a batch one for each message, separated by commas
	QueueID       int32  `ext:"queueId,required"`
	QueueOffset   int64  `ext:"queueOffset,required"` // of the first message; of the half or internal queue for half and delayed ones
	TransactionID string `ext:"transactionId,omitempty"`
	RecallHandle  string `ext:"recallHandle,omitempty"` // timer messages, since 5.3.2
	BatchUniqID   string `ext:"batchUniqId,omitempty"`  // inner batches
	TraceOn       *bool  `ext:"TRACE_ON"`
	MsgRegion     string `ext:"MSG_REGION,omitempty"`
}
