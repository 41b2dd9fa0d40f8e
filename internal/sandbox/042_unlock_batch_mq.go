package sandbox

import "mqctl/internal/protocol"

// UNLOCK_BATCH_MQ (42): give locks back.
func handleUnlockBatchMQ(r *request) *protocol.Command {
	body, err := protocol.DecodeLockBatchBody(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	if body.ConsumerGroup == "" {
		return r.fail(protocol.CodeSystemError, "no group is named")
	}
	for _, mq := range body.MQSet {
		r.broker.unlock(body.ConsumerGroup, mq, body.ClientID)
	}
	return r.ok(nil, nil)
}
