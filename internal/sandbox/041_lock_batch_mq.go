package sandbox

import "mqctl/internal/protocol"

// LOCK_BATCH_MQ (41): lock queues for one client or refresh its locks, which live 60 s. The answer has those granted.
func handleLockBatchMQ(r *request) *protocol.Command {
	body, err := protocol.DecodeLockBatchBody(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	var granted protocol.LockBatchResult
	for _, mq := range body.MQSet {
		if r.broker.tryLock(body.ConsumerGroup, mq, body.ClientID) {
			granted.LockOKMQSet = append(granted.LockOKMQSet, mq)
		}
	}
	return r.ok(nil, granted.Encode())
}
