package protocol

// QUERY_TOPIC_CONSUME_BY_WHO (300): the groups that read a topic, Java's QueryTopicConsumeByWhoRequestHeader.

// QueryTopicConsumeByWhoRequest is the header of QUERY_TOPIC_CONSUME_BY_WHO.
type QueryTopicConsumeByWhoRequest struct {
	Topic string `ext:"topic,required"`
}

// RequestCode is QueryTopicConsumeByWho.
func (*QueryTopicConsumeByWhoRequest) RequestCode() RequestCode { return QueryTopicConsumeByWho }

// GroupList is the body of the answer, Java's GroupList.
type GroupList struct {
	GroupList []string `json:"groupList"`
}

var groupListBody = newBody[GroupList]("group list")

// DecodeGroupList reads the body.
func DecodeGroupList(b []byte) (*GroupList, error) { return groupListBody.decode(b) }

// Encode is the body as Java reads it.
func (l *GroupList) Encode() []byte { return groupListBody.encode(l) }
