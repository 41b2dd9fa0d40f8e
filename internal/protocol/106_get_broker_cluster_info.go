package protocol

// GET_BROKER_CLUSTER_INFO (106): every cluster and broker of a name server, Java's ClusterInfo. The request has no header.

// ClusterInfo is the body of the answer.
type ClusterInfo struct {
	BrokerAddrTable  map[string]BrokerData `json:"brokerAddrTable"`  // by broker name
	ClusterAddrTable map[string][]string   `json:"clusterAddrTable"` // broker names by cluster
}

var clusterInfoBody = newBody[ClusterInfo]("cluster info").withBareKeys()

// DecodeClusterInfo reads the body.
func DecodeClusterInfo(b []byte) (*ClusterInfo, error) { return clusterInfoBody.decode(b) }

// Encode is the body as a name server writes it, always with bare broker ids.
func (c *ClusterInfo) Encode() []byte { return clusterInfoBody.encode(c) }
