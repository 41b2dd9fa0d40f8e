package sandbox

import "mqctl/internal/protocol"

// nameServerHandlers is everything the name server answers.
var nameServerHandlers = map[protocol.RequestCode]handler{
	protocol.PutKVConfig:                   handlePutKVConfig,
	protocol.GetKVConfig:                   handleGetKVConfig,
	protocol.DeleteKVConfig:                handleDeleteKVConfig,
	protocol.GetRouteInfoByTopic:           handleGetRouteInfoByTopic,
	protocol.GetBrokerClusterInfo:          handleGetBrokerClusterInfo,
	protocol.GetAllTopicListFromNameServer: handleGetAllTopicListFromNameServer,
	protocol.DeleteTopicInNamesrv:          handleDeleteTopicInNamesrv,
	protocol.GetKVListByNamespace:          handleGetKVListByNamespace,
	protocol.GetTopicsByCluster:            handleGetTopicsByCluster,
}

// brokerHandlers is everything a broker answers.
var brokerHandlers = map[protocol.RequestCode]handler{
	protocol.SendMessage:                      handleSendMessage,
	protocol.PullMessage:                      handlePullMessage,
	protocol.QueryMessage:                     handleQueryMessage,
	protocol.QueryConsumerOffset:              handleQueryConsumerOffset,
	protocol.UpdateConsumerOffset:             handleUpdateConsumerOffset,
	protocol.UpdateAndCreateTopic:             handleUpdateAndCreateTopic,
	protocol.GetAllTopicConfig:                handleGetAllTopicConfig,
	protocol.GetBrokerConfig:                  handleGetBrokerConfig,
	protocol.GetBrokerRuntimeInfo:             handleGetBrokerRuntimeInfo,
	protocol.SearchOffsetByTimestamp:          handleSearchOffsetByTimestamp,
	protocol.GetMaxOffset:                     handleGetMaxOffset,
	protocol.GetMinOffset:                     handleGetMinOffset,
	protocol.GetEarliestMsgStoreTime:          handleGetEarliestMsgStoreTime,
	protocol.ViewMessageByID:                  handleViewMessageByID,
	protocol.HeartBeat:                        handleHeartBeat,
	protocol.UnregisterClient:                 handleUnregisterClient,
	protocol.ConsumerSendMsgBack:              handleConsumerSendMsgBack,
	protocol.EndTransaction:                   handleEndTransaction,
	protocol.GetConsumerListByGroup:           handleGetConsumerListByGroup,
	protocol.LockBatchMQ:                      handleLockBatchMQ,
	protocol.UnlockBatchMQ:                    handleUnlockBatchMQ,
	protocol.GetAllConsumerOffset:             handleGetAllConsumerOffset,
	protocol.CheckClientConfig:                handleCheckClientConfig,
	protocol.UpdateAndCreateSubscriptionGroup: handleUpdateAndCreateSubscriptionGroup,
	protocol.GetAllSubscriptionGroupConfig:    handleGetAllSubscriptionGroupConfig,
	protocol.GetTopicStatsInfo:                handleGetTopicStatsInfo,
	protocol.GetConsumerConnectionList:        handleGetConsumerConnectionList,
	protocol.GetProducerConnectionList:        handleGetProducerConnectionList,
	protocol.DeleteSubscriptionGroup:          handleDeleteSubscriptionGroup,
	protocol.GetConsumeStats:                  handleGetConsumeStats,
	protocol.DeleteTopicInBroker:              handleDeleteTopicInBroker,
	protocol.QueryTopicConsumeByWho:           handleQueryTopicConsumeByWho,
	protocol.SendMessageV2:                    handleSendMessageV2,
	protocol.SendBatchMessage:                 handleSendBatchMessage,
	protocol.GetTopicConfig:                   handleGetTopicConfig,
	protocol.LitePullMessage:                  handleLitePullMessage,
}
