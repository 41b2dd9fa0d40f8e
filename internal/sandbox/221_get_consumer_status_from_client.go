package sandbox

import (
	"time"

	"mqctl/internal/protocol"
)

// statusPatience is how long a broker waits for a member's answer.
const statusPatience = 5 * time.Second

// GET_CONSUMER_STATUS_FROM_CLIENT (221): a broker asks one member how far it has come in a topic. done gets nil when there
// is no answer that could be read.
func (b *broker) askStatus(m *member, topic, group string, done func(*protocol.ConsumerStatus)) {
	req := protocol.NewRequest(&protocol.GetConsumerStatusFromClientRequest{Topic: topic, Group: group}, nil)
	b.ask(m.peer, req, statusPatience, func(resp *protocol.Command, err error) {
		if err != nil || resp.ResponseCode() != protocol.CodeSuccess || len(resp.Body) == 0 {
			done(nil)
			return
		}
		body, err := protocol.DecodeConsumerStatus(resp.Body)
		if err != nil {
			b.sandbox.log.Warn("the status of a consumer cannot be read", "client", m.clientID, "error", err)
		}
		done(body)
	})
}
