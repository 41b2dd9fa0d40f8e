package sandbox

import (
	"slices"
	"strconv"

	"mqctl/internal/protocol"
)

// CONSUME_MESSAGE_DIRECTLY (309): a client is given one message to consume, which is named by its offset id; its answer is
// passed back.
func handleConsumeMessageDirectly(r *request) *protocol.Command {
	var h protocol.ConsumeMessageDirectlyRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	_, offset, err := protocol.DecodeOffsetID(h.MsgID)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	record := b.log.recordAt(offset)
	if record == nil {
		return r.failf(protocol.CodeSystemError, "no message stands at the offset %d", offset)
	}
	own := []string{"brokerName", "topicSysFlag", "groupSysFlag"}
	ext := slices.DeleteFunc(slices.Clone(r.Ext), func(f protocol.ExtField) bool { return slices.Contains(own, f.Key) })
	ext.Add("brokerName", b.name)
	if t := b.topics[h.Topic]; t != nil {
		ext.Add("topicSysFlag", strconv.Itoa(int(t.TopicSysFlag)))
	}
	if g := b.groups[h.ConsumerGroup]; g != nil {
		ext.Add("groupSysFlag", strconv.Itoa(int(g.GroupSysFlag)))
	}
	return r.callConsumer(h.ConsumerGroup, h.ClientID, ext, record)
}
