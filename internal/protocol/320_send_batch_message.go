package protocol

// SEND_BATCH_MESSAGE (320): several messages for one queue in one body.

// SendBatchMessageRequest is the header of SEND_BATCH_MESSAGE: that of SEND_MESSAGE_V2, with M set and the properties of
// the batch as a whole in I. The body is made by EncodeBatch and never packed; the answer is a SendMessageResponse.
type SendBatchMessageRequest SendMessageV2Request

// RequestCode is SendBatchMessage.
func (*SendBatchMessageRequest) RequestCode() RequestCode { return SendBatchMessage }
