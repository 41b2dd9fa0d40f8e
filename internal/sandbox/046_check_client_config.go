package sandbox

import "mqctl/internal/protocol"

// CHECK_CLIENT_CONFIG (46): judges a subscription. Tags are always fine, a condition has to be readable.
func handleCheckClientConfig(r *request) *protocol.Command {
	body, err := protocol.DecodeCheckClientConfigBody(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	sub := &body.SubscriptionData
	if sub.IsTag() {
		return r.ok(nil, nil)
	}
	if resp := r.checkSQLAllowed(sub.ExpressionType); resp != nil {
		return resp
	}
	if _, err := r.sandbox.parseSQL(sub.ExpressionType, sub.SubString); err != nil {
		return r.fail(protocol.CodeSubscriptionParseFailed, err.Error())
	}
	return r.ok(nil, nil)
}
