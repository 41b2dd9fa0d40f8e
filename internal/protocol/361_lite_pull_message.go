package protocol

// LITE_PULL_MESSAGE (361): PULL_MESSAGE of a lite pull consumer, which brokers since 5.0.0 serve from a thread pool of its
// own; older ones answer REQUEST_CODE_NOT_SUPPORTED.

// LitePullMessageRequest is the header of LITE_PULL_MESSAGE: that of PULL_MESSAGE, with PullLite in SysFlag. The answer is
// a PullMessageResponse.
type LitePullMessageRequest PullMessageRequest

// RequestCode is LitePullMessage.
func (*LitePullMessageRequest) RequestCode() RequestCode { return LitePullMessage }
