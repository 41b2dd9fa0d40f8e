package protocol

// DELETE_TOPIC_IN_NAMESRV (216): remove a topic's routes from one name server, Java's
// DeleteTopicFromNamesrvRequestHeader. An absent topic is a success.

// DeleteTopicInNamesrvRequest is the header of DELETE_TOPIC_IN_NAMESRV.
type DeleteTopicInNamesrvRequest struct {
	Topic       string `ext:"topic,required"`
	ClusterName string `ext:"clusterName,omitempty"`
}

// RequestCode is DeleteTopicInNamesrv.
func (*DeleteTopicInNamesrvRequest) RequestCode() RequestCode { return DeleteTopicInNamesrv }
