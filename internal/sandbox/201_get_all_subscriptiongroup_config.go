package sandbox

import "mqctl/internal/protocol"

// GET_ALL_SUBSCRIPTIONGROUP_CONFIG (201): every consumer group of this broker, in one piece.
func handleGetAllSubscriptionGroupConfig(r *request) *protocol.Command {
	b := r.broker
	body := protocol.AllSubscriptionGroupConfig{
		DataVersion: b.groupVer.body(), ForbiddenTable: map[string]map[string]int32{},
		SubscriptionGroupTable: make(map[string]protocol.SubscriptionGroupConfig, len(b.groups)),
	}
	for name, cfg := range b.groups {
		body.SubscriptionGroupTable[name] = *cfg
	}
	n := int32(len(b.groups))
	return r.ok(&protocol.GetAllSubscriptionGroupConfigResponse{TotalGroupNum: &n}, body.Encode())
}
