package sandbox

import "mqctl/internal/protocol"

// CHECK_CLIENT_CONFIG (46): judges a subscription. Tags are always fine; other kinds need a filter the sandbox lacks.
func handleCheckClientConfig(r *request) *protocol.Command {
	body, err := protocol.DecodeCheckClientConfigBody(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	if sub := &body.SubscriptionData; !sub.IsTag() {
		return r.noSQL(sub.ExpressionType)
	}
	return r.ok(nil, nil)
}
