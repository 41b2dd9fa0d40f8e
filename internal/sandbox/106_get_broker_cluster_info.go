package sandbox

import "mqctl/internal/protocol"

// GET_BROKER_CLUSTER_INFO (106): the brokers that are up, and their cluster.
func handleGetBrokerClusterInfo(r *request) *protocol.Command {
	info := protocol.ClusterInfo{BrokerAddrTable: map[string]protocol.BrokerData{}, ClusterAddrTable: map[string][]string{}}
	for _, b := range r.sandbox.brokers {
		if b.reachable() {
			info.BrokerAddrTable[b.name] = b.addresses()
			info.ClusterAddrTable[r.sandbox.cluster] = append(info.ClusterAddrTable[r.sandbox.cluster], b.name)
		}
	}
	return r.ok(nil, info.Encode())
}
