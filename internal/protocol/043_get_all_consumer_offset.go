package protocol

// GET_ALL_CONSUMER_OFFSET (43): every stored offset of one broker, Java's ConsumerOffsetSerializeWrapper. The request has
// no header.

// AllConsumerOffset is the body of the answer. Both tables are keyed by topic@group.
type AllConsumerOffset struct {
	DataVersion     DataVersion             `json:"dataVersion"`
	GroupTopicMap   map[string][]string     `json:"groupTopicMap"`
	OffsetTable     map[string]QueueOffsets `json:"offsetTable"`
	PullOffsetTable map[string]QueueOffsets `json:"pullOffsetTable"`
}

// QueueOffset is the offset of one queue of a topic.
type QueueOffset struct {
	QueueID int32 `json:"key"`
	Offset  int64 `json:"value"`
}

// QueueOffsets is a map of queue ids to offsets. On the wire it is an object with bare integer keys; a list takes far less
// memory than a map does, of which a broker's table would need thousands.
type QueueOffsets []QueueOffset

// Get is the offset of a queue, and whether there is one.
func (q QueueOffsets) Get(queueID int32) (int64, bool) {
	for _, o := range q {
		if o.QueueID == queueID {
			return o.Offset, true
		}
	}
	return 0, false
}

var allConsumerOffsetBody = newBody[AllConsumerOffset]("all consumer offsets")

// DecodeAllConsumerOffset reads the body.
func DecodeAllConsumerOffset(b []byte) (*AllConsumerOffset, error) {
	return allConsumerOffsetBody.decode(b)
}

// Encode is the body as a broker writes it.
func (a *AllConsumerOffset) Encode() []byte { return allConsumerOffsetBody.encode(a) }
