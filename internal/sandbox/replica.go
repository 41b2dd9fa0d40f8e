package sandbox

import (
	"maps"
	"time"

	"mqctl/internal/protocol"
)

// When a replica copies the offsets of groups from its master.
const (
	firstSync    = 3 * time.Second
	syncEvery    = 63 * time.Second // it looks every 3 s whether more than 60 have passed
	oldSyncEvery = 10 * time.Second // before 5.0.0
)

// replicaHandlers is what a replica answers: what its master does, but it stores nothing.
var replicaHandlers = withoutWriting(brokerHandlers)

func withoutWriting(table map[protocol.RequestCode]handler) map[protocol.RequestCode]handler {
	out := maps.Clone(table)
	for _, code := range []protocol.RequestCode{
		protocol.SendMessage, protocol.SendMessageV2, protocol.SendBatchMessage, protocol.ConsumerSendMsgBack,
	} {
		out[code] = func(r *request) *protocol.Command {
			return r.fail(protocol.CodeSystemBusy, "[REJECTREQUEST]system busy, start flow control for a while")
		}
	}
	out[protocol.EndTransaction] = func(r *request) *protocol.Command {
		return r.fail(protocol.CodeSlaveNotAvailable, "not set any response code")
	}
	out[protocol.InvokeBrokerToResetOffset] = func(r *request) *protocol.Command {
		return r.fail(protocol.CodeSystemError, "Can not reset offset in slave broker")
	}
	// A real replica takes these in and forgets them when it copies its master's tables the next time.
	out[protocol.UpdateAndCreateTopic] = func(r *request) *protocol.Command { return r.okRemark() }
	for _, code := range []protocol.RequestCode{
		protocol.UpdateAndCreateSubscriptionGroup, protocol.DeleteTopicInBroker, protocol.DeleteSubscriptionGroup,
	} {
		out[code] = func(r *request) *protocol.Command { return r.ok(nil, nil) }
	}
	return out
}

// armSync has a replica copy the offsets of groups now and then. Its own, which it took while the master was away, are lost
// then. The rest of its data is its master's anyway.
func (b *broker) armSync() {
	s := b.sandbox
	every := syncEvery
	if !s.since(protocol.Version500) {
		every = oldSyncEvery
	}
	var again func()
	again = func() {
		if b.master.up {
			b.offsets.copyFrom(&b.master.offsets)
		}
		b.sync = s.alarms.set(s.now().Add(every), again)
	}
	b.sync = s.alarms.set(s.now().Add(firstSync), again)
}
