package sandbox

import (
	"fmt"
	"maps"
	"strings"

	"mqctl/internal/protocol"
)

// topicAttributes are the attributes that a 5.5 broker knows.
var topicAttributes = map[string]bool{
	"message.type": true, "queue.type": true, "cleanup.policy": true, "reserve.time": true, "delete.policy": true, "lite.expiration": true,
}

// UPDATE_AND_CREATE_TOPIC (17): create a topic on this broker or change it.
func handleUpdateAndCreateTopic(r *request) *protocol.Command {
	var h protocol.UpdateAndCreateTopicRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	if remark := badTopicName(h.Topic); remark != "" {
		return r.fail(b.sandbox.invalid(), remark)
	}
	if protocol.IsSystemTopic(h.Topic) {
		return r.failf(b.sandbox.invalid(), "The topic[%s] is conflict with system topic.", h.Topic)
	}
	if n := max(h.ReadQueueNums, h.WriteQueueNums); n > maxQueues { // negative numbers are fine with a real broker
		return r.failf(protocol.CodeSystemError, "%d queues, want at most %d", n, maxQueues)
	}
	attributes := map[string]string{}
	if old := b.topics[h.Topic]; old != nil {
		attributes = maps.Clone(old.Attributes)
	}
	if err := changeAttributes(attributes, h.Attributes); err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	t := b.setTopic(protocol.TopicConfig{
		TopicName: h.Topic, ReadQueueNums: h.ReadQueueNums, WriteQueueNums: h.WriteQueueNums, Perm: h.Perm,
		TopicFilterType: protocol.TopicFilterSingleTag, TopicSysFlag: h.TopicSysFlag, Order: h.Order, Attributes: attributes,
	})
	if t == nil {
		return r.failf(protocol.CodeSystemError, "the broker has as many topics as it may, %d", b.sandbox.opt.MaxTopics)
	}
	return r.okRemark()
}

// changeAttributes applies a text such as "+message.type=FIFO,-cleanup.policy".
func changeAttributes(attributes map[string]string, text string) error {
	for change := range strings.SplitSeq(text, ",") {
		if change == "" {
			continue
		}
		name, value, set := strings.Cut(change[1:], "=")
		switch {
		case set && change[0] != '+' || !set && change[0] != '-':
			return fmt.Errorf("add/alter attribute format is wrong: %s", change)
		case !topicAttributes[name]:
			return fmt.Errorf("unsupported key: %s", name)
		case set:
			attributes[name] = value
		default:
			delete(attributes, name)
		}
	}
	return nil
}
