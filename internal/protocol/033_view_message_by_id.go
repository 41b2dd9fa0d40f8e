package protocol

// VIEW_MESSAGE_BY_ID (33): the message at a commit-log offset, Java's ViewMessageRequestHeader.

// ViewMessageByIDRequest is the header of VIEW_MESSAGE_BY_ID; ask the broker whose address the offset id holds. The
// answer's body is one message, read by DecodeMessages.
type ViewMessageByIDRequest struct {
	Offset int64  `ext:"offset,required"` // commit-log offset
	Topic  string `ext:"topic,omitempty"` // since 5.0.0
}

// RequestCode is ViewMessageByID.
func (*ViewMessageByIDRequest) RequestCode() RequestCode { return ViewMessageByID }
