package protocol

// QUERY_ASSIGNMENT (400): have the broker compute a member's queues, Java's QueryAssignmentRequestBody. Since 5.0.0; the
// request has no header.

// QueryAssignmentBody is the body of QUERY_ASSIGNMENT.
type QueryAssignmentBody struct {
	ClientID      string       `json:"clientId"`
	ConsumerGroup string       `json:"consumerGroup"`
	MessageModel  MessageModel `json:"messageModel"`
	StrategyName  string       `json:"strategyName"` // such as AVG
	Topic         string       `json:"topic"`
}

var queryAssignmentBody = newBody[QueryAssignmentBody]("assignment request")

// DecodeQueryAssignmentBody reads the body.
func DecodeQueryAssignmentBody(b []byte) (*QueryAssignmentBody, error) {
	return queryAssignmentBody.decode(b)
}

// Encode is the body as Java reads it.
func (q *QueryAssignmentBody) Encode() []byte { return queryAssignmentBody.encode(q) }

// QueryAssignmentResult is the body of the answer, Java's QueryAssignmentResponseBody.
type QueryAssignmentResult struct {
	MessageQueueAssignments []MessageQueueAssignment `json:"messageQueueAssignments"`
}

// MessageQueueAssignment is one queue and how the member is to read it.
type MessageQueueAssignment struct {
	Attachments  map[string]string `json:"attachments,omitempty"`
	MessageQueue MessageQueue      `json:"messageQueue"`
	Mode         string            `json:"mode"` // PULL or POP
}

var queryAssignmentResult = newBody[QueryAssignmentResult]("assignment")

// DecodeQueryAssignmentResult reads the body.
func DecodeQueryAssignmentResult(b []byte) (*QueryAssignmentResult, error) {
	return queryAssignmentResult.decode(b)
}

// Encode is the body as Java reads it.
func (q *QueryAssignmentResult) Encode() []byte { return queryAssignmentResult.encode(q) }
