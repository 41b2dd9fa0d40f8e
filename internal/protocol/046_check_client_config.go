package protocol

// CHECK_CLIENT_CONFIG (46): have the broker judge a subscription, Java's CheckClientRequestBody. The request has no
// header; SUBSCRIPTION_PARSE_FAILED carries the parser's text.

// CheckClientConfigBody is the body of CHECK_CLIENT_CONFIG.
type CheckClientConfigBody struct {
	ClientID         string           `json:"clientId"`
	Group            string           `json:"group"`
	Namespace        string           `json:"namespace,omitempty"`
	SubscriptionData SubscriptionData `json:"subscriptionData"`
}

var checkClientConfigBody = newBody[CheckClientConfigBody]("client check")

// DecodeCheckClientConfigBody reads the body.
func DecodeCheckClientConfigBody(b []byte) (*CheckClientConfigBody, error) {
	return checkClientConfigBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *CheckClientConfigBody) Encode() []byte { return checkClientConfigBody.encode(c) }
