package protocol

// UPDATE_AND_CREATE_TOPIC (17): create a topic on one broker or change it, Java's CreateTopicRequestHeader.

// TopicFilterSingleTag is the only topic filter type in use.
const TopicFilterSingleTag = "SINGLE_TAG"

// UpdateAndCreateTopicRequest is the header of UPDATE_AND_CREATE_TOPIC.
type UpdateAndCreateTopicRequest struct {
	Topic           string `ext:"topic,required"`
	DefaultTopic    string `ext:"defaultTopic"` // TBW102
	ReadQueueNums   int32  `ext:"readQueueNums,required"`
	WriteQueueNums  int32  `ext:"writeQueueNums,required"`
	Perm            Perm   `ext:"perm,required"`
	TopicFilterType string `ext:"topicFilterType"` // TopicFilterSingleTag
	TopicSysFlag    int32  `ext:"topicSysFlag"`
	Order           bool   `ext:"order"`
	Attributes      string `ext:"attributes,omitempty"` // changes such as "+message.type=FIFO,-cleanup.policy"
	Force           bool   `ext:"force,omitempty"`
}

// RequestCode is UpdateAndCreateTopic.
func (*UpdateAndCreateTopicRequest) RequestCode() RequestCode { return UpdateAndCreateTopic }
