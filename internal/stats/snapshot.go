// Package stats holds the one snapshot of everything that a running mqctl can show: plain values that tables, JSON,
// Prometheus and the live view all read, so that they cannot disagree.
//
// Field tags carry the presentation: json is the stable name in data, col the table's column title (with ",wide" for
// the wide table only), unit what the number counts, metric and type the Prometheus family.
package stats

import "time"

// Verdict is the reason why one turn of a pull loop did not pull.
type Verdict uint8

// The verdicts of the flow-control ladder. VerdictPull is the absence of a reason.
const (
	VerdictPull   Verdict = iota
	VerdictCount          // too many cached messages in the queue
	VerdictSize           // too many cached bytes in the queue
	VerdictSpan           // offsets of cached messages too far apart (concurrent consumption only)
	VerdictTotal          // too much cached in the whole consumer
	VerdictBroker         // the broker asked for a pause (FLOW_CONTROL, SYSTEM_BUSY)
	verdictCount
)

// String is the verdict's word in output.
func (v Verdict) String() string {
	return [...]string{"pull", "count", "size", "span", "total", "broker"}[min(v, verdictCount-1)]
}

// Snapshot is what one process knew at one instant.
type Snapshot struct {
	At        time.Time  `json:"at"`
	Client    Client     `json:"client"`
	Consumers []Consumer `json:"consumers"`
	Producers []Producer `json:"producers"`
}

// Client describes the client instance, Java's MQClientInstance.
type Client struct {
	ID          string   `json:"id" col:"CLIENT"`
	NameServers []string `json:"name_servers"`
	Connections int      `json:"connections" metric:"mqctl_connections" type:"gauge" unit:"count"`
}

// Consumer is one consumer of the client.
type Consumer struct {
	Group        string  `json:"group" col:"GROUP" label:"group"`
	Mode         string  `json:"mode" col:"MODE"`       // push, assign or lite
	Model        string  `json:"model" col:"MODEL"`     // CLUSTERING or BROADCASTING
	Orderly      bool    `json:"orderly" col:"ORDERLY"` // orderly rather than concurrent consumption
	Workers      int     `json:"workers" col:"WORKERS"` // consume threads
	CachedCount  int64   `json:"cached_count" col:"CACHED" unit:"count"`
	CachedBytes  int64   `json:"cached_bytes" col:"SIZE" unit:"bytes"`
	Consumed     int64   `json:"consumed" col:"CONSUMED" unit:"count"`
	Failed       int64   `json:"failed" col:"FAILED" unit:"count"`
	ConsumedRate *Rate   `json:"consumed_rate" col:"OUT/S" unit:"rate"`
	Queues       []Queue `json:"queues"`
}

// Rate is a number per second; a nil *Rate is not known yet (it takes two samples).
type Rate float64

// Hits counts refused turns of a queue's pull loop by reason; a refused turn is one hit, as in Java's log lines.
// The owner of every counter is internal/client/process_queue.go.
type Hits struct {
	Count  int64 `json:"count" col:"COUNT" metric:"mqctl_queue_flow_control_hits_total" type:"counter" label:"kind=count" unit:"count"`
	Size   int64 `json:"size" col:"SIZE" metric:"mqctl_queue_flow_control_hits_total" type:"counter" label:"kind=size" unit:"count"`
	Span   int64 `json:"span" col:"SPAN" metric:"mqctl_queue_flow_control_hits_total" type:"counter" label:"kind=span" unit:"count"`
	Total  int64 `json:"total" col:"TOTAL" metric:"mqctl_queue_flow_control_hits_total" type:"counter" label:"kind=total" unit:"count"`
	Broker int64 `json:"broker" col:"BROKER" metric:"mqctl_queue_flow_control_hits_total" type:"counter" label:"kind=broker" unit:"count"`
}

// Sum is all hits together.
func (h Hits) Sum() int64 { return h.Count + h.Size + h.Span + h.Total + h.Broker }

// Limits are the flow-control limits in force for a queue. Zero or less is no limit.
type Limits struct {
	Count int64 `json:"count" unit:"count"` // cached messages
	Bytes int64 `json:"bytes" unit:"bytes"` // cached bytes
	Span  int64 `json:"span" unit:"count"`  // newest fetched minus smallest unfinished offset
}

// Queue is one assigned MessageQueue. Nil pointers are unknown, never zero. Counted in internal/client: the cache by
// process_queue.go, positions and pulls by pull_loop.go, Committed by offset_remote.go.
type Queue struct {
	Topic   string `json:"topic" col:"TOPIC" label:"topic"`
	Broker  string `json:"broker" col:"BROKER" label:"broker"`
	QueueID int32  `json:"queue_id" col:"QUEUE" label:"queue"`
	Epoch   int64  `json:"epoch"` // rises with each assignment, seek and reset of the queue

	CachedCount int64  `json:"cached_count" col:"CACHED" metric:"mqctl_queue_cached_messages" type:"gauge" unit:"count"`
	CachedBytes int64  `json:"cached_bytes" col:"SIZE" metric:"mqctl_queue_cached_bytes" type:"gauge" unit:"bytes"`
	Span        int64  `json:"span" col:"SPAN" metric:"mqctl_queue_span" type:"gauge" unit:"count"`   // newest fetched minus smallest unfinished offset
	Gap         int64  `json:"gap" col:"GAP,wide" metric:"mqctl_queue_gap" type:"gauge" unit:"count"` // offsets between commit and next pull that are not cached
	MinOffset   *int64 `json:"min_offset" col:"OLDEST,wide"`                                          // smallest cached offset
	MaxOffset   *int64 `json:"max_offset" col:"NEWEST,wide"`                                          // largest cached offset
	NextOffset  *int64 `json:"next_offset" col:"NEXT,wide"`                                           // what the next pull asks for
	ConsumedMax *int64 `json:"consumed_max"`                                                          // largest offset that was finished
	Consumable  *int64 `json:"consumable"`                                                            // everything below it is finished and may be committed
	Committed   *int64 `json:"committed" col:"COMMIT" metric:"mqctl_queue_committed_offset" type:"gauge"`
	BrokerMax   *int64 `json:"broker_max" col:"MAX" metric:"mqctl_queue_broker_max_offset" type:"gauge"` // the broker's end of the queue at the last pull
	BrokerMin   *int64 `json:"broker_min"`
	Lag         *int64 `json:"lag" col:"LAG" metric:"mqctl_queue_lag" type:"gauge" unit:"count"` // broker_max minus committed

	OldestOffset *int64         `json:"oldest_offset"`                                                                                         // unfinished message with the smallest offset
	OldestAge    *time.Duration `json:"oldest_age" col:"OLDEST AGE,wide" unit:"duration" metric:"mqctl_queue_oldest_age_seconds" type:"gauge"` // since it was stored

	Limits  Limits        `json:"limits"`
	Paused  bool          `json:"paused" metric:"mqctl_queue_paused" type:"gauge"`
	Locked  bool          `json:"locked"`
	Dropped bool          `json:"dropped"`
	Last    string        `json:"last_verdict" col:"HELD BY"` // the verdict of the latest turn; "pull" when nothing holds the queue back
	Hits    Hits          `json:"flow_control_hits"`
	Blocked time.Duration `json:"blocked_ns" unit:"duration" metric:"mqctl_queue_blocked_seconds_total" type:"counter"` // time spent held back

	Pulls        int64          `json:"pulls" metric:"mqctl_queue_pulls_total" type:"counter" unit:"count"`
	PullRT       *time.Duration `json:"pull_rt" unit:"duration"` // of the last pull that found messages
	Consumed     int64          `json:"consumed" col:"CONSUMED" metric:"mqctl_queue_consumed_total" type:"counter" unit:"count"`
	Failed       int64          `json:"failed" col:"FAILED" metric:"mqctl_queue_failed_total" type:"counter" unit:"count"`
	LastPull     *time.Time     `json:"last_pull"`
	LastConsume  *time.Time     `json:"last_consume"`
	LastError    string         `json:"last_error"`
	PullRate     *Rate          `json:"pull_rate" unit:"rate"`                 // offsets fetched a second, those of filtered messages included
	InRate       *Rate          `json:"in_rate" col:"IN/S" unit:"rate"`        // messages stored by the broker a second, as pulls tell
	ConsumedRate *Rate          `json:"consumed_rate" col:"OUT/S" unit:"rate"` // messages finished a second
}

// Producer is one producer of the client.
type Producer struct {
	Group    string `json:"group" col:"GROUP" label:"group"`
	Sent     int64  `json:"sent" col:"SENT" metric:"mqctl_producer_sent_total" type:"counter" unit:"count"`
	Failed   int64  `json:"failed" col:"FAILED" metric:"mqctl_producer_failed_total" type:"counter" unit:"count"`
	Retried  int64  `json:"retried" col:"RETRIED" metric:"mqctl_producer_retried_total" type:"counter" unit:"count"`
	Bytes    int64  `json:"bytes" col:"BYTES" metric:"mqctl_producer_bytes_total" type:"counter" unit:"bytes"`
	InFlight int64  `json:"in_flight" col:"IN FLIGHT" metric:"mqctl_producer_in_flight" type:"gauge" unit:"count"`
	SentRate *Rate  `json:"sent_rate" col:"IN/S" unit:"rate"`
}

// Add appends a queue and adds its numbers to the consumer's sums.
func (c *Consumer) Add(q Queue) {
	c.Queues = append(c.Queues, q)
	c.CachedCount += q.CachedCount
	c.CachedBytes += q.CachedBytes
	c.Consumed += q.Consumed
	c.Failed += q.Failed
}
