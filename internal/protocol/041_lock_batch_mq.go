package protocol

// LOCK_BATCH_MQ (41): lock queues for one client of an orderly group, or refresh the locks. They expire after 60 s.

// LockBatchBody is the body of LOCK_BATCH_MQ and UNLOCK_BATCH_MQ, Java's LockBatchRequestBody. Neither has a header.
type LockBatchBody struct {
	ClientID       string         `json:"clientId"`
	ConsumerGroup  string         `json:"consumerGroup"`
	MQSet          []MessageQueue `json:"mqSet"`
	OnlyThisBroker bool           `json:"onlyThisBroker"`
}

var lockBatchBody = newBody[LockBatchBody]("lock request")

// DecodeLockBatchBody reads the body.
func DecodeLockBatchBody(b []byte) (*LockBatchBody, error) { return lockBatchBody.decode(b) }

// Encode is the body as Java reads it.
func (l *LockBatchBody) Encode() []byte { return lockBatchBody.encode(l) }

// LockBatchResult is the body of LOCK_BATCH_MQ's answer, Java's LockBatchResponseBody: the queues that were granted.
type LockBatchResult struct {
	LockOKMQSet []MessageQueue `json:"lockOKMQSet"`
}

var lockBatchResult = newBody[LockBatchResult]("lock answer")

// DecodeLockBatchResult reads the body.
func DecodeLockBatchResult(b []byte) (*LockBatchResult, error) { return lockBatchResult.decode(b) }

// Encode is the body as Java reads it.
func (l *LockBatchResult) Encode() []byte { return lockBatchResult.encode(l) }
