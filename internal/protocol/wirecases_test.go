package protocol

import (
	"bytes"
	"fmt"
)

// bodyCase decodes a body and encodes it again.
type bodyCase func([]byte) ([]byte, error)

func bodyOf[T any, P interface {
	*T
	Encode() []byte
}](decode func([]byte) (P, error)) bodyCase {
	return func(b []byte) ([]byte, error) {
		v, err := decode(b)
		if err != nil {
			return nil, err
		}
		return v.Encode(), nil
	}
}

func records(b []byte) ([]byte, error) {
	messages, err := DecodeMessages(b, DecodeOptions{KeepPacked: true})
	if err != nil {
		return nil, err
	}
	var out []byte
	for i := range messages {
		if messages[i].BodyErr != nil {
			return nil, messages[i].BodyErr
		}
		out = AppendMessage(out, &messages[i])
	}
	if !bytes.Equal(out, b) {
		return nil, fmt.Errorf("records are not written as they were read")
	}
	return nil, nil
}

func batchBytes(b []byte) ([]byte, error) {
	parts, err := DecodeBatch(b)
	if err != nil {
		return nil, err
	}
	var messages []Message
	for _, p := range parts {
		messages = append(messages, Message{Flag: p.Flag, Body: p.Body, Properties: ParseProperties(p.RawProperties)})
	}
	out, err := EncodeBatch(messages)
	if err == nil && !bytes.Equal(out, b) {
		err = fmt.Errorf("batch is not written as it was read")
	}
	return nil, err
}

func opaqueBody([]byte) ([]byte, error) { return nil, nil }

// wireCase is how one request code is decoded.
type wireCase struct {
	request      any // pointer to the typed header
	response     any
	requestBody  bodyCase
	responseBody bodyCase
}

var wireCases = map[RequestCode]wireCase{
	SendMessage:          {request: &SendMessageRequest{}, response: &SendMessageResponse{}, requestBody: opaqueBody},
	SendMessageV2:        {request: &SendMessageV2Request{}, response: &SendMessageResponse{}, requestBody: opaqueBody},
	SendBatchMessage:     {request: &SendBatchMessageRequest{}, response: &SendMessageResponse{}, requestBody: batchBytes},
	PullMessage:          {request: &PullMessageRequest{}, response: &PullMessageResponse{}, responseBody: records},
	QueryMessage:         {request: &QueryMessageRequest{}, response: &QueryMessageResponse{}, responseBody: records},
	QueryConsumerOffset:  {request: &QueryConsumerOffsetRequest{}, response: &QueryConsumerOffsetResponse{}},
	UpdateConsumerOffset: {request: &UpdateConsumerOffsetRequest{}},
	UpdateAndCreateTopic: {request: &UpdateAndCreateTopicRequest{}},
	SearchOffsetByTimestamp: {
		request: &SearchOffsetByTimestampRequest{}, response: &SearchOffsetByTimestampResponse{},
	},
	GetMaxOffset:                     {request: &GetMaxOffsetRequest{}, response: &GetMaxOffsetResponse{}},
	ViewMessageByID:                  {request: &ViewMessageByIDRequest{}, responseBody: records},
	HeartBeat:                        {response: &HeartBeatResponse{}, requestBody: bodyOf(DecodeHeartbeatData)},
	UnregisterClient:                 {request: &UnregisterClientRequest{}},
	ConsumerSendMsgBack:              {request: &ConsumerSendMsgBackRequest{}},
	EndTransaction:                   {request: &EndTransactionRequest{}},
	GetConsumerListByGroup:           {request: &GetConsumerListByGroupRequest{}, responseBody: bodyOf(DecodeConsumerList)},
	CheckTransactionState:            {request: &CheckTransactionStateRequest{}, requestBody: records},
	NotifyConsumerIDsChanged:         {request: &NotifyConsumerIDsChangedRequest{}},
	LockBatchMQ:                      {requestBody: bodyOf(DecodeLockBatchBody), responseBody: bodyOf(DecodeLockBatchResult)},
	GetRouteInfoByTopic:              {request: &GetRouteInfoByTopicRequest{}, responseBody: bodyOf(DecodeTopicRouteData)},
	GetBrokerClusterInfo:             {responseBody: bodyOf(DecodeClusterInfo)},
	UpdateAndCreateSubscriptionGroup: {requestBody: bodyOf(DecodeSubscriptionGroupConfig)},
	GetTopicStatsInfo:                {request: &GetTopicStatsInfoRequest{}, responseBody: bodyOf(DecodeTopicStatsTable)},
	GetConsumerConnectionList: {
		request: &GetConsumerConnectionListRequest{}, responseBody: bodyOf(DecodeConsumerConnection),
	},
	GetProducerConnectionList: {
		request: &GetProducerConnectionListRequest{}, responseBody: bodyOf(DecodeProducerConnection),
	},
	GetConsumeStats:             {request: &GetConsumeStatsRequest{}, responseBody: bodyOf(DecodeConsumeStats)},
	ResetConsumerClientOffset:   {request: &ResetConsumerClientOffsetRequest{}, requestBody: bodyOf(DecodeResetOffsetBody)},
	GetConsumerStatusFromClient: {request: &GetConsumerStatusFromClientRequest{}},
	InvokeBrokerToResetOffset: {
		request: &InvokeBrokerToResetOffsetRequest{}, responseBody: bodyOf(DecodeResetOffsetBody),
	},
	GetConsumerRunningInfo: {
		request: &GetConsumerRunningInfoRequest{}, responseBody: bodyOf(DecodeConsumerRunningInfo),
	},
	ConsumeMessageDirectly:   {request: &ConsumeMessageDirectlyRequest{}, requestBody: records},
	PushReplyMessageToClient: {request: &PushReplyMessageToClientRequest{}, requestBody: opaqueBody},
	QueryAssignment: {
		requestBody: bodyOf(DecodeQueryAssignmentBody), responseBody: bodyOf(DecodeQueryAssignmentResult),
	},
	PopMessage: {responseBody: records},
}

// frameOnly are the codes in the fixtures that have no typed header here.
var frameOnly = []RequestCode{RegisterBroker, PopMessage, AckMessage, BatchAckMessage, 9999}
