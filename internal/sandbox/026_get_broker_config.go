package sandbox

import (
	"encoding/json"
	"strconv"

	"mqctl/internal/protocol"
)

// GET_BROKER_CONFIG (26): the settings that mean something here, as text.
func handleGetBrokerConfig(r *request) *protocol.Command {
	b := r.broker
	opt := &b.sandbox.opt
	settings := protocol.Properties{
		{Name: "brokerName", Value: b.name},
		{Name: "brokerClusterName", Value: b.sandbox.cluster},
		{Name: "brokerId", Value: strconv.FormatInt(b.id, 10)},
		{Name: "brokerIP1", Value: b.host.Addr().String()},
		{Name: "listenPort", Value: strconv.Itoa(int(b.host.Port()))},
		{Name: "namesrvAddr", Value: b.sandbox.address},
		{Name: "autoCreateTopicEnable", Value: strconv.FormatBool(!opt.NoAutoCreateTopics)},
		{Name: "autoCreateSubscriptionGroup", Value: strconv.FormatBool(!opt.NoAutoCreateGroups)},
		{Name: "defaultTopicQueueNums", Value: strconv.Itoa(defaultQueues)},
		{Name: "maxMessageSize", Value: strconv.Itoa(opt.MaxMessageSize)},
		{Name: "enablePropertyFilter", Value: strconv.FormatBool(!opt.NoPropertyFilter)},
		{Name: "longPollingEnable", Value: "true"},
		{Name: "messageDelayLevel", Value: "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"},
		{Name: "brokerRole", Value: b.role()},
		{Name: "useServerSideResetOffset", Value: strconv.FormatBool(b.sandbox.resetsByItself())},
		{Name: "slaveReadEnable", Value: "true"},
		{Name: "flushConsumerOffsetInterval", Value: strconv.FormatInt(opt.OffsetFlush.Milliseconds(), 10)},
		{Name: "brokerPermission", Value: "6"},
		{Name: "regionId", Value: region},
		{Name: "traceOn", Value: "true"},
	}
	version, err := json.Marshal(b.topicVer.body())
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	return r.ok(&protocol.GetBrokerConfigResponse{Version: string(version)}, protocol.EncodeBrokerConfig(settings))
}
