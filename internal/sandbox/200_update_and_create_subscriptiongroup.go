package sandbox

import "mqctl/internal/protocol"

// UPDATE_AND_CREATE_SUBSCRIPTIONGROUP (200): create a consumer group on this broker or replace its settings.
func handleUpdateAndCreateSubscriptionGroup(r *request) *protocol.Command {
	cfg, err := protocol.DecodeSubscriptionGroupConfig(r.Body)
	if err != nil {
		return r.fail(protocol.CodeSystemError, err.Error())
	}
	b := r.broker
	if remark := b.sandbox.badGroupName(cfg.GroupName); remark != "" {
		return r.fail(b.sandbox.invalid(), remark)
	}
	if b.groups[cfg.GroupName] == nil && len(b.groups) >= maxGroups {
		return r.failf(protocol.CodeSystemError, "the broker has as many groups as it may, %d", maxGroups)
	}
	b.setGroup(cfg)
	return r.ok(nil, nil)
}
