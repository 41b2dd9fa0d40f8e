package admin

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// Kinds of a topic.
const (
	KindNormal = "normal"
	KindRetry  = "retry"
	KindDLQ    = "dlq"
	KindSystem = "system"
)

// replyTopicSuffix ends the name of the topic for request-reply, which begins with that of the cluster; Java's
// MixAll.REPLY_TOPIC_POSTFIX.
const replyTopicSuffix = "_REPLY_TOPIC"

// TopicOptions selects the topics that Topics lists.
type TopicOptions struct {
	Regex  *regexp.Regexp // nil: all names
	System bool           // also those that brokers keep for themselves
	Retry  bool           // also retry and dead-letter topics of groups
}

// Topic is a row of Topics.
type Topic struct {
	Topic string `json:"topic" col:"TOPIC"`
	Kind  string `json:"kind" col:"KIND"` // normal, retry, dlq or system
}

// Topics lists the topics that have a route, sorted by name.
func (a *Admin) Topics(ctx context.Context, o TopicOptions) ([]Topic, error) {
	resp, err := a.nameServer(ctx, protocol.GetAllTopicListFromNameServer)
	if err != nil {
		return nil, fmt.Errorf("list topics: %w", err)
	}
	list, err := protocol.DecodeTopicList(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("list topics: answer of a name server: %w", err)
	}
	own, err := a.brokerTopics(ctx)
	if err != nil && !isRefusal(err) { // whoever may not see the brokers may still see topics
		return nil, fmt.Errorf("list topics: %w", err)
	}
	rows := []Topic{}
	slices.Sort(list.TopicList)
	for _, name := range slices.Compact(list.TopicList) {
		row := Topic{Topic: name, Kind: kindOf(name, own)}
		if o.wants(row) {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func (o TopicOptions) wants(t Topic) bool {
	switch t.Kind {
	case KindSystem:
		if !o.System {
			return false
		}
	case KindRetry, KindDLQ:
		if !o.Retry {
			return false
		}
	}
	return o.Regex == nil || o.Regex.MatchString(t.Topic)
}

// brokerTopics are the topics that brokers create in the name of their cluster and of themselves.
func (a *Admin) brokerTopics(ctx context.Context) (map[string]bool, error) {
	info, err := a.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	set := map[string]bool{}
	for cluster := range info.ClusterAddrTable {
		set[cluster] = true
		set[cluster+replyTopicSuffix] = true
	}
	for _, name := range brokerNames(info) {
		set[name] = true
	}
	return set, nil
}

func kindOf(topic string, own map[string]bool) string {
	switch {
	case protocol.IsRetryTopic(topic):
		return KindRetry
	case protocol.IsDLQTopic(topic):
		return KindDLQ
	case protocol.IsSystemTopic(topic) || own[topic]:
		return KindSystem
	}
	return KindNormal
}

// TopicRoute is where a topic lives.
type TopicRoute struct {
	Topic     string        `json:"topic"`
	OrderConf string        `json:"order_conf"` // such as "broker-a:4;broker-b:4"; "" unless the name server keeps one
	Brokers   []RouteBroker `json:"brokers"`
}

// RouteBroker is one broker's part of a topic, a row of TopicRoute.
type RouteBroker struct {
	Cluster     string `json:"cluster" col:"CLUSTER"`
	Broker      string `json:"broker" col:"BROKER"`
	Addr        string `json:"addr" col:"ADDRESS"` // the master's, "" while it is away
	ReadQueues  int32  `json:"read_queues" col:"READ" unit:"count"`
	WriteQueues int32  `json:"write_queues" col:"WRITE" unit:"count"`
	Perm        string `json:"perm" col:"PERM"` // R, W and X (inherit) or - in their places
	Slaves      int    `json:"slaves" col:"SLAVES" unit:"count"`
}

// Route is where a topic lives, by broker name. An unknown topic is client.ErrTopicNotFound.
func (a *Admin) Route(ctx context.Context, topic string) (*TopicRoute, error) {
	route, err := a.fetchRoute(ctx, topic)
	if err != nil {
		return nil, err
	}
	view := &TopicRoute{Topic: topic, OrderConf: route.Data.OrderTopicConf, Brokers: []RouteBroker{}}
	for _, q := range queueDatas(route) {
		replicas := route.Brokers[q.BrokerName]
		row := RouteBroker{
			Cluster: routeCluster(route, q.BrokerName), Broker: q.BrokerName, Addr: replicas[protocol.MasterID],
			ReadQueues: q.ReadQueueNums, WriteQueues: q.WriteQueueNums, Perm: q.Perm.String(), Slaves: len(replicas),
		}
		if row.Addr != "" {
			row.Slaves--
		}
		view.Brokers = append(view.Brokers, row)
	}
	return view, nil
}

// queueDatas is the queues of a route by broker name.
func queueDatas(r *client.TopicRoute) []protocol.QueueData {
	byName := map[string]protocol.QueueData{}
	for _, q := range r.Data.QueueDatas {
		byName[q.BrokerName] = q
	}
	var list []protocol.QueueData
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		list = append(list, byName[name])
	}
	return list
}

func routeCluster(r *client.TopicRoute, broker string) string {
	for _, b := range r.Data.BrokerDatas {
		if b.BrokerName == broker {
			return b.Cluster
		}
	}
	return ""
}
