package protocol

// QUERY_CONSUME_TIME_SPAN (303): the times of a group's place in each queue, Java's QueryConsumeTimeSpanRequestHeader.

// QueryConsumeTimeSpanRequest is the header of QUERY_CONSUME_TIME_SPAN.
type QueryConsumeTimeSpanRequest struct {
	Topic string `ext:"topic,required"`
	Group string `ext:"group,required"`
}

// RequestCode is QueryConsumeTimeSpan.
func (*QueryConsumeTimeSpanRequest) RequestCode() RequestCode { return QueryConsumeTimeSpan }

// ConsumeTimeSpans is the body of the answer, Java's QueryConsumeTimeSpanBody.
type ConsumeTimeSpans struct {
	ConsumeTimeSpanSet []ConsumeTimeSpan `json:"consumeTimeSpanSet"`
}

// ConsumeTimeSpan is the store times of a queue's first, last and last consumed message, and how far the group lags
// behind, all in ms. A queue for which nothing was ever committed reports the epoch.
type ConsumeTimeSpan struct {
	ConsumeTimestamp int64        `json:"consumeTimeStamp"`
	DelayTime        int64        `json:"delayTime"`
	MaxTimestamp     int64        `json:"maxTimeStamp"`
	MessageQueue     MessageQueue `json:"messageQueue"`
	MinTimestamp     int64        `json:"minTimeStamp"`
}

var consumeTimeSpansBody = newBody[ConsumeTimeSpans]("consume time spans")

// DecodeConsumeTimeSpans reads the body.
func DecodeConsumeTimeSpans(b []byte) (*ConsumeTimeSpans, error) {
	return consumeTimeSpansBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *ConsumeTimeSpans) Encode() []byte { return consumeTimeSpansBody.encode(c) }
