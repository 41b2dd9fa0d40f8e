package protocol

// UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200): create a consumer group on one broker or change it. The request has no
// header; the body is a SubscriptionGroupConfig, and what it leaves out gets the default.

// SubscriptionGroupConfig is what a broker knows of a group, Java's SubscriptionGroupConfig.
type SubscriptionGroupConfig struct {
	Attributes                     map[string]string `json:"attributes"`
	BrokerID                       int64             `json:"brokerId"` // the replica to read from
	ConsumeBroadcastEnable         bool              `json:"consumeBroadcastEnable"`
	ConsumeEnable                  bool              `json:"consumeEnable"`
	ConsumeFromMinEnable           bool              `json:"consumeFromMinEnable"`
	ConsumeMessageOrderly          bool              `json:"consumeMessageOrderly"`
	ConsumeTimeoutMinute           int32             `json:"consumeTimeoutMinute"`
	GroupName                      string            `json:"groupName"`
	GroupRetryPolicy               RawJSON           `json:"groupRetryPolicy,omitempty"`
	GroupSysFlag                   int32             `json:"groupSysFlag"`
	NotifyConsumerIDsChangedEnable bool              `json:"notifyConsumerIdsChangedEnable"`
	RetryMaxTimes                  int32             `json:"retryMaxTimes"`
	RetryQueueNums                 int32             `json:"retryQueueNums"`
	SubscriptionDataSet            RawJSON           `json:"subscriptionDataSet,omitempty"`
	WhichBrokerWhenConsumeSlowly   int64             `json:"whichBrokerWhenConsumeSlowly"`
}

// NewSubscriptionGroupConfig is a group with Java's defaults.
func NewSubscriptionGroupConfig(group string) SubscriptionGroupConfig {
	var c SubscriptionGroupConfig
	c.setDefaults()
	c.GroupName = group
	return c
}

func (c *SubscriptionGroupConfig) setDefaults() {
	*c = SubscriptionGroupConfig{
		ConsumeBroadcastEnable: true, ConsumeEnable: true, ConsumeFromMinEnable: true, ConsumeTimeoutMinute: 15,
		NotifyConsumerIDsChangedEnable: true, RetryMaxTimes: 16, RetryQueueNums: 1, WhichBrokerWhenConsumeSlowly: 1,
	}
}

var subscriptionGroupBody = newBody[SubscriptionGroupConfig]("group config")

// DecodeSubscriptionGroupConfig reads the body; fields that it lacks have Java's defaults.
func DecodeSubscriptionGroupConfig(b []byte) (*SubscriptionGroupConfig, error) {
	return subscriptionGroupBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *SubscriptionGroupConfig) Encode() []byte { return subscriptionGroupBody.encode(c) }
