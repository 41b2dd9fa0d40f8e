package sandbox

import (
	"maps"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// reRegister is how often a real broker tells the name server about all its topics.
const reRegister = 30 * time.Second

// nameServer is what the name server knows besides the brokers' own tables, which it reads where they are: a topic has a
// route from the moment it exists until its broker stops.
type nameServer struct {
	settings map[string]map[string]string // by namespace and key
	unrouted map[string]bool              // topics without a route, by SetUnroutedTopic
	deleted  map[string]time.Time         // routes deleted here that come back when a broker registers again
}

func newNameServer() nameServer {
	return nameServer{settings: map[string]map[string]string{}, unrouted: map[string]bool{}, deleted: map[string]time.Time{}}
}

// registered notes that a broker has created or changed a topic, which it reports at once.
func (n *nameServer) registered(topic string) { delete(n.deleted, topic) }

// hidden reports whether the name server does not show a topic that a broker has.
func (n *nameServer) hidden(topic string, now time.Time) bool {
	at, ok := n.deleted[topic]
	if ok && now.Sub(at) >= reRegister {
		delete(n.deleted, topic)
		ok = false
	}
	return ok || n.unrouted[topic]
}

// route is the route of a topic, nil when no running broker has it.
func (s *Sandbox) route(topic string) *protocol.TopicRouteData {
	if s.names.hidden(topic, s.now()) {
		return nil
	}
	route := &protocol.TopicRouteData{OrderTopicConf: s.names.settings[orderNamespace][topic]}
	for _, b := range s.brokers {
		t := b.topics[topic]
		if !b.reachable() || t == nil {
			continue
		}
		route.BrokerDatas = append(route.BrokerDatas, b.addresses())
		route.QueueDatas = append(route.QueueDatas, protocol.QueueData{
			BrokerName: b.name, Perm: t.Perm, ReadQueueNums: t.ReadQueueNums, WriteQueueNums: t.WriteQueueNums, TopicSysFlag: t.TopicSysFlag,
		})
	}
	if len(route.QueueDatas) == 0 {
		return nil
	}
	return route
}

// orderNamespace is where the queues of ordered topics are configured.
const orderNamespace = "ORDER_TOPIC_CONFIG"

// reachable reports whether a master or one of its replicas runs.
func (b *broker) reachable() bool {
	return b.up || slices.ContainsFunc(b.replicas, func(r *broker) bool { return r.up })
}

// addresses is a master and its replicas as the name server knows them: those that run.
func (b *broker) addresses() protocol.BrokerData {
	d := protocol.BrokerData{BrokerAddrs: map[int64]string{}, BrokerName: b.name, Cluster: b.sandbox.cluster}
	for _, x := range append([]*broker{b}, b.replicas...) {
		if x.up {
			d.BrokerAddrs[x.id] = x.host.String()
		}
	}
	return d
}

// routedTopics is every topic that has a route, in order.
func (s *Sandbox) routedTopics() []string {
	all := map[string]bool{}
	for _, b := range s.brokers {
		if !b.reachable() {
			continue
		}
		for name := range b.topics {
			if !s.names.hidden(name, s.now()) {
				all[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(all))
}
