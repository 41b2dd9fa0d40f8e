package protocol

// QUERY_MESSAGE (12): find messages by index key or unique id, Java's QueryMessageRequestHeader.

// QueryMessageRequest is the header of QUERY_MESSAGE. The index holds hashes: verify the key in what comes back.
type QueryMessageRequest struct {
	Topic          string `ext:"topic"`
	Key            string `ext:"key"`
	MaxNum         int32  `ext:"maxNum"`
	BeginTimestamp int64  `ext:"beginTimestamp"`              // store time, ms
	EndTimestamp   int64  `ext:"endTimestamp"`                // store time, ms
	UniqueKeyQuery bool   `ext:"_UNIQUE_KEY_QUERY,omitempty"` // Key is a unique id; the broker then sets MaxNum itself
	IndexType      string `ext:"indexType,omitempty"`         // since 5.5: K keys, U unique id, T tag
	LastKey        string `ext:"lastKey,omitempty"`           // since 5.5
}

// RequestCode is QueryMessage.
func (*QueryMessageRequest) RequestCode() RequestCode { return QueryMessage }

// QueryMessageResponse is the header of the answer; its body is read by DecodeMessages. No match is QUERY_NOT_FOUND.
type QueryMessageResponse struct {
	IndexLastUpdateTimestamp int64 `ext:"indexLastUpdateTimestamp"` // ms
	IndexLastUpdatePhyOffset int64 `ext:"indexLastUpdatePhyoffset"` // commit-log offset
}
