package protocol

// GET_ROUTEINFO_BY_TOPIC (105): which brokers have queues of a topic, Java's GetRouteInfoRequestHeader.

// GetRouteInfoByTopicRequest is the header of GET_ROUTEINFO_BY_TOPIC. No route is TOPIC_NOT_EXIST.
type GetRouteInfoByTopicRequest struct {
	Topic                  string `ext:"topic"`
	AcceptStandardJSONOnly bool   `ext:"acceptStandardJsonOnly,omitempty"`
}

// RequestCode is GetRouteInfoByTopic.
func (*GetRouteInfoByTopicRequest) RequestCode() RequestCode { return GetRouteInfoByTopic }

// MasterID is the broker id of a master; other ids are its slaves.
const MasterID int64 = 0

// TopicRouteData is the body of the answer, Java's TopicRouteData.
type TopicRouteData struct {
	BrokerDatas       []BrokerData        `json:"brokerDatas"`
	FilterServerTable map[string][]string `json:"filterServerTable"`
	OrderTopicConf    string              `json:"orderTopicConf,omitempty"` // "broker-a:4;broker-b:4"
	QueueDatas        []QueueData         `json:"queueDatas"`
}

// BrokerData is a master and its slaves. After a failed registration it may have no address at all.
type BrokerData struct {
	BrokerAddrs        map[int64]string `json:"brokerAddrs"` // by broker id
	BrokerName         string           `json:"brokerName"`
	Cluster            string           `json:"cluster"`
	EnableActingMaster bool             `json:"enableActingMaster"`
	ZoneName           string           `json:"zoneName,omitempty"`
}

// QueueData is how many queues of the topic a broker has. The broker does not check Perm when it is sent a message: that
// is up to the client.
type QueueData struct {
	BrokerName     string `json:"brokerName"`
	Perm           Perm   `json:"perm"`
	ReadQueueNums  int32  `json:"readQueueNums"`
	TopicSysFlag   int32  `json:"topicSysFlag"`
	WriteQueueNums int32  `json:"writeQueueNums"`
}

// Perm is what a topic allows, Java's PermName.
type Perm int32

// The bits of a Perm.
const (
	PermInherit  Perm = 1
	PermWrite    Perm = 2
	PermRead     Perm = 4
	PermPriority Perm = 8
)

// String is Java's form: "RW-" for 6, "RWX" for 7.
func (p Perm) String() string {
	s := []byte("---")
	if p&PermRead != 0 {
		s[0] = 'R'
	}
	if p&PermWrite != 0 {
		s[1] = 'W'
	}
	if p&PermInherit != 0 {
		s[2] = 'X'
	}
	return string(s)
}

var (
	topicRouteBody     = newBody[TopicRouteData]("topic route")
	topicRouteBareBody = topicRouteBody.withBareKeys()
)

// DecodeTopicRouteData reads the body, with quoted or bare keys.
func DecodeTopicRouteData(b []byte) (*TopicRouteData, error) { return topicRouteBody.decode(b) }

// Encode is the body as strict JSON, the form for requests of version 401 and later.
func (d *TopicRouteData) Encode() []byte { return topicRouteBody.encode(d) }

// EncodeBareKeys is the body with bare broker ids, the form for older requests that do not ask for strict JSON.
func (d *TopicRouteData) EncodeBareKeys() []byte { return topicRouteBareBody.encode(d) }
