package protocol

// GET_ALL_CONSUMER_OFFSET (43): every stored offset of one broker, Java's ConsumerOffsetSerializeWrapper. The request has
// no header.

// AllConsumerOffset is the body of the answer. Both tables are keyed by topic@group and then by queue id.
type AllConsumerOffset struct {
	DataVersion     DataVersion                `json:"dataVersion"`
	GroupTopicMap   map[string][]string        `json:"groupTopicMap"`
	OffsetTable     map[string]map[int32]int64 `json:"offsetTable"`
	PullOffsetTable map[string]map[int32]int64 `json:"pullOffsetTable"`
}

var allConsumerOffsetBody = newBody[AllConsumerOffset]("all consumer offsets").withBareKeys()

// DecodeAllConsumerOffset reads the body.
func DecodeAllConsumerOffset(b []byte) (*AllConsumerOffset, error) {
	return allConsumerOffsetBody.decode(b)
}

// Encode is the body as a broker writes it, with bare integer keys.
func (a *AllConsumerOffset) Encode() []byte { return allConsumerOffsetBody.encode(a) }
