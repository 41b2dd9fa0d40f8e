package protocol

// SEND_REPLY_MESSAGE_V2 (325): SEND_REPLY_MESSAGE with one letter a field.

// SendReplyMessageV2Request is the header of SEND_REPLY_MESSAGE_V2, that of SEND_MESSAGE_V2; the answer is a
// SendMessageResponse.
type SendReplyMessageV2Request SendMessageV2Request

// RequestCode is SendReplyMessageV2.
func (*SendReplyMessageV2Request) RequestCode() RequestCode { return SendReplyMessageV2 }
