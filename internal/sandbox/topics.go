package sandbox

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"mqctl/internal/protocol"
)

// faq is what a real broker appends to remarks about missing things.
const faq = "\nSee https://rocketmq.apache.org/docs/bestPractice/06FAQ for further details."

// Lengths of names, Java's Validators and TopicValidator.
const (
	maxTopicLength      = 127
	maxRetryTopicLength = 255
	maxGroupLength      = 120 // since 5.5
	maxOldGroupLength   = 255
)

// topic is one topic on one broker.
type topic struct {
	protocol.TopicConfig
	keyPrefix int32 // topicKeyHash of its name
	queues    []*queue
}

// queueCount is how many queues the topic's numbers name, whichever of the two is larger.
func (t *topic) queueCount() int32 { return max(t.ReadQueueNums, t.WriteQueueNums, 0) }

// queue finds a queue, which exists as soon as somebody names it; nil for a number that no topic may have. Numbers that the
// configuration no longer names keep their messages.
func (b *broker) queue(t *topic, id int32) *queue {
	if id < 0 || id >= maxQueues {
		return nil
	}
	for int(id) >= len(t.queues) {
		t.queues = append(t.queues, &queue{mq: protocol.MessageQueue{
			Topic: t.TopicName, BrokerName: b.name, QueueID: int32(len(t.queues)),
		}})
	}
	return t.queues[id]
}

// queueOf is a queue that somebody has used before, nil for any other and for an unknown topic: a question must not create
// anything.
func (b *broker) queueOf(topic string, id int32) *queue {
	t := b.topics[topic]
	if t == nil || id < 0 || int(id) >= len(t.queues) {
		return nil
	}
	return t.queues[id]
}

// createTopic adds a topic or changes its numbers; nil when the broker has as many as it may.
func (b *broker) createTopic(name string, read, write int32, perm protocol.Perm) *topic {
	return b.setTopic(protocol.TopicConfig{
		TopicName: name, ReadQueueNums: read, WriteQueueNums: write, Perm: perm, TopicFilterType: protocol.TopicFilterSingleTag,
	})
}

func (b *broker) setTopic(cfg protocol.TopicConfig) *topic {
	t := b.topics[cfg.TopicName]
	if t == nil {
		if len(b.topics) >= b.sandbox.opt.MaxTopics {
			b.sandbox.log.Warn("topic refused: the broker has as many as it may", "topic", cfg.TopicName, "limit", b.sandbox.opt.MaxTopics)
			return nil
		}
		t = &topic{keyPrefix: topicKeyHash(cfg.TopicName)}
		b.topics[cfg.TopicName] = t
	}
	if cfg.Attributes == nil {
		cfg.Attributes = map[string]string{}
	}
	t.TopicConfig = cfg
	b.topicVer.next(b.sandbox.now())
	b.sandbox.names.registered(cfg.TopicName)
	b.sandbox.writes.Topics++
	return t
}

// createSystemTopics makes what a real broker has after its first start.
func (b *broker) createSystemTopics() {
	rw := protocol.PermRead | protocol.PermWrite
	if !b.sandbox.opt.NoAutoCreateTopics {
		b.createTopic(protocol.AutoCreateTopic, defaultQueues, defaultQueues, rw|protocol.PermInherit)
	}
	b.createTopic(b.sandbox.cluster, 16, 16, rw|protocol.PermInherit)
	b.createTopic(b.name, 1, 1, rw|protocol.PermInherit)
	b.createTopic(protocol.BenchmarkTopic, 1024, 1024, rw)
	b.createTopic(protocol.ScheduleTopic, maxDelayLevel, maxDelayLevel, rw)
	for _, name := range []string{
		protocol.SelfTestTopic, protocol.OffsetMovedTopic, protocol.HalfTopic, protocol.OpHalfTopic, protocol.TraceTopic,
		protocol.TransCheckMaxTopic, b.sandbox.cluster + "_REPLY_TOPIC",
	} {
		b.createTopic(name, 1, 1, rw)
	}
	b.sandbox.writes = Writes{}
}

// autoCreateTopic makes the topic that a producer sends to from the template it names, Java's
// createTopicInSendMessageMethod; nil when the template does not exist or does not pass itself on.
func (b *broker) autoCreateTopic(name, template string, queues int32) *topic {
	from := b.topics[template]
	if from == nil || from.Perm&protocol.PermInherit == 0 {
		return nil
	}
	n := max(0, min(queues, from.WriteQueueNums))
	return b.createTopic(name, n, n, from.Perm&^protocol.PermInherit)
}

// ensureTopic makes the retry or dead-letter topic of a group unless it exists.
func (b *broker) ensureTopic(name string, queues int32) *topic {
	if t := b.topics[name]; t != nil {
		return t
	}
	return b.createTopic(name, queues, queues, protocol.PermRead|protocol.PermWrite)
}

// deleteTopic forgets a topic, its messages and the offsets of groups on it. Parked pulls end by themselves.
func (b *broker) deleteTopic(name string) {
	t := b.topics[name]
	if t == nil {
		return
	}
	delete(b.topics, name)
	b.topicVer.next(b.sandbox.now())
	b.sandbox.writes.Topics++
	for _, q := range t.queues {
		q.entries.trim(q.maxOffset())
	}
	b.offsets.forget(b.sandbox.now(), func(key offsetKey) bool { return key.topic == name })
}

// badTopicName says what is wrong with a topic's name, "" for nothing.
func badTopicName(name string) string {
	limit := maxTopicLength
	if protocol.IsRetryTopic(name) || protocol.IsDLQTopic(name) {
		limit = maxRetryTopicLength
	}
	return badName("topic", name, limit)
}

// badGroupName says what is wrong with a group's name, "" for nothing.
func (s *Sandbox) badGroupName(name string) string {
	if s.since(protocol.Version550) {
		return badName("group", name, maxGroupLength)
	}
	return badName("group", name, maxOldGroupLength)
}

func badName(kind, name string, limit int) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "The specified " + kind + " is blank."
	case strings.ContainsFunc(name, func(r rune) bool { return !isNameRune(r) }):
		return "The specified " + kind + " contains illegal characters, allowing only ^[%|a-zA-Z0-9_-]+$"
	case len(name) > limit:
		return fmt.Sprintf("The specified %s is longer than %s max length %d.", kind, kind, limit)
	}
	return ""
}

func isNameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("%|_-", r)
}

// forbiddenToSend reports topics that no client may send to, Java's TopicValidator.isNotAllowedSendTopic.
func forbiddenToSend(topic string) bool {
	switch topic {
	case protocol.ScheduleTopic, protocol.HalfTopic, protocol.OpHalfTopic, protocol.TransCheckMaxTopic, protocol.SelfTestTopic,
		protocol.OffsetMovedTopic:
		return true
	}
	return false
}

// randomQueue is a queue number of n, for senders that leave the choice to the broker.
func randomQueue(n int32) int32 {
	if n <= 0 {
		return 0
	}
	return rand.Int32N(n)
}
