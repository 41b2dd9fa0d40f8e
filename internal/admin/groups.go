package admin

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// groupPage is how many groups one answer holds when a broker answers in pages.
const groupPage = 500

// GroupOptions selects the groups that Groups lists.
type GroupOptions struct {
	Regex  *regexp.Regexp // nil: all names
	System bool           // also those that brokers and tools keep for themselves
}

// GroupList is every group of the cluster.
type GroupList struct {
	Groups   []Group `json:"groups"`
	Partial  bool    `json:"partial"` // some broker did not answer: its groups may be missing
	Failures []error `json:"-"`
}

// Group is a row of GroupList. Where brokers disagree, the settings are those of the first by name, and Note says so.
type Group struct {
	Group       string   `json:"group" col:"GROUP"`
	Brokers     []string `json:"brokers" col:"BROKERS,wide"`
	Consume     bool     `json:"consume" col:"CONSUME"` // false: paused for all members
	Broadcast   bool     `json:"broadcast" col:"BROADCAST,wide"`
	Orderly     bool     `json:"orderly" col:"ORDERLY,wide"`
	RetryMax    int32    `json:"retry_max" col:"RETRIES" unit:"count"`
	RetryQueues int32    `json:"retry_queues" col:"RETRY QUEUES,wide" unit:"count"`
	Note        string   `json:"note" col:"NOTE"`
}

// Groups lists the consumer groups that the brokers know (201), by name.
func (a *Admin) Groups(ctx context.Context, o GroupOptions) (*GroupList, error) {
	list, err := a.brokers(ctx)
	if err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	tables := make([]map[string]json.RawMessage, len(list))
	errs := make([]error, len(list))
	spread(0, list, func(i int, b *broker) { tables[i], errs[i] = a.groupTable(ctx, b) })
	var failed failures
	byName := map[string]*Group{}
	for i, b := range list {
		if errs[i] != nil {
			failed.add(errs[i])
			continue
		}
		for name, raw := range tables[i] {
			if o.System || !protocol.IsSystemGroup(name) {
				mergeGroup(byName, name, b, raw)
			}
		}
	}
	result := &GroupList{Groups: []Group{}, Failures: failed.errs, Partial: len(failed.errs) > 0}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if o.Regex == nil || o.Regex.MatchString(name) {
			result.Groups = append(result.Groups, *byName[name])
		}
	}
	if len(list) > 0 && len(failed.errs) > 0 && !slices.Contains(errs, nil) {
		return result, fmt.Errorf("list groups: %w", failed.errs[0])
	}
	return result, nil
}

// mergeGroup adds what one broker says of a group.
func mergeGroup(byName map[string]*Group, name string, b *broker, raw json.RawMessage) {
	row := &Group{Group: name, Brokers: []string{b.name}}
	config, err := protocol.DecodeSubscriptionGroupConfig(raw)
	if err != nil {
		row.Note = fmt.Sprintf("%s: %v", b.name, err)
	} else {
		row.Consume, row.Broadcast, row.Orderly = config.ConsumeEnable, config.ConsumeBroadcastEnable, config.ConsumeMessageOrderly
		row.RetryMax, row.RetryQueues = config.RetryMaxTimes, config.RetryQueueNums
	}
	first := byName[name]
	if first == nil {
		byName[name] = row
		return
	}
	first.Brokers = append(first.Brokers, b.name)
	if first.Note == "" && !first.sameSettings(row) {
		first.Note = "differs at " + b.name
	}
}

func (g *Group) sameSettings(o *Group) bool {
	return g.Consume == o.Consume && g.Broadcast == o.Broadcast && g.Orderly == o.Orderly &&
		g.RetryMax == o.RetryMax && g.RetryQueues == o.RetryQueues && g.Note == o.Note
}

// GroupExists reports whether some broker knows the group. It reads the list of all groups (201): the request for one
// (352) would create it where brokers create groups by themselves. "No" is only said when every broker did answer.
func (a *Admin) GroupExists(ctx context.Context, group string) (bool, error) {
	if err := client.ValidateGroup(group); err != nil {
		return false, err
	}
	list, err := a.brokers(ctx)
	if err != nil {
		return false, fmt.Errorf("look for group %s: %w", group, err)
	}
	found := make([]bool, len(list))
	errs := make([]error, len(list))
	spread(0, list, func(i int, b *broker) {
		var table map[string]json.RawMessage
		table, errs[i] = a.groupTable(ctx, b)
		_, found[i] = table[group]
	})
	if slices.Contains(found, true) {
		return true, nil
	}
	for _, err := range errs {
		if err != nil {
			return false, fmt.Errorf("look for group %s: %w", group, err)
		}
	}
	return false, nil
}

// groupTable is every group of one broker, each config as the broker wrote it: a change must send back also the settings
// that are unknown here. Brokers that answer in pages are asked until all are there.
func (a *Admin) groupTable(ctx context.Context, b *broker) (map[string]json.RawMessage, error) {
	table := map[string]json.RawMessage{}
	req := &protocol.GetAllSubscriptionGroupConfigRequest{}
	for asked := int32(0); ; {
		var page protocol.GetAllSubscriptionGroupConfigResponse
		resp, err := a.ask(ctx, b, req, nil, &page)
		if err != nil {
			return nil, err
		}
		got, err := addGroups(table, resp.Body)
		if err != nil {
			return nil, b.malformed(protocol.GetAllSubscriptionGroupConfig, err)
		}
		asked += got
		if page.TotalGroupNum == nil || got == 0 || asked >= *page.TotalGroupNum {
			return table, nil
		}
		next, size := asked, int32(groupPage)
		req = &protocol.GetAllSubscriptionGroupConfigRequest{GroupSeq: &next, MaxGroupNum: &size}
	}
}

// addGroups adds the groups of one answer to table and says how many it held.
func addGroups(table map[string]json.RawMessage, body []byte) (int32, error) {
	strict, err := protocol.StrictJSON(body)
	if err != nil {
		return 0, err
	}
	var all struct {
		Groups map[string]json.RawMessage `json:"subscriptionGroupTable"`
	}
	if err := json.Unmarshal(strict, &all); err != nil {
		return 0, fmt.Errorf("%w: %w", protocol.ErrBadBody, err)
	}
	maps.Copy(table, all.Groups)
	return int32(len(all.Groups)), nil
}
