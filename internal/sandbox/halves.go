package sandbox

import "mqctl/internal/protocol"

// putHalf stores a half message where no consumer looks, with its real place among the properties.
func (b *broker) putHalf(m *protocol.MessageExt, f *facts) *queue {
	p := withRealQueue(m)
	p.Set(protocol.PropertyTransactionID, f.unique)
	m.RawProperties = p.AppendTo(nil)
	m.Topic, m.QueueID = protocol.HalfTopic, 0
	m.SysFlag &^= protocol.FlagTransRollback
	m.StoreTimestamp = b.sandbox.now().UnixMilli()
	return b.append(m, f, 0)
}
