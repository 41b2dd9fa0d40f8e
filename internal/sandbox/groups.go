package sandbox

import (
	"maps"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// createSystemGroups makes what a real broker has after its first start.
func (b *broker) createSystemGroups() {
	for _, name := range []string{
		protocol.ToolsConsumerGroup, "FILTERSRV_CONSUMER", "SELF_TEST_C_GROUP", "CID_ONS-HTTP-PROXY", "CID_ONSAPI_PULL",
		"CID_ONSAPI_PERMISSION", "CID_ONSAPI_OWNER", "CID_RMQ_SYS_TRANS",
	} {
		b.addGroup(name)
	}
	b.sandbox.writes = Writes{}
}

func (b *broker) addGroup(name string) *protocol.SubscriptionGroupConfig {
	cfg := protocol.NewSubscriptionGroupConfig(name)
	b.setGroup(&cfg)
	return &cfg
}

func (b *broker) setGroup(cfg *protocol.SubscriptionGroupConfig) {
	if cfg.GroupRetryPolicy == "" {
		cfg.GroupRetryPolicy = `{"type":"CUSTOMIZED"}`
	}
	b.groups[cfg.GroupName] = cfg
	b.groupVer.next(b.sandbox.now())
	b.sandbox.writes.Groups++
}

// groupConfig finds a consumer group, Java's findSubscriptionGroupConfig: whoever names one creates it where that is
// allowed, a query included. nil otherwise.
func (b *broker) groupConfig(name string) *protocol.SubscriptionGroupConfig {
	if cfg := b.groups[name]; cfg != nil {
		return cfg
	}
	if b.sandbox.opt.NoAutoCreateGroups || b.sandbox.badGroupName(name) != "" || len(b.groups) >= maxGroups {
		return nil
	}
	return b.addGroup(name)
}

// member is one client of a group on one connection. A client that reconnects is there twice until its old connection is
// found to be closed, and so are two clients that share an id.
type member struct {
	peer     *peer
	clientID string
	lang     protocol.Language
	version  int32
	seen     time.Time // its latest heartbeat
	alarm    *alarm    // goes off when it may have been silent for too long
}

// consumerGroup is the members of a consumer group and what they want; it exists while there are any.
type consumerGroup struct {
	name    string
	members []*member
	subs    map[string]*protocol.SubscriptionData // by topic; one for the whole group
	kind    protocol.ConsumeType
	model   protocol.MessageModel
	from    protocol.ConsumeFromWhere
}

func (g *consumerGroup) member(p *peer) *member { return memberOf(g.members, p) }

func memberOf(list []*member, p *peer) *member {
	for _, m := range list {
		if m.peer == p {
			return m
		}
	}
	return nil
}

// refresh notes a heartbeat of a client for one group's list and reports whether it is new there. gone is called on the
// run goroutine when the client has been silent for too long.
func (s *Sandbox) refresh(list *[]*member, p *peer, clientID string, gone func(*member)) (joined bool) {
	m := memberOf(*list, p)
	if m == nil || m.clientID != clientID {
		if m == nil {
			m = &member{peer: p}
			*list = append(*list, m)
		}
		m.clientID, joined = clientID, true
	}
	m.lang, m.version, m.seen = p.lang, p.version, s.now()
	if m.alarm == nil {
		s.watch(m, gone)
	}
	return joined
}

// watch looks at a member when its silence could become too long. A heartbeat does not move the alarm: it finds out.
func (s *Sandbox) watch(m *member, gone func(*member)) {
	m.alarm = s.alarms.set(m.seen.Add(clientSilence), func() {
		m.alarm = nil
		if m.seen.Add(clientSilence).After(s.now()) {
			s.watch(m, gone)
			return
		}
		gone(m)
	})
}

// silent removes a client that has not sent a heartbeat for 120 s, and its connection.
func (b *broker) silent(m *member) {
	b.sandbox.log.Info("client gone silent", "broker", b.node(), "client", m.clientID)
	b.dropPeer(m.peer)
	m.peer.conn.Close()
}

// dropPeer removes all memberships of a connection and tells the members that are left.
func (b *broker) dropPeer(p *peer) {
	for _, name := range slices.Sorted(maps.Keys(b.consumers)) {
		b.leaveConsumers(b.consumers[name], p)
	}
	for name, list := range b.producers {
		b.setProducers(name, b.without(list, p))
	}
}

func (b *broker) without(list []*member, p *peer) []*member {
	return slices.DeleteFunc(list, func(m *member) bool {
		if m.peer == p {
			b.sandbox.alarms.cancel(m.alarm)
		}
		return m.peer == p
	})
}

func (b *broker) setProducers(name string, list []*member) {
	if len(list) == 0 {
		delete(b.producers, name)
		return
	}
	b.producers[name] = list
}

// leaveConsumers takes a connection out of a group. A group without members forgets what it wanted.
func (b *broker) leaveConsumers(g *consumerGroup, p *peer) {
	if g == nil || g.member(p) == nil {
		return
	}
	g.members = b.without(g.members, p)
	b.sandbox.writes.Members++
	if len(g.members) == 0 {
		delete(b.consumers, g.name)
		return
	}
	b.notifyMembers(g)
}

// joinProducers registers a client in a producer group.
func (b *broker) joinProducers(name string, p *peer, clientID string) {
	list := b.producers[name]
	if b.sandbox.refresh(&list, p, clientID, b.silent) {
		b.sandbox.writes.Producers++
	}
	b.producers[name] = list
}

// joinConsumers takes in one consumer group of a heartbeat and reports whether the client is new in it.
func (b *broker) joinConsumers(data *protocol.ConsumerData, p *peer, clientID string, keepSubs bool) (joined bool) {
	g := b.consumers[data.GroupName]
	if g == nil {
		g = &consumerGroup{name: data.GroupName, subs: map[string]*protocol.SubscriptionData{}}
		b.consumers[g.name] = g
	}
	g.kind, g.model, g.from = data.ConsumeType, data.MessageModel, data.ConsumeFromWhere
	joined = b.sandbox.refresh(&g.members, p, clientID, b.silent)
	if joined {
		b.sandbox.writes.Members++
	}
	changed := !keepSubs && g.subscribe(data.SubscriptionDataSet)
	if joined || changed {
		b.notifyMembers(g)
	}
	return joined
}

// subscribe makes subs the group's subscriptions: a topic that is not there is dropped, a known one is replaced by a
// higher version only. The last member to subscribe differently wins for the whole group.
func (g *consumerGroup) subscribe(subs []protocol.SubscriptionData) (changed bool) {
	wanted := map[string]bool{}
	for i := range subs {
		sub := &subs[i]
		wanted[sub.Topic] = true
		old := g.subs[sub.Topic]
		if old == nil || sub.SubVersion > old.SubVersion {
			changed = changed || old == nil || !old.Same(sub)
			g.subs[sub.Topic] = sub
		}
	}
	for topic := range g.subs {
		if !wanted[topic] {
			delete(g.subs, topic)
			changed = true
		}
	}
	return changed
}
