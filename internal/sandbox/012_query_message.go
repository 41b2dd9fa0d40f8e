package sandbox

import "mqctl/internal/protocol"

// defaultMaxNum is what a real broker puts in place of a query's maxNum when a unique id is asked for.
const defaultMaxNum = 32

// QUERY_MESSAGE (12): messages by key or unique id. The index knows hashes only, so other keys may turn up.
func handleQueryMessage(r *request) *protocol.Command {
	var h protocol.QueryMessageRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if h.MaxNum < 0 {
		return r.failf(protocol.CodeSystemError, "maxNum is %d", h.MaxNum)
	}
	if h.UniqueKeyQuery || h.IndexType == "U" {
		h.MaxNum = defaultMaxNum
	}
	b := r.broker
	size := 0
	found := b.keys.find(topicKeyHash(h.Topic), h.Key, int(h.MaxNum), func(offset int64) bool {
		m := b.message(offset)
		if m == nil || m.StoreTimestamp < h.BeginTimestamp || m.StoreTimestamp > h.EndTimestamp {
			return false
		}
		size += recordBound(m)
		return size <= maxAnswer
	})
	if len(found) == 0 {
		resp := r.fail(protocol.CodeQueryNotFound, "can not find message, maybe time range not correct")
		resp.Header = &protocol.QueryMessageResponse{}
		return resp
	}
	var body []byte
	for _, offset := range found {
		body = append(body, b.log.recordAt(offset)...)
	}
	last := b.keys.entries.at(b.keys.entries.next - 1).offset
	return r.ok(&protocol.QueryMessageResponse{IndexLastUpdateTimestamp: b.message(last).StoreTimestamp, IndexLastUpdatePhyOffset: last}, body)
}
