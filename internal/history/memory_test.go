package history

import (
	"fmt"
	"testing"
)

// flow feeds n messages that pass through a group one after the other, open of them at a time.
func flow(c *Checker, n, open int64) {
	c.Add(Event{Type: TypeMeta, Meta: &Meta{Group: "g", Topics: []string{"t"}, FromFirst: true, Observed: true}})
	at := int64(1)
	add := func(e Event) {
		at += 1000
		e.At = at
		c.Add(e)
	}
	queue := func(i int64) string { return fmt.Sprintf("t/a/%d", i%4) }
	for q := range int64(4) {
		add(Event{Type: TypeOwn, Group: "g", Member: "m", Queue: queue(q), Epoch: q + 1})
	}
	for i := range n + open {
		if i < n {
			add(Event{Type: TypeSend, Producer: "p", Seq: i, Hash: Hash(i + 1)})
			add(Event{Type: TypeSendAck, By: ByBroker, Producer: "p", Seq: i, Queue: queue(i), Offset: i / 4})
		}
		if j := i - open; j >= 0 {
			e := Event{Type: TypeDeliver, Group: "g", Member: "m", Queue: queue(j), Epoch: j%4 + 1, Offset: j / 4, Producer: "p", Seq: j, Hash: Hash(j + 1), Batch: j + 1}
			add(e)
			e.Type, e.Result = TypeDone, ResultSuccess
			add(e)
			if j%40 < 4 {
				add(Event{Type: TypeCommit, Group: "g", Member: "m", Queue: queue(j), Offset: j/4 + 1, By: ByAcked})
			}
		}
	}
}

// Memory follows what is open, not what has passed.
func TestCheckerForgets(t *testing.T) {
	c := NewChecker()
	c.keep = 1000
	const open = 200
	flow(c, 100_000, open)
	slots := 0
	for _, q := range c.groups["g"].queues {
		slots += len(q.slots)
	}
	if len(c.messages) > 1000+open+1 || slots > 2000 || len(c.senders["p"].settled) > 2 {
		t.Errorf("%d messages, %d slots, %d ranges are kept", len(c.messages), slots, len(c.senders["p"].settled))
	}
	// what comes again long after it was forgotten is still known not to be a phantom
	c.Add(Event{At: 1 << 50, Type: TypeOwn, Group: "g", Member: "m2", Queue: "t/a/0", Epoch: 1, Offset: 24_990})
	c.Add(Event{At: 1 << 50, Type: TypeDeliver, Group: "g", Member: "m2", Queue: "t/a/0", Epoch: 1, Offset: 10, Producer: "p", Seq: 40, Hash: 41, Batch: 1})
	r := c.Finish()
	if r.Tallies[1].Violations != 0 || r.Tallies[5].Violations == 0 {
		t.Errorf("a message forgotten long ago, delivered below where the epoch stands: %v", r.Broken())
	}
}

func BenchmarkChecker(b *testing.B) {
	c := NewChecker()
	b.ReportAllocs()
	flow(c, int64(b.N)/4+1, 1000)
	b.ReportMetric(float64(c.report.Counts.Events)/b.Elapsed().Seconds(), "events/s")
	if r := c.Finish(); !r.OK {
		b.Fatalf("broken: %v", r.Broken())
	}
}
