package protocol

// GET_BROKER_RUNTIME_INFO (28): a broker's figures by name, all as text. The request has no header.

// KVTable is a map of texts, Java's KVTable: brokerVersionDesc, bootTimestamp, putTps (three numbers over 10, 60 and 600
// seconds in one text), commitLogMinOffset and many more.
type KVTable struct {
	Table map[string]string `json:"table"`
}

var kvTableBody = newBody[KVTable]("table")

// DecodeKVTable reads the body.
func DecodeKVTable(b []byte) (*KVTable, error) { return kvTableBody.decode(b) }

// Encode is the body as Java reads it.
func (t *KVTable) Encode() []byte { return kvTableBody.encode(t) }
