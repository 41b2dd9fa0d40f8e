package protocol

type encoder interface{ Encode() []byte }

func decoderOf[B encoder](decode func([]byte) (B, error)) func([]byte) (encoder, error) {
	return func(b []byte) (encoder, error) { return decode(b) }
}

// bodyDecoders are all bodies, for tests that feed the same text to every one of them.
var bodyDecoders = []struct {
	name   string
	decode func([]byte) (encoder, error)
}{
	{"AllTopicConfig", decoderOf(DecodeAllTopicConfig)},
	{"KVTable", decoderOf(DecodeKVTable)},
	{"HeartbeatData", decoderOf(DecodeHeartbeatData)},
	{"ConsumerList", decoderOf(DecodeConsumerList)},
	{"LockBatchBody", decoderOf(DecodeLockBatchBody)},
	{"LockBatchResult", decoderOf(DecodeLockBatchResult)},
	{"AllConsumerOffset", decoderOf(DecodeAllConsumerOffset)},
	{"CheckClientConfigBody", decoderOf(DecodeCheckClientConfigBody)},
	{"TopicRouteData", decoderOf(DecodeTopicRouteData)},
	{"ClusterInfo", decoderOf(DecodeClusterInfo)},
	{"SubscriptionGroupConfig", decoderOf(DecodeSubscriptionGroupConfig)},
	{"AllSubscriptionGroupConfig", decoderOf(DecodeAllSubscriptionGroupConfig)},
	{"TopicStatsTable", decoderOf(DecodeTopicStatsTable)},
	{"ConsumerConnection", decoderOf(DecodeConsumerConnection)},
	{"ProducerConnection", decoderOf(DecodeProducerConnection)},
	{"TopicList", decoderOf(DecodeTopicList)},
	{"ConsumeStats", decoderOf(DecodeConsumeStats)},
	{"ResetOffsetBody", decoderOf(DecodeResetOffsetBody)},
	{"ConsumerStatus", decoderOf(DecodeConsumerStatus)},
	{"GroupList", decoderOf(DecodeGroupList)},
	{"ConsumeTimeSpans", decoderOf(DecodeConsumeTimeSpans)},
	{"ConsumerRunningInfo", decoderOf(DecodeConsumerRunningInfo)},
	{"ConsumeMessageDirectlyResult", decoderOf(DecodeConsumeMessageDirectlyResult)},
	{"TopicConfig", decoderOf(DecodeTopicConfig)},
	{"GroupForbidden", decoderOf(DecodeGroupForbidden)},
	{"QueryAssignmentBody", decoderOf(DecodeQueryAssignmentBody)},
	{"QueryAssignmentResult", decoderOf(DecodeQueryAssignmentResult)},
}
