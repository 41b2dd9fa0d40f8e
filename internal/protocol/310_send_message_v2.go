package protocol

// SEND_MESSAGE_V2 (310): SEND_MESSAGE with one letter a field, Java's SendMessageRequestHeaderV2. Java's default.

// SendMessageV2Request is the header of SEND_MESSAGE_V2, field for field that of SendMessageRequest. The answer is a
// SendMessageResponse.
type SendMessageV2Request struct {
	A string  `ext:"a"`           // producerGroup
	B string  `ext:"b"`           // topic
	C string  `ext:"c"`           // defaultTopic
	D int32   `ext:"d"`           // defaultTopicQueueNums
	E int32   `ext:"e"`           // queueId
	F SysFlag `ext:"f"`           // sysFlag
	G int64   `ext:"g"`           // bornTimestamp, ms
	H int32   `ext:"h"`           // flag
	I string  `ext:"i,omitempty"` // properties
	J int32   `ext:"j"`           // reconsumeTimes
	K bool    `ext:"k"`           // unitMode
	L *int32  `ext:"l"`           // maxReconsumeTimes
	M bool    `ext:"m"`           // batch
	N string  `ext:"n,omitempty"` // brokerName, since 5.1.0
}

// RequestCode is SendMessageV2.
func (*SendMessageV2Request) RequestCode() RequestCode { return SendMessageV2 }

// V1 is the same header under the full names.
func (r *SendMessageV2Request) V1() *SendMessageRequest {
	return &SendMessageRequest{
		ProducerGroup: r.A, Topic: r.B, DefaultTopic: r.C, DefaultTopicQueueNums: r.D, QueueID: r.E, SysFlag: r.F,
		BornTimestamp: r.G, Flag: r.H, Properties: r.I, ReconsumeTimes: r.J, UnitMode: r.K, MaxReconsumeTimes: r.L,
		Batch: r.M, BrokerName: r.N,
	}
}
