package protocol

// PULL_MESSAGE (11): read messages of one queue from an offset on, Java's PullMessageRequestHeader.

// PullMessageRequest is the header of PULL_MESSAGE.
type PullMessageRequest struct {
	ConsumerGroup        string      `ext:"consumerGroup"`
	Topic                string      `ext:"topic"`
	QueueID              int32       `ext:"queueId"`
	QueueOffset          int64       `ext:"queueOffset"`
	MaxMsgNums           int32       `ext:"maxMsgNums"` // the broker gives 32 at most
	SysFlag              PullSysFlag `ext:"sysFlag"`
	CommitOffset         int64       `ext:"commitOffset"`         // with PullCommitOffset
	SuspendTimeoutMillis int64       `ext:"suspendTimeoutMillis"` // with PullSuspend; Java's push consumer: 15000
	Subscription         string      `ext:"subscription,omitempty"`
	SubVersion           int64       `ext:"subVersion"`
	ExpressionType       string      `ext:"expressionType,omitempty"` // default TAG
	MaxMsgBytes          int32       `ext:"maxMsgBytes,omitempty"`    // since 5.0.0, not enforced for normal queues
	RequestSource        *int32      `ext:"requestSource"`            // the proxy's
	ProxyFrowardClientID string      `ext:"proxyFrowardClientId,omitempty"`
	LiteTopic            string      `ext:"liteTopic,omitempty"` // since 5.5
	BrokerName           string      `ext:"bname,omitempty"`
}

// RequestCode is PullMessage.
func (*PullMessageRequest) RequestCode() RequestCode { return PullMessage }

// PullMessageResponse is the header of an answer with one of the codes 0, 19, 20 and 21; the remark is the status's name.
// Other codes answer with PullRefusal. The body of code 0 is read by DecodeMessages.
type PullMessageResponse struct {
	SuggestWhichBrokerID int64  `ext:"suggestWhichBrokerId"` // the replica to ask next for this queue
	NextBeginOffset      int64  `ext:"nextBeginOffset,required"`
	MinOffset            int64  `ext:"minOffset"`
	MaxOffset            int64  `ext:"maxOffset"` // of the next message to be stored
	TopicSysFlag         *int32 `ext:"topicSysFlag"`
	GroupSysFlag         *int32 `ext:"groupSysFlag"`
	OffsetDelta          *int64 `ext:"offsetDelta"` // static topics
}

// PullRefusal is the header of a pull's error answer; all of it may be missing.
type PullRefusal struct {
	ForbiddenType ForbiddenType `ext:"forbiddenType,omitempty"`
}

// ForbiddenType says what a pull that got NO_PERMISSION ran into, Java's ForbiddenType.
type ForbiddenType int32

// The forbidden types.
const (
	ForbiddenBroker       ForbiddenType = 1
	ForbiddenGroup        ForbiddenType = 2
	ForbiddenTopic        ForbiddenType = 3
	ForbiddenBroadcasting ForbiddenType = 4
	ForbiddenSubscription ForbiddenType = 5
)
