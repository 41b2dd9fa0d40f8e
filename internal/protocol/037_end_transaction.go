package protocol

// END_TRANSACTION (37): the outcome of a half message, Java's EndTransactionRequestHeader.

// EndTransactionRequest is the header of END_TRANSACTION; it goes to the broker that stored the half message. After a
// check the offsets are those of the check: the broker has stored the half message anew.
type EndTransactionRequest struct {
	ProducerGroup        string  `ext:"producerGroup"`
	TranStateTableOffset int64   `ext:"tranStateTableOffset,required"` // offset in the half queue
	CommitLogOffset      int64   `ext:"commitLogOffset,required"`
	CommitOrRollback     SysFlag `ext:"commitOrRollback,required"` // FlagTransCommit, FlagTransRollback, or 0 for unknown
	FromTransactionCheck bool    `ext:"fromTransactionCheck"`
	MsgID                string  `ext:"msgId"` // unique id
	TransactionID        string  `ext:"transactionId,omitempty"`
	Topic                string  `ext:"topic,omitempty"`
	BrokerName           string  `ext:"bname,omitempty"`
}

// RequestCode is EndTransaction.
func (*EndTransactionRequest) RequestCode() RequestCode { return EndTransaction }
