package protocol

// GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201): every group of one broker, Java's SubscriptionGroupWrapper.

// GetAllSubscriptionGroupConfigRequest is the header of GET_ALL_SUBSCRIPTIONGROUP_CONFIG. Brokers since 5.5 answer a page
// of MaxGroupNum groups from GroupSeq on when asked to; others answer everything.
type GetAllSubscriptionGroupConfigRequest struct {
	GroupSeq    *int32 `ext:"groupSeq"`
	MaxGroupNum *int32 `ext:"maxGroupNum"`
}

// RequestCode is GetAllSubscriptionGroupConfig.
func (*GetAllSubscriptionGroupConfigRequest) RequestCode() RequestCode {
	return GetAllSubscriptionGroupConfig
}

// GetAllSubscriptionGroupConfigResponse is the header of the answer since 5.5.
type GetAllSubscriptionGroupConfigResponse struct {
	TotalGroupNum *int32 `ext:"totalGroupNum"`
}

// AllSubscriptionGroupConfig is the body of the answer.
type AllSubscriptionGroupConfig struct {
	DataVersion            DataVersion                        `json:"dataVersion"`
	ForbiddenTable         map[string]map[string]int32        `json:"forbiddenTable"` // group, topic, bits
	SubscriptionGroupTable map[string]SubscriptionGroupConfig `json:"subscriptionGroupTable"`
}

var allSubscriptionGroupBody = newBody[AllSubscriptionGroupConfig]("all group configs")

// DecodeAllSubscriptionGroupConfig reads the body.
func DecodeAllSubscriptionGroupConfig(b []byte) (*AllSubscriptionGroupConfig, error) {
	return allSubscriptionGroupBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *AllSubscriptionGroupConfig) Encode() []byte { return allSubscriptionGroupBody.encode(c) }
