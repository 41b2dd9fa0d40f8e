package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// END_TRANSACTION (37): a producer tells the outcome of a half message. A commit stores it in its real topic; an unknown
// outcome is not even answered: the producer will be asked.
func handleEndTransaction(r *request) *protocol.Command {
	var h protocol.EndTransactionRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	if h.CommitOrRollback != protocol.FlagTransCommit && h.CommitOrRollback != protocol.FlagTransRollback {
		return nil
	}
	b := r.broker
	m := b.message(h.CommitLogOffset)
	switch {
	case m == nil || m.Topic != protocol.HalfTopic:
		return r.fail(protocol.CodeSystemError, "Find prepared transaction message failed")
	case m.Property(protocol.PropertyProducerGroup) != h.ProducerGroup:
		return r.fail(protocol.CodeSystemError, "The producer group wrong")
	case m.QueueOffset != h.TranStateTableOffset:
		return r.fail(protocol.CodeSystemError, "The transaction state table offset wrong")
	}
	if h.CommitOrRollback == protocol.FlagTransRollback {
		b.endHalf(h.TranStateTableOffset)
		return r.okRemark()
	}
	if !b.commitHalf(m) {
		return r.failf(protocol.CodeSystemError, "topic[%s] has vanished", m.Topic)
	}
	b.endHalf(h.TranStateTableOffset)
	return r.ok(nil, nil)
}

// commitHalf stores a copy of a half message where it was meant to go.
func (b *broker) commitHalf(m *protocol.MessageExt) bool {
	p := m.Properties()
	m.Topic, _ = p.Get(protocol.PropertyRealTopic)
	id, _ := p.Get(protocol.PropertyRealQueueID)
	n, err := strconv.ParseInt(id, 10, 32)
	if err != nil {
		return false
	}
	p.Delete(protocol.PropertyRealTopic)
	p.Delete(protocol.PropertyRealQueueID)
	m.RawProperties = p.AppendTo(nil)
	m.QueueID = int32(n)
	m.PreparedTransactionOffset = m.CommitLogOffset
	m.SysFlag |= protocol.FlagTransCommit
	f := readFacts(string(m.RawProperties))
	f.delay = 0 // clients take it out; a real broker loses such a message in the half topic
	return b.put(m, &f) != nil
}
