package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// HEART_BEAT (34): registers a client's groups on this connection and creates what they need. A group that may not be
// created is passed over without a word, as on a real broker.
func handleHeartBeat(r *request) *protocol.Command {
	data, err := protocol.DecodeHeartbeatData(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	if data.ClientID == "" {
		return r.fail(protocol.CodeSystemError, "the heartbeat names no client")
	}
	b := r.broker
	unknown := false // a heartbeat without subscriptions came from a client that the broker does not know
	for i := range data.ConsumerDataSet {
		c := &data.ConsumerDataSet[i]
		cfg := b.groupConfig(c.GroupName)
		if cfg == nil {
			continue
		}
		if cfg.RetryQueueNums > 0 {
			b.ensureTopic(protocol.RetryTopic(c.GroupName), cfg.RetryQueueNums)
		}
		joined := b.joinConsumers(c, r.peer, data.ClientID, data.WithoutSub)
		unknown = unknown || joined && data.WithoutSub
	}
	for _, p := range data.ProducerDataSet {
		if b.sandbox.badGroupName(p.GroupName) == "" {
			b.joinProducers(p.GroupName, r.peer, data.ClientID)
		}
	}
	if !b.sandbox.since(version513) {
		return r.ok(nil, nil)
	}
	resp := r.ok(nil, nil)
	resp.Ext = protocol.ExtFields{
		{Key: "IS_SUPPORT_HEART_BEAT_V2", Value: "true"},
		{Key: "IS_SUB_CHANGE", Value: strconv.FormatBool(unknown || data.HeartbeatFingerprint == 0)},
	}
	return resp
}
