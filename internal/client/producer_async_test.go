package client_test

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// No more sends are under way than allowed; further ones wait as long as their context does.
func TestBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(4)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{MaxInFlight: 2})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil { // route and connection are there
			t.Fatal(err)
		}
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Wait(time.Second) })
		began := time.Now()
		var o outcomes
		for i := range 6 {
			p.SendAsync(t.Context(), message(topic, "x"), o.callback(i))
			if want := time.Duration(i/2) * time.Second; time.Since(began).Truncate(time.Second) != want {
				t.Errorf("message %d was taken after %s, want %s", i, time.Since(began), want)
			}
		}
		synctest.Wait()
		if n := producerStats(t, c).InFlight; n != 2 {
			t.Errorf("%d in flight, want 2", n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		p.SendAsync(ctx, message(topic, "x"), o.callback(6))
		if _, errs := o.counts(); errs != 1 {
			t.Error("the callback did not come before SendAsync returned for want of room")
		} else if err := o.errs[0]; !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("%v; want the deadline, and nothing unknown", err)
		}
		testcluster.Eventually(t, 10*time.Second, "6 results", func() bool { n, _ := o.counts(); return n == 6 })
		o.wantOnce(t, 7)
	})
}

// The bytes under way have a limit of their own; a body beyond all of it goes alone.
func TestBackPressureByBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(4)
		p := producer(t, k.Client(), client.ProducerConfig{MaxInFlightMiB: 1, CompressOver: -1})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Wait(time.Second) })
		began := time.Now()
		var o outcomes
		third, whole := message(topic, strings.Repeat("x", 400<<10)), message(topic, strings.Repeat("x", 3<<20))
		for i, step := range []struct {
			m     *protocol.Message
			taken time.Duration
		}{{third, 0}, {third, 0}, {third, time.Second}, {whole, 2 * time.Second}, {third, 3 * time.Second}} {
			p.SendAsync(t.Context(), step.m, o.callback(i))
			if got := time.Since(began).Truncate(time.Second); got != step.taken {
				t.Errorf("message %d was taken after %s, want %s", i, got, step.taken)
			}
		}
		testcluster.Eventually(t, 10*time.Second, "5 results", func() bool { n, _ := o.counts(); return n == 5 })
		o.wantOnce(t, 5)
	})
}

// Whatever ends a connection or the client, every callback comes exactly once.
func TestCallbacksComeOnce(t *testing.T) {
	for name, end := range map[string]func(t *testing.T, k *testcluster.Cluster, c *client.Client, p *client.Producer){
		"cut": func(_ *testing.T, k *testcluster.Cluster, _ *client.Client, _ *client.Producer) {
			k.Net.Cut(k.Sandbox().BrokerAddr("broker-a"))
		},
		"time runs out": func(*testing.T, *testcluster.Cluster, *client.Client, *client.Producer) {},
		"client closed": func(t *testing.T, _ *testcluster.Cluster, c *client.Client, _ *client.Producer) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := c.Close(ctx); err == nil || !strings.Contains(err.Error(), "still under way") {
				t.Errorf("close: %v", err)
			}
		},
		"producer closed": func(t *testing.T, _ *testcluster.Cluster, _ *client.Client, p *client.Producer) {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := p.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "101 sends are still under way") {
				t.Errorf("close: %v", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 1)
				topic := k.Topic(4)
				c := k.Client()
				p := producer(t, c, client.ProducerConfig{MaxInFlight: 100})
				if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
					t.Fatal(err)
				}
				k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Drop() })
				var o outcomes
				for i := range 100 {
					p.SendAsync(t.Context(), message(topic, "x"), o.callback(i))
				}
				blocked := make(chan struct{})
				go func() { // one more waits for room
					defer close(blocked)
					p.SendAsync(t.Context(), message(topic, "x"), o.callback(100))
				}()
				synctest.Wait()
				end(t, k, c, p)
				<-blocked
				testcluster.Eventually(t, time.Minute, "101 callbacks", func() bool { _, n := o.counts(); return n == 101 })
				time.Sleep(time.Minute)
				o.wantOnce(t, 101)
			})
		})
	}
}

// A callback that panics ends neither the connection nor Close.
func TestPanickingCallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		var called atomic.Int32
		for range 3 {
			p.SendAsync(t.Context(), message(topic, "x"), func(client.SendResult, error) {
				called.Add(1)
				panic("in a callback")
			})
		}
		if err := p.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if called.Load() != 3 {
			t.Errorf("%d callbacks", called.Load())
		}
	})
}
