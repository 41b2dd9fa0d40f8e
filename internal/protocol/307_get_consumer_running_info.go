package protocol

// GET_CONSUMER_RUNNING_INFO (307): what goes on inside a consumer, Java's ConsumerRunningInfo. The broker passes the
// admin's request on to the client and the client's answer back.

// GetConsumerRunningInfoRequest is the header of GET_CONSUMER_RUNNING_INFO.
type GetConsumerRunningInfoRequest struct {
	ConsumerGroup string `ext:"consumerGroup,required"`
	ClientID      string `ext:"clientId,required"`
	JstackEnable  bool   `ext:"jstackEnable"` // ask for a dump of all threads
}

// RequestCode is GetConsumerRunningInfo.
func (*GetConsumerRunningInfoRequest) RequestCode() RequestCode { return GetConsumerRunningInfo }

// Names of properties that every consumer reports, Java's ConsumerRunningInfo.PROP_….
const (
	PropNameServerAddr         = "PROP_NAMESERVER_ADDR"
	PropConsumeType            = "PROP_CONSUME_TYPE"
	PropClientVersion          = "PROP_CLIENT_VERSION"
	PropConsumerStartTimestamp = "PROP_CONSUMER_START_TIMESTAMP"
	PropThreadPoolCoreSize     = "PROP_THREADPOOL_CORE_SIZE"
	PropConsumeOrderly         = "PROP_CONSUMEORDERLY"
)

// ConsumerRunningInfo is the body of the answer.
type ConsumerRunningInfo struct {
	Jstack           string                               `json:"jstack,omitempty"`
	MQPopTable       map[MessageQueue]PopProcessQueueInfo `json:"mqPopTable"` // since 5.0.0
	MQTable          map[MessageQueue]ProcessQueueInfo    `json:"mqTable"`
	Properties       map[string]string                    `json:"properties"`
	StatusTable      map[string]ConsumeStatus             `json:"statusTable"` // by topic
	SubscriptionSet  []SubscriptionData                   `json:"subscriptionSet"`
	UserConsumerInfo map[string]string                    `json:"userConsumerInfo"` // since 5.0.0
}

// ProcessQueueInfo is one assigned queue; times are in ms. Transaction counts the messages that an orderly listener has in
// hand.
type ProcessQueueInfo struct {
	CachedMsgCount          int32 `json:"cachedMsgCount"`
	CachedMsgMaxOffset      int64 `json:"cachedMsgMaxOffset"`
	CachedMsgMinOffset      int64 `json:"cachedMsgMinOffset"`
	CachedMsgSizeInMiB      int32 `json:"cachedMsgSizeInMiB"`
	CommitOffset            int64 `json:"commitOffset"`
	Dropped                 bool  `json:"droped"`
	LastConsumeTimestamp    int64 `json:"lastConsumeTimestamp"`
	LastLockTimestamp       int64 `json:"lastLockTimestamp"`
	LastPullTimestamp       int64 `json:"lastPullTimestamp"`
	Locked                  bool  `json:"locked"`
	TransactionMsgCount     int32 `json:"transactionMsgCount"`
	TransactionMsgMaxOffset int64 `json:"transactionMsgMaxOffset"`
	TransactionMsgMinOffset int64 `json:"transactionMsgMinOffset"`
	TryUnlockTimes          int64 `json:"tryUnlockTimes"`
}

// PopProcessQueueInfo is one queue that is consumed by POP.
type PopProcessQueueInfo struct {
	Dropped          bool  `json:"droped"`
	LastPopTimestamp int64 `json:"lastPopTimestamp"` // ms
	WaitAckCount     int32 `json:"waitAckCount"`
}

// ConsumeStatus is how one topic is consumed: times in ms, rates a second, failures of the last hour.
type ConsumeStatus struct {
	ConsumeFailedMsgs int64   `json:"consumeFailedMsgs"`
	ConsumeFailedTPS  float64 `json:"consumeFailedTPS"`
	ConsumeOKTPS      float64 `json:"consumeOKTPS"`
	ConsumeRT         float64 `json:"consumeRT"`
	PullRT            float64 `json:"pullRT"`
	PullTPS           float64 `json:"pullTPS"`
}

var runningInfoBody = newBody[ConsumerRunningInfo]("consumer running info")

// DecodeConsumerRunningInfo reads the body.
func DecodeConsumerRunningInfo(b []byte) (*ConsumerRunningInfo, error) {
	return runningInfoBody.decode(b)
}

// Encode is the body as Java reads it.
func (c *ConsumerRunningInfo) Encode() []byte { return runningInfoBody.encode(c) }
