package protocol

import "strconv"

// RequestCode is the code of a request, Java's RequestCode.
type RequestCode int32

// ResponseCode is the code of a response, Java's ResponseCode, RemotingSysResponseCode and PullStatus on the wire.
type ResponseCode int32

// The request codes that mqctl knows, sends or answers; each is named after its Java constant.
const (
	SendMessage                          RequestCode = 10
	PullMessage                          RequestCode = 11
	QueryMessage                         RequestCode = 12
	QueryConsumerOffset                  RequestCode = 14
	UpdateConsumerOffset                 RequestCode = 15
	UpdateAndCreateTopic                 RequestCode = 17
	UpdateAndCreateTopicList             RequestCode = 18
	GetAllTopicConfig                    RequestCode = 21
	UpdateBrokerConfig                   RequestCode = 25
	GetBrokerConfig                      RequestCode = 26
	GetBrokerRuntimeInfo                 RequestCode = 28
	SearchOffsetByTimestamp              RequestCode = 29
	GetMaxOffset                         RequestCode = 30
	GetMinOffset                         RequestCode = 31
	GetEarliestMsgStoreTime              RequestCode = 32
	ViewMessageByID                      RequestCode = 33
	HeartBeat                            RequestCode = 34
	UnregisterClient                     RequestCode = 35
	ConsumerSendMsgBack                  RequestCode = 36
	EndTransaction                       RequestCode = 37
	GetConsumerListByGroup               RequestCode = 38
	CheckTransactionState                RequestCode = 39
	NotifyConsumerIDsChanged             RequestCode = 40
	LockBatchMQ                          RequestCode = 41
	UnlockBatchMQ                        RequestCode = 42
	GetAllConsumerOffset                 RequestCode = 43
	GetAllDelayOffset                    RequestCode = 45
	CheckClientConfig                    RequestCode = 46
	GetClientConfig                      RequestCode = 47
	GetTimerMetrics                      RequestCode = 61
	PutKVConfig                          RequestCode = 100
	GetKVConfig                          RequestCode = 101
	DeleteKVConfig                       RequestCode = 102
	RegisterBroker                       RequestCode = 103
	UnregisterBroker                     RequestCode = 104
	GetRouteInfoByTopic                  RequestCode = 105
	GetBrokerClusterInfo                 RequestCode = 106
	UpdateAndCreateSubscriptionGroup     RequestCode = 200
	GetAllSubscriptionGroupConfig        RequestCode = 201
	GetTopicStatsInfo                    RequestCode = 202
	GetConsumerConnectionList            RequestCode = 203
	GetProducerConnectionList            RequestCode = 204
	WipeWritePermOfBroker                RequestCode = 205
	GetAllTopicListFromNameServer        RequestCode = 206
	DeleteSubscriptionGroup              RequestCode = 207
	GetConsumeStats                      RequestCode = 208
	DeleteTopicInBroker                  RequestCode = 215
	DeleteTopicInNamesrv                 RequestCode = 216
	RegisterTopicInNamesrv               RequestCode = 217
	GetKVListByNamespace                 RequestCode = 219
	ResetConsumerClientOffset            RequestCode = 220
	GetConsumerStatusFromClient          RequestCode = 221
	InvokeBrokerToResetOffset            RequestCode = 222
	InvokeBrokerToGetConsumerStatus      RequestCode = 223
	GetTopicsByCluster                   RequestCode = 224
	UpdateAndCreateSubscriptionGroupList RequestCode = 225
	QueryTopicConsumeByWho               RequestCode = 300
	QueryConsumeTimeSpan                 RequestCode = 303
	GetSystemTopicListFromNS             RequestCode = 304
	GetSystemTopicListFromBroker         RequestCode = 305
	CleanExpiredConsumeQueue             RequestCode = 306
	GetConsumerRunningInfo               RequestCode = 307
	QueryCorrectionOffset                RequestCode = 308
	ConsumeMessageDirectly               RequestCode = 309
	SendMessageV2                        RequestCode = 310
	CloneGroupOffset                     RequestCode = 314
	ViewBrokerStatsData                  RequestCode = 315
	CleanUnusedTopic                     RequestCode = 316
	GetBrokerConsumeStats                RequestCode = 317
	UpdateNamesrvConfig                  RequestCode = 318
	GetNamesrvConfig                     RequestCode = 319
	SendBatchMessage                     RequestCode = 320
	QueryConsumeQueue                    RequestCode = 321
	QueryDataVersion                     RequestCode = 322
	ResumeCheckHalfMessage               RequestCode = 323
	SendReplyMessage                     RequestCode = 324
	SendReplyMessageV2                   RequestCode = 325
	PushReplyMessageToClient             RequestCode = 326
	AddWritePermOfBroker                 RequestCode = 327
	GetAllProducerInfo                   RequestCode = 328
	DeleteExpiredCommitLog               RequestCode = 329
	QueryTopicsByConsumer                RequestCode = 343
	QuerySubscriptionByConsumer          RequestCode = 345
	GetTopicConfig                       RequestCode = 351
	GetSubscriptionGroupConfig           RequestCode = 352
	UpdateAndGetGroupForbidden           RequestCode = 353
	LitePullMessage                      RequestCode = 361
	RecallMessage                        RequestCode = 370
	QueryAssignment                      RequestCode = 400
	SetMessageRequestMode                RequestCode = 401
	GetMessageRequestMode                RequestCode = 402
	GetBrokerMemberGroup                 RequestCode = 901
	BrokerHeartbeat                      RequestCode = 904
	GetBrokerHAStatus                    RequestCode = 907
	AuthCreateUser                       RequestCode = 3001
	AuthUpdateUser                       RequestCode = 3002
	AuthDeleteUser                       RequestCode = 3003
	AuthGetUser                          RequestCode = 3004
	AuthListUser                         RequestCode = 3005
	AuthCreateACL                        RequestCode = 3006
	AuthUpdateACL                        RequestCode = 3007
	AuthDeleteACL                        RequestCode = 3008
	AuthGetACL                           RequestCode = 3009
	AuthListACL                          RequestCode = 3010
	PopMessage                           RequestCode = 200050
	AckMessage                           RequestCode = 200051
	PeekMessage                          RequestCode = 200052
	ChangeMessageInvisibleTime           RequestCode = 200053
	Notification                         RequestCode = 200054
	PollingInfo                          RequestCode = 200055
	BatchAckMessage                      RequestCode = 200151
)

// The response codes; each is Code plus its Java constant. Beware of CodeSuccess: several 5.x admin answers carry it
// together with a remark that sounds like a failure, so success is judged by the code alone.
const (
	CodeSuccess                   ResponseCode = 0
	CodeSystemError               ResponseCode = 1
	CodeSystemBusy                ResponseCode = 2
	CodeRequestCodeNotSupported   ResponseCode = 3
	CodeTransactionFailed         ResponseCode = 4
	CodeFlushDiskTimeout          ResponseCode = 10
	CodeSlaveNotAvailable         ResponseCode = 11
	CodeFlushSlaveTimeout         ResponseCode = 12
	CodeMessageIllegal            ResponseCode = 13
	CodeServiceNotAvailable       ResponseCode = 14
	CodeVersionNotSupported       ResponseCode = 15
	CodeNoPermission              ResponseCode = 16
	CodeTopicNotExist             ResponseCode = 17
	CodeTopicExistAlready         ResponseCode = 18
	CodePullNotFound              ResponseCode = 19
	CodePullRetryImmediately      ResponseCode = 20
	CodePullOffsetMoved           ResponseCode = 21
	CodeQueryNotFound             ResponseCode = 22
	CodeSubscriptionParseFailed   ResponseCode = 23
	CodeSubscriptionNotExist      ResponseCode = 24
	CodeSubscriptionNotLatest     ResponseCode = 25
	CodeSubscriptionGroupNotExist ResponseCode = 26
	CodeFilterDataNotExist        ResponseCode = 27
	CodeFilterDataNotLatest       ResponseCode = 28
	CodeInvalidParameter          ResponseCode = 29
	CodeNoBuyerID                 ResponseCode = 204
	CodeNotInCurrentUnit          ResponseCode = 205
	CodeConsumerNotOnline         ResponseCode = 206
	CodeConsumeMsgTimeout         ResponseCode = 207
	CodeNoMessage                 ResponseCode = 208
	CodePollingFull               ResponseCode = 209
	CodePollingTimeout            ResponseCode = 210
	CodeBrokerNotExist            ResponseCode = 211
	CodeBrokerDispatchNotComplete ResponseCode = 212
	CodeBroadcastConsumption      ResponseCode = 213
	CodeFlowControl               ResponseCode = 215
	CodeNotLeaderForQueue         ResponseCode = 501
	CodeIllegalOperation          ResponseCode = 604
	CodeGoAway                    ResponseCode = 1500
	CodeUserNotExist              ResponseCode = 3001
	CodePolicyNotExist            ResponseCode = 3002
)

// RequestInfo describes one request code: its number, Java constant and direction (C client, B broker, N name server,
// A admin tool).
type RequestInfo struct {
	Code      RequestCode
	Java      string
	Direction string
}

// Requests lists every request code that has a name here, by number.
var Requests = []RequestInfo{
	{SendMessage, "SEND_MESSAGE", "C→B"},
	{PullMessage, "PULL_MESSAGE", "C→B"},
	{QueryMessage, "QUERY_MESSAGE", "A→B"},
	{QueryConsumerOffset, "QUERY_CONSUMER_OFFSET", "C→B"},
	{UpdateConsumerOffset, "UPDATE_CONSUMER_OFFSET", "C→B"},
	{UpdateAndCreateTopic, "UPDATE_AND_CREATE_TOPIC", "A→B"},
	{UpdateAndCreateTopicList, "UPDATE_AND_CREATE_TOPIC_LIST", "A→B"},
	{GetAllTopicConfig, "GET_ALL_TOPIC_CONFIG", "A→B"},
	{UpdateBrokerConfig, "UPDATE_BROKER_CONFIG", "A→B"},
	{GetBrokerConfig, "GET_BROKER_CONFIG", "A→B"},
	{GetBrokerRuntimeInfo, "GET_BROKER_RUNTIME_INFO", "A→B"},
	{SearchOffsetByTimestamp, "SEARCH_OFFSET_BY_TIMESTAMP", "C→B"},
	{GetMaxOffset, "GET_MAX_OFFSET", "C→B"},
	{GetMinOffset, "GET_MIN_OFFSET", "C→B"},
	{GetEarliestMsgStoreTime, "GET_EARLIEST_MSG_STORETIME", "C→B"},
	{ViewMessageByID, "VIEW_MESSAGE_BY_ID", "A→B"},
	{HeartBeat, "HEART_BEAT", "C→B"},
	{UnregisterClient, "UNREGISTER_CLIENT", "C→B"},
	{ConsumerSendMsgBack, "CONSUMER_SEND_MSG_BACK", "C→B"},
	{EndTransaction, "END_TRANSACTION", "C→B"},
	{GetConsumerListByGroup, "GET_CONSUMER_LIST_BY_GROUP", "C→B"},
	{CheckTransactionState, "CHECK_TRANSACTION_STATE", "B→C"},
	{NotifyConsumerIDsChanged, "NOTIFY_CONSUMER_IDS_CHANGED", "B→C"},
	{LockBatchMQ, "LOCK_BATCH_MQ", "C→B"},
	{UnlockBatchMQ, "UNLOCK_BATCH_MQ", "C→B"},
	{GetAllConsumerOffset, "GET_ALL_CONSUMER_OFFSET", "A→B"},
	{GetAllDelayOffset, "GET_ALL_DELAY_OFFSET", "A→B"},
	{CheckClientConfig, "CHECK_CLIENT_CONFIG", "C→B"},
	{GetClientConfig, "GET_CLIENT_CONFIG", "C→B"},
	{GetTimerMetrics, "GET_TIMER_METRICS", "A→B"},
	{PutKVConfig, "PUT_KV_CONFIG", "A→N"},
	{GetKVConfig, "GET_KV_CONFIG", "A→N"},
	{DeleteKVConfig, "DELETE_KV_CONFIG", "A→N"},
	{RegisterBroker, "REGISTER_BROKER", "B→N"},
	{UnregisterBroker, "UNREGISTER_BROKER", "B→N"},
	{GetRouteInfoByTopic, "GET_ROUTEINFO_BY_TOPIC", "C→N"},
	{GetBrokerClusterInfo, "GET_BROKER_CLUSTER_INFO", "A→N"},
	{UpdateAndCreateSubscriptionGroup, "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP", "A→B"},
	{GetAllSubscriptionGroupConfig, "GET_ALL_SUBSCRIPTIONGROUP_CONFIG", "A→B"},
	{GetTopicStatsInfo, "GET_TOPIC_STATS_INFO", "A→B"},
	{GetConsumerConnectionList, "GET_CONSUMER_CONNECTION_LIST", "A→B"},
	{GetProducerConnectionList, "GET_PRODUCER_CONNECTION_LIST", "A→B"},
	{WipeWritePermOfBroker, "WIPE_WRITE_PERM_OF_BROKER", "A→N"},
	{GetAllTopicListFromNameServer, "GET_ALL_TOPIC_LIST_FROM_NAMESERVER", "A→N"},
	{DeleteSubscriptionGroup, "DELETE_SUBSCRIPTIONGROUP", "A→B"},
	{GetConsumeStats, "GET_CONSUME_STATS", "A→B"},
	{DeleteTopicInBroker, "DELETE_TOPIC_IN_BROKER", "A→B"},
	{DeleteTopicInNamesrv, "DELETE_TOPIC_IN_NAMESRV", "A→N"},
	{RegisterTopicInNamesrv, "REGISTER_TOPIC_IN_NAMESRV", "A→N"},
	{GetKVListByNamespace, "GET_KVLIST_BY_NAMESPACE", "A→N"},
	{ResetConsumerClientOffset, "RESET_CONSUMER_CLIENT_OFFSET", "B→C"},
	{GetConsumerStatusFromClient, "GET_CONSUMER_STATUS_FROM_CLIENT", "B→C"},
	{InvokeBrokerToResetOffset, "INVOKE_BROKER_TO_RESET_OFFSET", "A→B"},
	{InvokeBrokerToGetConsumerStatus, "INVOKE_BROKER_TO_GET_CONSUMER_STATUS", "A→B"},
	{GetTopicsByCluster, "GET_TOPICS_BY_CLUSTER", "A→N"},
	{UpdateAndCreateSubscriptionGroupList, "UPDATE_AND_CREATE_SUBSCRIPTIONGROUP_LIST", "A→B"},
	{QueryTopicConsumeByWho, "QUERY_TOPIC_CONSUME_BY_WHO", "A→B"},
	{QueryConsumeTimeSpan, "QUERY_CONSUME_TIME_SPAN", "A→B"},
	{GetSystemTopicListFromNS, "GET_SYSTEM_TOPIC_LIST_FROM_NS", "A→N"},
	{GetSystemTopicListFromBroker, "GET_SYSTEM_TOPIC_LIST_FROM_BROKER", "A→B"},
	{CleanExpiredConsumeQueue, "CLEAN_EXPIRED_CONSUMEQUEUE", "A→B"},
	{GetConsumerRunningInfo, "GET_CONSUMER_RUNNING_INFO", "B→C"},
	{QueryCorrectionOffset, "QUERY_CORRECTION_OFFSET", "A→B"},
	{ConsumeMessageDirectly, "CONSUME_MESSAGE_DIRECTLY", "B→C"},
	{SendMessageV2, "SEND_MESSAGE_V2", "C→B"},
	{CloneGroupOffset, "CLONE_GROUP_OFFSET", "A→B"},
	{ViewBrokerStatsData, "VIEW_BROKER_STATS_DATA", "A→B"},
	{CleanUnusedTopic, "CLEAN_UNUSED_TOPIC", "A→B"},
	{GetBrokerConsumeStats, "GET_BROKER_CONSUME_STATS", "A→B"},
	{UpdateNamesrvConfig, "UPDATE_NAMESRV_CONFIG", "A→N"},
	{GetNamesrvConfig, "GET_NAMESRV_CONFIG", "A→N"},
	{SendBatchMessage, "SEND_BATCH_MESSAGE", "C→B"},
	{QueryConsumeQueue, "QUERY_CONSUME_QUEUE", "A→B"},
	{QueryDataVersion, "QUERY_DATA_VERSION", "B→N"},
	{ResumeCheckHalfMessage, "RESUME_CHECK_HALF_MESSAGE", "A→B"},
	{SendReplyMessage, "SEND_REPLY_MESSAGE", "C→B"},
	{SendReplyMessageV2, "SEND_REPLY_MESSAGE_V2", "C→B"},
	{PushReplyMessageToClient, "PUSH_REPLY_MESSAGE_TO_CLIENT", "B→C"},
	{AddWritePermOfBroker, "ADD_WRITE_PERM_OF_BROKER", "A→N"},
	{GetAllProducerInfo, "GET_ALL_PRODUCER_INFO", "A→B"},
	{DeleteExpiredCommitLog, "DELETE_EXPIRED_COMMITLOG", "A→B"},
	{QueryTopicsByConsumer, "QUERY_TOPICS_BY_CONSUMER", "A→B"},
	{QuerySubscriptionByConsumer, "QUERY_SUBSCRIPTION_BY_CONSUMER", "A→B"},
	{GetTopicConfig, "GET_TOPIC_CONFIG", "A→B"},
	{GetSubscriptionGroupConfig, "GET_SUBSCRIPTIONGROUP_CONFIG", "A→B"},
	{UpdateAndGetGroupForbidden, "UPDATE_AND_GET_GROUP_FORBIDDEN", "A→B"},
	{LitePullMessage, "LITE_PULL_MESSAGE", "C→B"},
	{RecallMessage, "RECALL_MESSAGE", "C→B"},
	{QueryAssignment, "QUERY_ASSIGNMENT", "C→B"},
	{SetMessageRequestMode, "SET_MESSAGE_REQUEST_MODE", "A→B"},
	{GetMessageRequestMode, "GET_MESSAGE_REQUEST_MODE", "A→B"},
	{GetBrokerMemberGroup, "GET_BROKER_MEMBER_GROUP", "A→N"},
	{BrokerHeartbeat, "BROKER_HEARTBEAT", "B→N"},
	{GetBrokerHAStatus, "GET_BROKER_HA_STATUS", "A→B"},
	{AuthCreateUser, "AUTH_CREATE_USER", "A→B"},
	{AuthUpdateUser, "AUTH_UPDATE_USER", "A→B"},
	{AuthDeleteUser, "AUTH_DELETE_USER", "A→B"},
	{AuthGetUser, "AUTH_GET_USER", "A→B"},
	{AuthListUser, "AUTH_LIST_USER", "A→B"},
	{AuthCreateACL, "AUTH_CREATE_ACL", "A→B"},
	{AuthUpdateACL, "AUTH_UPDATE_ACL", "A→B"},
	{AuthDeleteACL, "AUTH_DELETE_ACL", "A→B"},
	{AuthGetACL, "AUTH_GET_ACL", "A→B"},
	{AuthListACL, "AUTH_LIST_ACL", "A→B"},
	{PopMessage, "POP_MESSAGE", "C→B"},
	{AckMessage, "ACK_MESSAGE", "C→B"},
	{PeekMessage, "PEEK_MESSAGE", "C→B"},
	{ChangeMessageInvisibleTime, "CHANGE_MESSAGE_INVISIBLETIME", "C→B"},
	{Notification, "NOTIFICATION", "C→B"},
	{PollingInfo, "POLLING_INFO", "A→B"},
	{BatchAckMessage, "BATCH_ACK_MESSAGE", "C→B"},
}

var requestNames = func() map[RequestCode]string {
	names := make(map[RequestCode]string, len(Requests))
	for _, r := range Requests {
		names[r.Code] = r.Java
	}
	return names
}()

var responseNames = map[ResponseCode]string{
	CodeSuccess:                   "SUCCESS",
	CodeSystemError:               "SYSTEM_ERROR",
	CodeSystemBusy:                "SYSTEM_BUSY",
	CodeRequestCodeNotSupported:   "REQUEST_CODE_NOT_SUPPORTED",
	CodeTransactionFailed:         "TRANSACTION_FAILED",
	CodeFlushDiskTimeout:          "FLUSH_DISK_TIMEOUT",
	CodeSlaveNotAvailable:         "SLAVE_NOT_AVAILABLE",
	CodeFlushSlaveTimeout:         "FLUSH_SLAVE_TIMEOUT",
	CodeMessageIllegal:            "MESSAGE_ILLEGAL",
	CodeServiceNotAvailable:       "SERVICE_NOT_AVAILABLE",
	CodeVersionNotSupported:       "VERSION_NOT_SUPPORTED",
	CodeNoPermission:              "NO_PERMISSION",
	CodeTopicNotExist:             "TOPIC_NOT_EXIST",
	CodeTopicExistAlready:         "TOPIC_EXIST_ALREADY",
	CodePullNotFound:              "PULL_NOT_FOUND",
	CodePullRetryImmediately:      "PULL_RETRY_IMMEDIATELY",
	CodePullOffsetMoved:           "PULL_OFFSET_MOVED",
	CodeQueryNotFound:             "QUERY_NOT_FOUND",
	CodeSubscriptionParseFailed:   "SUBSCRIPTION_PARSE_FAILED",
	CodeSubscriptionNotExist:      "SUBSCRIPTION_NOT_EXIST",
	CodeSubscriptionNotLatest:     "SUBSCRIPTION_NOT_LATEST",
	CodeSubscriptionGroupNotExist: "SUBSCRIPTION_GROUP_NOT_EXIST",
	CodeFilterDataNotExist:        "FILTER_DATA_NOT_EXIST",
	CodeFilterDataNotLatest:       "FILTER_DATA_NOT_LATEST",
	CodeInvalidParameter:          "INVALID_PARAMETER",
	CodeNoBuyerID:                 "NO_BUYER_ID",
	CodeNotInCurrentUnit:          "NOT_IN_CURRENT_UNIT",
	CodeConsumerNotOnline:         "CONSUMER_NOT_ONLINE",
	CodeConsumeMsgTimeout:         "CONSUME_MSG_TIMEOUT",
	CodeNoMessage:                 "NO_MESSAGE",
	CodePollingFull:               "POLLING_FULL",
	CodePollingTimeout:            "POLLING_TIMEOUT",
	CodeBrokerNotExist:            "BROKER_NOT_EXIST",
	CodeBrokerDispatchNotComplete: "BROKER_DISPATCH_NOT_COMPLETE",
	CodeBroadcastConsumption:      "BROADCAST_CONSUMPTION",
	CodeFlowControl:               "FLOW_CONTROL",
	CodeNotLeaderForQueue:         "NOT_LEADER_FOR_QUEUE",
	CodeIllegalOperation:          "ILLEGAL_OPERATION",
	CodeGoAway:                    "GO_AWAY",
	CodeUserNotExist:              "USER_NOT_EXIST",
	CodePolicyNotExist:            "POLICY_NOT_EXIST",
}

// String is the Java constant, or the number in decimal when the code has no name here.
func (c RequestCode) String() string {
	if n, ok := requestNames[c]; ok {
		return n
	}
	return strconv.Itoa(int(c))
}

// String is the Java constant, or the number in decimal when the code has no name here.
func (c ResponseCode) String() string {
	if n, ok := responseNames[c]; ok {
		return n
	}
	return strconv.Itoa(int(c))
}
