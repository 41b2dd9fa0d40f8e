package protocol

import "strings"

// RESET_CONSUMER_CLIENT_OFFSET (220): the broker tells a consumer its new offsets, Java's ResetOffsetRequestHeader.
// One-way; only brokers without server-side reset send it.

// ResetConsumerClientOffsetRequest is the header of RESET_CONSUMER_CLIENT_OFFSET; the offsets are in the body.
type ResetConsumerClientOffsetRequest struct {
	Topic     string `ext:"topic,required"`
	Group     string `ext:"group,required"`
	Timestamp int64  `ext:"timestamp"` // ms
	IsForce   bool   `ext:"isForce"`
	QueueID   *int32 `ext:"queueId"` // -1 for all
	Offset    *int64 `ext:"offset"`
}

// RequestCode is ResetConsumerClientOffset.
func (*ResetConsumerClientOffsetRequest) RequestCode() RequestCode { return ResetConsumerClientOffset }

// ResetOffsetBody is the body of 220 and of the answer to INVOKE_BROKER_TO_RESET_OFFSET, Java's ResetOffsetBody.
type ResetOffsetBody struct {
	OffsetTable map[MessageQueue]int64 `json:"offsetTable"`
}

// resetOffsetList is the form that a broker pushes when a C++ admin asked for the reset, Java's ResetOffsetBodyForC.
type resetOffsetList struct {
	OffsetTable []queueOffset `json:"offsetTable"`
}

type queueOffset struct {
	BrokerName string `json:"brokerName"`
	Offset     int64  `json:"offset"`
	QueueID    int32  `json:"queueId"`
	Topic      string `json:"topic"`
}

// resetOffsetAny looks at the table before it is known which form it has.
type resetOffsetAny struct {
	OffsetTable RawJSON `json:"offsetTable"`
}

var (
	resetOffsetBody     = newBody[ResetOffsetBody]("reset offsets")
	resetOffsetListBody = newBody[resetOffsetList]("reset offset list")
	resetOffsetAnyBody  = newBody[resetOffsetAny]("reset offsets")
)

// DecodeResetOffsetBody reads the body in its map form and in its list form.
func DecodeResetOffsetBody(b []byte) (*ResetOffsetBody, error) {
	form, err := resetOffsetAnyBody.decode(b)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(string(form.OffsetTable), "[") {
		return resetOffsetBody.decode(b)
	}
	list, err := resetOffsetListBody.decode(b)
	if err != nil {
		return nil, err
	}
	body := &ResetOffsetBody{OffsetTable: make(map[MessageQueue]int64, len(list.OffsetTable))}
	for _, q := range list.OffsetTable {
		body.OffsetTable[MessageQueue{Topic: q.Topic, BrokerName: q.BrokerName, QueueID: q.QueueID}] = q.Offset
	}
	return body, nil
}

// Encode is the body in its map form.
func (r *ResetOffsetBody) Encode() []byte { return resetOffsetBody.encode(r) }
