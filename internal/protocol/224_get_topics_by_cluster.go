package protocol

// GET_TOPICS_BY_CLUSTER (224): the topics with queues in one cluster, Java's GetTopicsByClusterRequestHeader.

// GetTopicsByClusterRequest is the header of GET_TOPICS_BY_CLUSTER; the answer's body is a TopicList.
type GetTopicsByClusterRequest struct {
	Cluster string `ext:"cluster,required"`
}

// RequestCode is GetTopicsByCluster.
func (*GetTopicsByClusterRequest) RequestCode() RequestCode { return GetTopicsByCluster }
