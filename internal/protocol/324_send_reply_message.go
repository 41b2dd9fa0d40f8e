package protocol

// SEND_REPLY_MESSAGE (324): the answer of a request-reply pair, sent to <cluster>_REPLY_TOPIC, Java's
// ReplyMessageRequestHeader.

// SendReplyMessageRequest is the header of SEND_REPLY_MESSAGE, that of SEND_MESSAGE; the answer is a SendMessageResponse.
type SendReplyMessageRequest SendMessageRequest

// RequestCode is SendReplyMessage.
func (*SendReplyMessageRequest) RequestCode() RequestCode { return SendReplyMessage }
