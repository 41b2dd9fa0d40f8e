package client_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// A running consumer takes a topic on and leaves it again; filters change; the broker knows each time.
func TestSubscribeWhileRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		one, two, group := k.Topic(1), k.Topic(1), k.Group()
		c := k.Client()
		mq := queues(t, c, two)[0]
		var in inbox
		p := consume(t, c, group, one, in.handle)
		time.Sleep(2 * time.Second)
		put(t, c, mq, "a", protocol.PropertyTags, "A")
		put(t, c, mq, "b", protocol.PropertyTags, "B")
		if err := p.Subscribe(t.Context(), client.Subscription{Topic: two, Expression: "A"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if got := in.all(); !slices.Equal(got, []string{"a"}) {
			t.Errorf("subscribed to A: %q", got)
		}
		if err := p.Unsubscribe(t.Context(), two); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		put(t, c, mq, "c", protocol.PropertyTags, "A")
		time.Sleep(time.Minute)
		if got := in.count(); got != 1 {
			t.Errorf("%d messages after unsubscribing", got)
		}
		if at, _ := k.Sandbox().Offset(group, mq); at != 2 {
			t.Errorf("committed %d when the topic was left, want 2", at)
		}
		if err := p.Subscribe(t.Context(), client.Subscription{Topic: "no_such_topic"}); err == nil {
			t.Error("an unknown topic was subscribed")
		}
	})
}

// An orderly handler that commits by hand: Success only goes on, Rollback takes everything since the last Commit back.
func TestOrderlyManualCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic, group := k.Topic(1), k.Group()
		c := k.Client()
		mq := fill(t, c, topic, 6)[0]
		var mu sync.Mutex
		var seen []string
		rolledBack := false
		p := consume(t, c, group, topic, func(_ context.Context, b *client.Batch) client.Result {
			mu.Lock()
			defer mu.Unlock()
			b.ManualCommit = true
			body := string(b.Messages[0].Body)
			seen = append(seen, body)
			switch {
			case body == "2" && !rolledBack:
				rolledBack = true
				return client.Rollback
			case body == "3":
				return client.Commit
			}
			return client.Success
		}, func(cfg *client.ConsumerConfig) { cfg.Orderly = true })
		time.Sleep(10 * time.Second)
		closeNow(t, p)
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"0", "1", "2", "0", "1", "2", "3", "4", "5"}; !slices.Equal(seen, want) {
			t.Errorf("seen %q, want %q", seen, want)
		}
		if at, _ := k.Sandbox().Offset(group, mq); at != 4 {
			t.Errorf("committed %d, want 4: what was handed out since the last Commit is not finished", at)
		}
	})
}
