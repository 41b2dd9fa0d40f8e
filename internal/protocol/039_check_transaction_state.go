package protocol

// CHECK_TRANSACTION_STATE (39): the broker asks a producer for the outcome of a half message, Java's
// CheckTransactionStateRequestHeader. One-way; the producer answers with END_TRANSACTION.

// CheckTransactionStateRequest is the header of CHECK_TRANSACTION_STATE. The body is the half message with its real topic
// and queue, read by DecodeMessages.
type CheckTransactionStateRequest struct {
	TranStateTableOffset int64  `ext:"tranStateTableOffset,required"`
	CommitLogOffset      int64  `ext:"commitLogOffset,required"`
	MsgID                string `ext:"msgId,omitempty"` // unique id
	TransactionID        string `ext:"transactionId,omitempty"`
	OffsetMsgID          string `ext:"offsetMsgId,omitempty"`
	Topic                string `ext:"topic,omitempty"` // the half topic
	BrokerName           string `ext:"bname,omitempty"`
}

// RequestCode is CheckTransactionState.
func (*CheckTransactionStateRequest) RequestCode() RequestCode { return CheckTransactionState }
