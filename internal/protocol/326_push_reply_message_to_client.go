package protocol

// PUSH_REPLY_MESSAGE_TO_CLIENT (326): the broker hands a reply to the client that waits for it, Java's
// ReplyMessageRequestHeader.

// PushReplyMessageToClientRequest is the header of PUSH_REPLY_MESSAGE_TO_CLIENT. The body is that of the reply, packed as
// SysFlag says; the answer is an empty success.
type PushReplyMessageToClientRequest struct {
	ProducerGroup         string  `ext:"producerGroup"`
	Topic                 string  `ext:"topic"`
	DefaultTopic          string  `ext:"defaultTopic"`
	DefaultTopicQueueNums int32   `ext:"defaultTopicQueueNums"`
	QueueID               int32   `ext:"queueId"`
	SysFlag               SysFlag `ext:"sysFlag"`
	BornTimestamp         int64   `ext:"bornTimestamp"` // ms
	Flag                  int32   `ext:"flag"`
	Properties            string  `ext:"properties,omitempty"`
	ReconsumeTimes        int32   `ext:"reconsumeTimes"`
	UnitMode              bool    `ext:"unitMode"`
	BornHost              string  `ext:"bornHost,omitempty"`  // ip:port
	StoreHost             string  `ext:"storeHost,omitempty"` // ip:port
	StoreTimestamp        int64   `ext:"storeTimestamp"`      // ms
}

// RequestCode is PushReplyMessageToClient.
func (*PushReplyMessageToClientRequest) RequestCode() RequestCode { return PushReplyMessageToClient }
