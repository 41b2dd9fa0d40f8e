package admin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// Roles of a replica.
const (
	RoleMaster = "master"
	RoleSlave  = "slave"
)

// Replica is one broker process, a row of Cluster.
type Replica struct {
	Cluster string `json:"cluster" col:"CLUSTER"`
	Broker  string `json:"broker" col:"BROKER"`
	ID      *int64 `json:"replica_id" col:"ID"` // 0 is the master; nil when no address is known
	Role    string `json:"role" col:"ROLE"`     // master or slave
	Addr    string `json:"addr" col:"ADDRESS"`
	Error   string `json:"error" col:"ERROR"`
}

// clusterInfo asks GET_BROKER_CLUSTER_INFO (106).
func (a *Admin) clusterInfo(ctx context.Context) (*protocol.ClusterInfo, error) {
	resp, err := a.nameServer(ctx, protocol.GetBrokerClusterInfo)
	if err != nil {
		return nil, fmt.Errorf("clusters and brokers: %w", err)
	}
	info, err := protocol.DecodeClusterInfo(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("clusters and brokers: answer of a name server: %w", err)
	}
	return info, nil
}

// Cluster lists the replicas of every broker that registered with the name server, by cluster, broker and id. A broker
// without an address (a failed registration leaves one) is a row with an Error.
func (a *Admin) Cluster(ctx context.Context) ([]Replica, error) {
	info, err := a.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	rows := []Replica{}
	for _, name := range brokerNames(info) {
		data := info.BrokerAddrTable[name]
		row := Replica{Cluster: clusterOf(info, name), Broker: name}
		if len(data.BrokerAddrs) == 0 {
			row.Error = "the name server knows no address"
			rows = append(rows, row)
		}
		for _, id := range slices.Sorted(maps.Keys(data.BrokerAddrs)) {
			row.ID, row.Addr, row.Role = &id, data.BrokerAddrs[id], RoleSlave
			if id == protocol.MasterID {
				row.Role = RoleMaster
			}
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b Replica) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Broker, b.Broker))
	})
	return rows, nil
}

// brokerNames is every broker that one of the two tables names, sorted.
func brokerNames(info *protocol.ClusterInfo) []string {
	set := map[string]bool{}
	for name := range info.BrokerAddrTable {
		set[name] = true
	}
	for _, names := range info.ClusterAddrTable {
		for _, name := range names {
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// clusterOf is the cluster of a broker, "" when neither table tells.
func clusterOf(info *protocol.ClusterInfo, broker string) string {
	if data, ok := info.BrokerAddrTable[broker]; ok && data.Cluster != "" {
		return data.Cluster
	}
	for _, name := range slices.Sorted(maps.Keys(info.ClusterAddrTable)) {
		if slices.Contains(info.ClusterAddrTable[name], broker) {
			return name
		}
	}
	return ""
}
