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
	if h.ReadQueueNums < 0 || h.WriteQueueNums < 0 || max(h.ReadQueueNums, h.WriteQueueNums) > maxQueues {
		return r.failf(protocol.CodeSystemError, "queue numbers %d and %d, want 0 to %d", h.ReadQueueNums, h.WriteQueueNums, maxQueues)
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
	return r.okRemark(nil)
}

// changeAttributes applies a text such as "+message.type=FIFO,-cleanup.policy".
func changeAttributes(attributes map[string]string, text string) error {
	for change := range strings.SplitSeq(text, ",") {
		if change == "" {
			continue
		}
		name, value, _ := strings.Cut(change[1:], "=")
		switch {
		case !topicAttributes[name]:
			return fmt.Errorf("unsupported key: %s", name)
		case change[0] == '+':
			attributes[name] = value
		case change[0] == '-':
			delete(attributes, name)
		default:
			return fmt.Errorf("attribute %q starts with neither + nor -", change)
		}
	}
	return nil
}
