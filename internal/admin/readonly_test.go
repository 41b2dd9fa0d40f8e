package admin_test

import (
	"encoding/json"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"mqctl/internal/admin"
	"mqctl/internal/protocol"
)

// reads are the requests that neither change nor create anything.
var reads = []protocol.RequestCode{
	protocol.QueryMessage, protocol.QueryConsumerOffset, protocol.GetAllTopicConfig, protocol.SearchOffsetByTimestamp, protocol.GetMaxOffset,
	protocol.GetMinOffset, protocol.ViewMessageByID, protocol.GetAllConsumerOffset, protocol.GetRouteInfoByTopic, protocol.GetBrokerClusterInfo,
	protocol.GetAllSubscriptionGroupConfig, protocol.GetTopicStatsInfo, protocol.GetConsumerConnectionList,
	protocol.GetAllTopicListFromNameServer, protocol.GetConsumeStats, protocol.GetTopicConfig,
}

// TestReadsChangeNothing runs every question on names that exist and on names that do not.
func TestReadsChangeNothing(t *testing.T) {
	virtual(t, 2, func(t *testing.T, r *rig) {
		ctx := t.Context()
		topic, group := r.Topic(2), r.newGroup(t.Context())
		mq := r.queues(topic)[0]
		sent := r.put(mq, "x", protocol.PropertyKeys, "k")
		r.commit(group, mq, 1)
		topics, writes, counts := r.Sandbox().Topics(), r.Sandbox().Writes(), r.Sandbox().Counts()
		for _, name := range []string{topic, "no_such_topic"} {
			for _, g := range []string{group, "no_such_group"} {
				_, _ = r.a.Lag(ctx, g, admin.LagOptions{})
				_, _ = r.a.Lag(ctx, g, admin.LagOptions{Topics: []string{name}})
				_, _ = r.a.GroupExists(ctx, g)
				_, _ = r.a.PlanGroup(ctx, admin.GroupSpec{Name: g, Consume: p(false)})
				for _, pos := range []string{"start", "commit+1", "@-1h"} {
					_, _ = r.a.ResolveAll(ctx, name, nil, mustPosition(t, pos), g)
				}
				_, _ = r.a.Bounds(ctx, protocol.MessageQueue{Topic: name, BrokerName: "broker-a"}, g)
			}
			_, _ = r.a.Route(ctx, name)
			_, _ = r.a.TopicOffsets(ctx, name)
			_, _ = r.a.PlanTopic(ctx, admin.TopicSpec{Name: name, Queues: 5})
			_, _ = r.a.MessagesByKey(ctx, name, "k", admin.KeyQuery{})
			_, _ = r.a.Message(ctx, name, sent.MsgID)
		}
		_, _ = r.a.Cluster(ctx)
		_, _ = r.a.Topics(ctx, admin.TopicOptions{System: true, Retry: true})
		_, _ = r.a.Groups(ctx, admin.GroupOptions{System: true})
		time.Sleep(time.Minute) // what the client does by itself
		if got := r.Sandbox().Writes(); got != writes {
			t.Errorf("writes %+v, before %+v", got, writes)
		}
		if got := r.Sandbox().Topics(); !slices.Equal(got, topics) {
			t.Errorf("topics %v, before %v", got, topics)
		}
		used := 0
		for code, n := range r.Sandbox().Counts() {
			if n > counts[code] {
				used++
				if !slices.Contains(reads, code) {
					t.Errorf("%s was sent", code)
				}
			}
		}
		if used < 12 {
			t.Errorf("only %d kinds of request were sent: the test does not ask enough", used)
		}
	})
}

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// TestFieldNames holds every answer to the rules of output: stable names in data, titles in tables, no duplicates.
func TestFieldNames(t *testing.T) {
	for _, v := range []any{
		admin.Replica{}, admin.Topic{}, admin.TopicRoute{}, admin.RouteBroker{}, admin.TopicOffsets{}, admin.QueueOffsets{}, admin.LagReport{},
		admin.QueueLag{}, admin.GroupList{}, admin.Group{}, admin.Resolved{}, admin.ResolvedQueue{}, admin.TopicPlan{}, admin.TopicPlanBroker{},
		admin.GroupPlan{}, admin.GroupPlanBroker{}, admin.Applied{}, admin.Written{}, admin.Change{},
	} {
		rt := reflect.TypeOf(v)
		keys, titles := map[string]bool{}, map[string]bool{}
		for i := range rt.NumField() {
			f := rt.Field(i)
			if !f.IsExported() {
				continue
			}
			key, title := f.Tag.Get("json"), f.Tag.Get("col")
			if key != "-" && (!snakeCase.MatchString(key) || keys[key]) {
				t.Errorf("%s.%s: json %q", rt, f.Name, key)
			}
			if title != "" && titles[title] {
				t.Errorf("%s.%s: col %q is there twice", rt, f.Name, title)
			}
			keys[key], titles[title] = true, true
		}
		if b, err := json.Marshal(v); err != nil || len(b) < 3 {
			t.Errorf("%s in JSON: %s, %v", rt, b, err)
		}
	}
}
