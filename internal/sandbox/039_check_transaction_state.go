package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// CHECK_TRANSACTION_STATE (39): a producer is asked for the outcome of the half message m. The body is the message as it
// was meant: with its real topic and queue.
func (b *broker) askProducer(p *peer, m *protocol.MessageExt, f *facts) {
	h := &protocol.CheckTransactionStateRequest{
		TranStateTableOffset: m.QueueOffset, CommitLogOffset: m.CommitLogOffset, MsgID: f.unique, TransactionID: f.unique,
		OffsetMsgID: m.OffsetID(), Topic: m.Topic, BrokerName: b.name,
	}
	asked := *m
	asked.Topic = m.Property(protocol.PropertyRealTopic)
	if id, err := strconv.ParseInt(m.Property(protocol.PropertyRealQueueID), 10, 32); err == nil {
		asked.QueueID = int32(id)
	}
	b.push(p, h, protocol.AppendMessage(nil, &asked))
}
