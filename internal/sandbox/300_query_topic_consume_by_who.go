package sandbox

import (
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// QUERY_TOPIC_CONSUME_BY_WHO (300): the groups that subscribe to a topic or have offsets on it.
func handleQueryTopicConsumeByWho(r *request) *protocol.Command {
	var h protocol.QueryTopicConsumeByWhoRequest
	if resp := r.decode(&h); resp != nil {
		return resp
	}
	b := r.broker
	groups := map[string]bool{}
	for name, g := range b.consumers {
		if g.subs[h.Topic] != nil {
			groups[name] = true
		}
	}
	for key := range b.offsets.stored {
		if key.topic == h.Topic {
			groups[key.group] = true
		}
	}
	list := protocol.GroupList{GroupList: slices.Sorted(maps.Keys(groups))}
	return r.ok(nil, list.Encode())
}
