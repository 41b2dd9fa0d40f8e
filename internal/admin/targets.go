package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// What a plan does at a broker.
const (
	ActionCreate  = "create"
	ActionChange  = "change"
	ActionKeep    = "keep"    // it is as wanted already
	ActionUnknown = "unknown" // its state could not be read, so it will not be written to
)

// Targets says at which brokers something is created. The zero value is the one cluster that there is.
type Targets struct {
	Cluster string   // every broker of this cluster
	Brokers []string // these brokers
}

// Change is one setting that a plan changes. From is "" for what did not exist.
type Change struct {
	Setting string `json:"setting"`
	From    string `json:"from"`
	To      string `json:"to"`
}

// String is "queues 4 → 8", or "queues 8" for what is new.
func (c Change) String() string { return changeText([]Change{c}) }

// changeText is the changes for one table cell.
func changeText(changes []Change) string {
	parts := make([]string, len(changes))
	for i, c := range changes {
		switch {
		case c.From == "":
			parts[i] = c.Setting + " " + c.To
		case c.To == "":
			parts[i] = c.Setting + " " + c.From + " removed"
		default:
			parts[i] = c.Setting + " " + c.From + " → " + c.To
		}
	}
	return strings.Join(parts, ", ")
}

// Written is what became of a plan at one broker, a row of the results of the Apply functions.
type Written struct {
	Broker string `json:"broker" col:"BROKER"`
	Addr   string `json:"addr" col:"ADDRESS"`
	Action string `json:"action" col:"ACTION"` // create, change, keep or unknown
	Done   bool   `json:"done" col:"DONE"`     // the broker is as the plan wants it
	Error  string `json:"error" col:"ERROR"`
}

// Applied is the result of an Apply function.
type Applied struct {
	Name     string    `json:"name"`
	Brokers  []Written `json:"brokers"`
	Partial  bool      `json:"partial"` // not every broker is as the plan wants it
	Failures []error   `json:"-"`       // the causes behind the rows' Error, each once
}

// targets is the masters that t names. A broker whose master is away is a broker without an address.
func (a *Admin) targets(ctx context.Context, t Targets) ([]*broker, error) {
	if t.Cluster != "" && len(t.Brokers) > 0 {
		return nil, &InputError{What: "cluster", Input: t.Cluster, Reason: "name a cluster or brokers, not both"}
	}
	info, err := a.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	names := t.Brokers
	if len(names) == 0 {
		if names, err = clusterBrokers(info, t.Cluster); err != nil {
			return nil, err
		}
	}
	known := brokerNames(info)
	var list []*broker
	names = slices.Sorted(slices.Values(names))
	for _, name := range slices.Compact(names) {
		if !slices.Contains(known, name) {
			return nil, fmt.Errorf("broker %s: %w; there are %s", name, client.ErrBrokerNotFound, strings.Join(known, ", "))
		}
		list = append(list, &broker{name: name, addr: info.BrokerAddrTable[name].BrokerAddrs[protocol.MasterID]})
	}
	return list, nil
}

// clusterBrokers is the brokers of a cluster, of the only one for "".
func clusterBrokers(info *protocol.ClusterInfo, cluster string) ([]string, error) {
	known := slices.Sorted(maps.Keys(info.ClusterAddrTable))
	list := strings.Join(known, ", ")
	switch {
	case len(known) == 0:
		return nil, fmt.Errorf("%w: no broker has registered with the name server", ErrClusterNotFound)
	case cluster == "" && len(known) > 1:
		return nil, &InputError{What: "cluster", Reason: "there are several, name one: " + list}
	case cluster == "":
		cluster = known[0]
	case !slices.Contains(known, cluster):
		return nil, fmt.Errorf("cluster %s: %w; there is %s", cluster, ErrClusterNotFound, list)
	}
	return info.ClusterAddrTable[cluster], nil
}

// write carries out a plan's writes at all brokers side by side. step is what to do at one of them.
func write[T any](name string, rows []T, step func(T) (Written, error)) *Applied {
	result := &Applied{Name: name, Brokers: make([]Written, len(rows))}
	errs := make([]error, len(rows))
	spread(0, rows, func(i int, row T) { result.Brokers[i], errs[i] = step(row) })
	var failed failures
	for i, err := range errs {
		if err != nil {
			result.Brokers[i].Error = err.Error()
			result.Partial = true
			failed.add(err)
		}
	}
	result.Failures = failed.errs
	return result
}

// outcome is an error when nothing was reached at all: a result of failures alone is no partial success.
func (r *Applied) outcome() error {
	done := slices.ContainsFunc(r.Brokers, func(w Written) bool { return w.Done })
	if done || len(r.Failures) == 0 {
		return nil
	}
	return r.Failures[0]
}
