package protocol

import "strings"

// Names with a meaning of their own, Java's MixAll and TopicValidator.
const (
	RetryTopicPrefix    = "%RETRY%"
	DLQTopicPrefix      = "%DLQ%"
	AutoCreateTopic     = "TBW102" // the template of automatic topic creation
	ScheduleTopic       = "SCHEDULE_TOPIC_XXXX"
	HalfTopic           = "RMQ_SYS_TRANS_HALF_TOPIC"
	OpHalfTopic         = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
	TraceTopic          = "RMQ_SYS_TRACE_TOPIC"
	TransCheckMaxTopic  = "TRANS_CHECK_MAX_TIME_TOPIC"
	SelfTestTopic       = "SELF_TEST_TOPIC"
	OffsetMovedTopic    = "OFFSET_MOVED_EVENT"
	BenchmarkTopic      = "BenchmarkTest"
	ToolsConsumerGroup  = "TOOLS_CONSUMER"
	InnerProducerGroup  = "CLIENT_INNER_PRODUCER"
	systemTopicPrefix   = "rmq_sys_"
	systemGroupPrefix   = "CID_RMQ_SYS_"
	rocksDBTopicPrefix  = "RMQ_SYS_ROCKSDB_"
	checkpointTopicName = "CHECKPOINT_TOPIC"
)

// RetryTopic is the retry topic of a group.
func RetryTopic(group string) string { return RetryTopicPrefix + group }

// DLQTopic is the dead-letter topic of a group.
func DLQTopic(group string) string { return DLQTopicPrefix + group }

// IsRetryTopic reports whether topic is some group's retry topic.
func IsRetryTopic(topic string) bool { return strings.HasPrefix(topic, RetryTopicPrefix) }

// IsDLQTopic reports whether topic is some group's dead-letter topic.
func IsDLQTopic(topic string) bool { return strings.HasPrefix(topic, DLQTopicPrefix) }

// IsSystemTopic reports whether brokers keep topic for themselves, Java's TopicValidator.isSystemTopic.
func IsSystemTopic(topic string) bool {
	switch topic {
	case AutoCreateTopic, ScheduleTopic, HalfTopic, OpHalfTopic, TraceTopic, TransCheckMaxTopic, SelfTestTopic,
		OffsetMovedTopic, BenchmarkTopic, checkpointTopicName:
		return true
	}
	return strings.HasPrefix(topic, systemTopicPrefix) || strings.HasPrefix(topic, rocksDBTopicPrefix)
}

// IsSystemGroup reports whether brokers or tools keep group for themselves, Java's MixAll.isSysConsumerGroup and the
// predefined groups.
func IsSystemGroup(group string) bool {
	switch group {
	case ToolsConsumerGroup, "DEFAULT_CONSUMER", "DEFAULT_PRODUCER", "SCHEDULE_CONSUMER", "FILTERSRV_CONSUMER",
		"__MONITOR_CONSUMER", InnerProducerGroup, "SELF_TEST_P_GROUP", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY",
		"CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_ONSAPI_PULL":
		return true
	}
	return strings.HasPrefix(group, systemGroupPrefix)
}
