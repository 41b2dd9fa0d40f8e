package protocol

import (
	"cmp"
	"strconv"
)

// MessageQueue is one queue of a topic on one broker, Java's MessageQueue. It is comparable and serves as a map key.
type MessageQueue struct {
	Topic      string `json:"topic"`
	BrokerName string `json:"brokerName"`
	QueueID    int32  `json:"queueId"`
}

// String is "topic/broker/queue".
func (q MessageQueue) String() string {
	return q.Topic + "/" + q.BrokerName + "/" + strconv.Itoa(int(q.QueueID))
}

// CompareMessageQueues orders queues as Java's MessageQueue.compareTo does: by topic, broker name, queue id. All members
// of a group must sort alike, or their allocations overlap.
func CompareMessageQueues(a, b MessageQueue) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.BrokerName, b.BrokerName), cmp.Compare(a.QueueID, b.QueueID))
}
