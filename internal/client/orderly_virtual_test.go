package client_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// Messages of one batch that have had different numbers of attempts: the one that has had them all becomes one dead letter
// and does not come again with the others.
func TestOrderlyDeadLetterOfAMixedBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, topic)[0]
		put(t, c, mq, "A")
		var in inbox
		fail := true
		h := func(_ context.Context, b *client.Batch) client.Result {
			in.add(b)
			if fail {
				return client.Later
			}
			return client.Success
		}
		p := consume(t, c, group, topic, h, func(cfg *client.ConsumerConfig) {
			cfg.Orderly, cfg.BatchSize, cfg.MaxReconsume, cfg.SuspendPause = true, 4, 1, 10*time.Second
		})
		testcluster.Eventually(t, time.Minute, "the first attempt", func() bool { return in.count() == 1 })
		put(t, c, mq, "B") // arrives while A waits for its second attempt
		testcluster.Eventually(t, time.Minute, "A's second attempt", func() bool { return in.count() == 3 })
		fail = false
		time.Sleep(time.Minute)
		closeNow(t, p)
		if got := in.all(); !slices.Equal(got, []string{"A", "A", "B", "B"}) {
			t.Errorf("handled %q", got)
		}
		letters, err := k.Sandbox().Messages(protocol.MessageQueue{Topic: protocol.DLQTopic(group), BrokerName: mq.BrokerName})
		if err != nil || len(letters) != 1 || string(letters[0].Body) != "A" {
			t.Errorf("%d dead letters, want one: %v", len(letters), err)
		}
		if at, _ := k.Sandbox().Offset(group, mq); at != 2 {
			t.Errorf("committed %d, want 2", at)
		}
	})
}
