package client_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// A start that fails because one of two brokers is away leaves no queue behind that goes on pulling: the other broker has
// heard of the member meanwhile, and a rebalance would have given it queues.
func TestC26_FailedStartAssignsNothing(t *testing.T) {
	for _, orderly := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := testcluster.Virtual(t, 2)
			topic, group := k.Topic(2), k.Group()
			c := k.Client()
			fill(t, c, topic, 20)
			away := k.Sandbox().BrokerAddr("broker-b")
			k.Net.Blackhole(away, faultnet.Both)
			taken := 0
			cfg := client.ConsumerConfig{
				Group: group, Subscriptions: []client.Subscription{{Topic: topic}}, Handler: (&inbox{}).handle, Orderly: orderly,
				From: client.From{Where: client.FromFirst}, OnEvent: func(client.Event) { taken++ },
			}
			if _, err := c.StartPushConsumer(t.Context(), cfg); err == nil {
				t.Fatal("started without one of its brokers")
			}
			k.Net.Heal(away)
			before := k.Sandbox().Counts()[protocol.PullMessage]
			time.Sleep(2 * time.Minute)
			if n := k.Sandbox().Counts()[protocol.PullMessage] - before; n > 0 || taken > 0 {
				t.Errorf("%d pulls and %d queues taken by a consumer that did not start", n, taken)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			if err := c.Close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

// A Close of the client while a consumer starts waits for the start and then ends it.
func TestCloseDuringStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		topic, group := k.Topic(2), k.Group()
		for _, heal := range []time.Duration{time.Second, time.Minute} {
			c := k.Client()
			away := k.Sandbox().BrokerAddr("broker-b")
			k.Net.Blackhole(away, faultnet.Both)
			ended := make(chan error)
			go func() {
				ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
				defer cancel()
				time.Sleep(500 * time.Millisecond)
				ended <- c.Close(ctx)
			}()
			go func() { time.Sleep(heal); k.Net.Heal(away) }()
			_, err := c.StartPushConsumer(t.Context(), client.ConsumerConfig{
				Group: group, Subscriptions: []client.Subscription{{Topic: topic}}, Handler: (&inbox{}).handle,
			})
			if closeErr := <-ended; closeErr != nil {
				t.Errorf("start: %v, close: %v", err, closeErr)
			}
			synctest.Wait()
			if n := len(k.Sandbox().Members(group)); n != 0 {
				t.Errorf("%d members are left", n)
			}
			time.Sleep(time.Minute)
		}
	})
}
