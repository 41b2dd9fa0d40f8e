package protocol

// NOTIFY_CONSUMER_IDS_CHANGED (40): the broker tells every member that the group has changed, Java's
// NotifyConsumerIdsChangedRequestHeader. One-way.

// NotifyConsumerIDsChangedRequest is the header of NOTIFY_CONSUMER_IDS_CHANGED.
type NotifyConsumerIDsChangedRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
}

// RequestCode is NotifyConsumerIDsChanged.
func (*NotifyConsumerIDsChangedRequest) RequestCode() RequestCode { return NotifyConsumerIDsChanged }
