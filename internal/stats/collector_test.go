package stats

import (
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestCollector(t *testing.T) {
	lag, age := int64(7), 90*time.Second
	snap := Snapshot{
		At: time.Unix(1, 0), Client: Client{ID: "c", Connections: 2},
		Consumers: []Consumer{{Group: "g", Queues: []Queue{
			{Topic: "t", Broker: "b", QueueID: 3, CachedCount: 5, Paused: true, Lag: &lag, OldestAge: &age, Hits: Hits{Count: 4, Span: 1}},
			{Topic: "t", Broker: "b\xff", QueueID: 4},
		}}},
		Producers: []Producer{{Group: "p", Sent: 9}},
	}
	c := NewCollector(func() Snapshot { return snap })
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(c); err != nil {
		t.Fatal(err)
	}
	want := `
# HELP mqctl_queue_cached_messages Field queue_cached_messages of mqctl's snapshot.
# TYPE mqctl_queue_cached_messages gauge
mqctl_queue_cached_messages{broker="b",group="g",queue="3",topic="t"} 5
mqctl_queue_cached_messages{broker="b�",group="g",queue="4",topic="t"} 0
# HELP mqctl_queue_flow_control_hits_total Field queue_flow_control_hits_total of mqctl's snapshot.
# TYPE mqctl_queue_flow_control_hits_total counter
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="broker",queue="3",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="broker",queue="4",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="count",queue="3",topic="t"} 4
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="count",queue="4",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="size",queue="3",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="size",queue="4",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="span",queue="3",topic="t"} 1
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="span",queue="4",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="total",queue="3",topic="t"} 0
mqctl_queue_flow_control_hits_total{broker="b",group="g",kind="total",queue="4",topic="t"} 0
# HELP mqctl_queue_lag Field queue_lag of mqctl's snapshot.
# TYPE mqctl_queue_lag gauge
mqctl_queue_lag{broker="b",group="g",queue="3",topic="t"} 7
# HELP mqctl_queue_oldest_age_seconds Field queue_oldest_age_seconds of mqctl's snapshot.
# TYPE mqctl_queue_oldest_age_seconds gauge
mqctl_queue_oldest_age_seconds{broker="b",group="g",queue="3",topic="t"} 90
# HELP mqctl_queue_paused Field queue_paused of mqctl's snapshot.
# TYPE mqctl_queue_paused gauge
mqctl_queue_paused{broker="b",group="g",queue="3",topic="t"} 1
mqctl_queue_paused{broker="b�",group="g",queue="4",topic="t"} 0
# HELP mqctl_producer_sent_total Field producer_sent_total of mqctl's snapshot.
# TYPE mqctl_producer_sent_total counter
mqctl_producer_sent_total{group="p"} 9
`
	if err := testutil.GatherAndCompare(reg, strings.NewReader(fixBroker(want)), "mqctl_queue_cached_messages",
		"mqctl_queue_flow_control_hits_total", "mqctl_queue_lag", "mqctl_queue_oldest_age_seconds", "mqctl_queue_paused",
		"mqctl_producer_sent_total"); err != nil {
		t.Error(err)
	}
}

// fixBroker gives queue 4 its broker, whose name is not UTF-8 and shown with a replacement character.
func fixBroker(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		if strings.Contains(l, `queue="4"`) {
			lines[i] = strings.Replace(l, `broker="b"`, `broker="b�"`, 1)
		}
	}
	return strings.Join(lines, "\n")
}
