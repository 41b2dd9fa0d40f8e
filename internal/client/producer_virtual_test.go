package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// coarse is how exactly the transport keeps its limits.
const coarse = 20 * time.Millisecond

// on is a fault for the sends that one broker gets.
func on(broker string, act func(*sandbox.Control)) func(*sandbox.Control) {
	return func(ctl *sandbox.Control) {
		if ctl.Broker == broker {
			act(ctl)
		}
	}
}

func TestRetryGoesToAnotherBroker(t *testing.T) {
	for name, act := range map[string]func(*sandbox.Control){
		"busy":       func(ctl *sandbox.Control) { ctl.Reply(protocol.CodeSystemBusy, "[OVERLOAD]system busy") },
		"cut":        func(ctl *sandbox.Control) { ctl.Close() },
		"bad frame":  func(ctl *sandbox.Control) { ctl.BadFrame() },
		"unanswered": func(ctl *sandbox.Control) { ctl.Drop() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 2)
				topic := k.Topic(4)
				c := k.Client()
				p := producer(t, c, client.ProducerConfig{AttemptTimeout: time.Second})
				k.Sandbox().On(protocol.SendMessageV2, on("broker-a", act))
				retried := int64(0)
				var o outcomes
				for i := range 16 {
					r, err := p.Send(t.Context(), message(topic, "x"))
					if err != nil || r.MessageQueue.BrokerName != "broker-b" {
						t.Fatalf("%+v %v", r, err)
					}
					retried += int64(r.Attempts - 1)
					p.SendAsync(t.Context(), message(topic, "y"), o.callback(i))
				}
				testcluster.Eventually(t, 10*time.Second, "16 callbacks", func() bool { n, _ := o.counts(); return n == 16 })
				o.wantOnce(t, 16)
				for _, r := range o.results {
					if r.MessageQueue.BrokerName != "broker-b" {
						t.Errorf("%+v", r)
					}
					retried += int64(r.Attempts - 1)
				}
				if s := producerStats(t, c); retried == 0 || s.Retried != retried || s.Sent != 32 || s.Failed != 0 {
					t.Errorf("%d further attempts in the results, snapshot %+v", retried, s)
				}
			})
		})
	}
}

// The time limit is that of the whole send, whatever the attempts do with it.
func TestTimeBudgetOverAllAttempts(t *testing.T) {
	for _, tc := range []struct {
		name     string
		cfg      client.ProducerConfig
		attempts int
		takes    time.Duration
	}{
		{"one attempt takes it all", client.ProducerConfig{}, 1, 3 * time.Second},
		{"attempts of a second", client.ProducerConfig{AttemptTimeout: time.Second, RetriesSync: 9, RetriesAsync: 9}, 3, 3 * time.Second},
		{"attempts used up first", client.ProducerConfig{AttemptTimeout: 100 * time.Millisecond}, 3, 300 * time.Millisecond},
		{"no further attempt", client.ProducerConfig{AttemptTimeout: time.Second, RetriesSync: -1, RetriesAsync: -1}, 1, time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := testcluster.Virtual(t, 2)
				topic := k.Topic(4)
				p := producer(t, k.Client(), tc.cfg)
				k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Drop() })
				check := func(how string, err error, began time.Time) {
					t.Helper()
					var e *client.SendError
					if !errors.As(err, &e) || e.Attempts != tc.attempts || !errors.Is(err, client.ErrUnknownOutcome) {
						t.Errorf("%s: %v; want %d attempts with an unknown outcome", how, err, tc.attempts)
					}
					if took := time.Since(began); took < tc.takes || took > tc.takes+5*coarse {
						t.Errorf("%s: took %s, want %s", how, took, tc.takes)
					}
				}
				began := time.Now()
				_, err := p.Send(t.Context(), message(topic, "x"))
				check("sync", err, began)
				began = time.Now()
				done := make(chan error)
				p.SendAsync(t.Context(), message(topic, "x"), func(_ client.SendResult, err error) { done <- err })
				check("async", <-done, began)
			})
		})
	}
}

// A broker that cannot be reached has not got the message: that is no unknown outcome, however long it took to notice.
func TestUnreachableIsKnownToHaveFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		c := k.Client(func(cfg *client.Config) { cfg.DialTimeout = time.Minute })
		p := producer(t, c, client.ProducerConfig{})
		k.Net.Blackhole(k.Sandbox().BrokerAddr("broker-a"), faultnet.Both)
		began := time.Now()
		_, err := p.Send(t.Context(), message(topic, "x"))
		if err == nil || errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("%v; want a failure that is known", err)
		}
		if took := time.Since(began); took > 3*time.Second+coarse {
			t.Errorf("took %s: connecting is not part of the time limit", took)
		}
	})
}

// A connection that goes dead while a send waits is an unknown outcome.
func TestDeadConnectionIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		p := producer(t, k.Client(), client.ProducerConfig{})
		if _, err := p.Send(t.Context(), message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		k.Net.Blackhole(k.Sandbox().BrokerAddr("broker-a"), faultnet.ToClient)
		if _, err := p.Send(t.Context(), message(topic, "stored, but unheard of")); !errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("%v; want an unknown outcome", err)
		}
		list, err := k.Sandbox().Messages(protocol.MessageQueue{Topic: topic, BrokerName: "broker-a"})
		if err != nil || len(list) < 2 {
			t.Errorf("%d messages stored: the test does not test what it says (%v)", len(list), err)
		}
	})
}

// The end of the caller's context ends a send at once, without further attempts.
func TestSendEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		topic := k.Topic(1)
		c := k.Client()
		p := producer(t, c, client.ProducerConfig{})
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Drop() })
		if _, err := c.Route(t.Context(), topic); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err := p.Send(ctx, message(topic, "x"))
		var e *client.SendError
		if !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &e) || e.Attempts != 1 || !e.Unknown {
			t.Errorf("sync: %v", err)
		}
		if took := time.Since(began); took > 500*time.Millisecond+coarse {
			t.Errorf("sync: took %s", took)
		}
		began = time.Now()
		ctx, cancel2 := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel2()
		done := make(chan error)
		p.SendAsync(ctx, message(topic, "x"), func(_ client.SendResult, err error) { done <- err })
		if err := <-done; !errors.Is(err, client.ErrUnknownOutcome) {
			t.Errorf("async: %v", err)
		}
		if took := time.Since(began); took > 500*time.Millisecond+5*coarse {
			t.Errorf("async: took %s", took)
		}
	})
}

// A broker that answers slowly gets nothing for as long as the table says, and its share again afterwards.
func TestLatencyFaultWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 2)
		topic := k.Topic(4)
		p := producer(t, k.Client(), client.ProducerConfig{LatencyFault: true})
		slow := k.Sandbox().On(protocol.SendMessageV2, on("broker-a", func(ctl *sandbox.Control) {
			ctl.Once()
			ctl.Wait(time.Second) // ≥ 550 ms: avoided for 2 s
		}))
		defer slow()
		var aside time.Time
		for aside.IsZero() {
			r, err := p.Send(t.Context(), message(topic, "x"))
			if err != nil {
				t.Fatal(err)
			}
			if r.MessageQueue.BrokerName == "broker-a" {
				aside = time.Now()
			}
		}
		count := func() (a, b int) {
			for range 40 {
				r, err := p.Send(t.Context(), message(topic, "x"))
				if err != nil {
					t.Fatal(err)
				}
				if r.MessageQueue.BrokerName == "broker-a" {
					a++
				} else {
					b++
				}
			}
			return a, b
		}
		time.Sleep(1900 * time.Millisecond)
		if a, _ := count(); a > 0 || time.Since(aside) >= 2*time.Second {
			t.Errorf("%d of 40 went to the slow broker within its two seconds (%s passed)", a, time.Since(aside))
		}
		time.Sleep(2100*time.Millisecond - time.Since(aside))
		if a, b := count(); a == 0 || b == 0 {
			t.Errorf("after two seconds: %d to the one broker, %d to the other", a, b)
		}
	})
}

// Close lets what is under way finish and then tells the brokers; nothing is taken any more.
func TestProducerLifecycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := testcluster.Virtual(t, 1)
		topic := k.Topic(1)
		ctx := t.Context()
		c, err := client.New(k.Config())
		if err != nil {
			t.Fatal(err)
		}
		cfg := client.ProducerConfig{Group: "pg"}
		want := func(what string, err, target error) {
			t.Helper()
			if !errors.Is(err, target) {
				t.Errorf("%s: %v, want %v", what, err, target)
			}
		}
		_, err = c.StartProducer(ctx, cfg)
		want("before Start", err, client.ErrNotStarted)
		want("Start", c.Start(ctx), nil)
		p, err := c.StartProducer(ctx, cfg)
		want("first", err, nil)
		_, err = c.StartProducer(ctx, cfg)
		want("the same group again", err, client.ErrGroupInUse)
		if _, err := p.Send(ctx, message(topic, "x")); err != nil {
			t.Fatal(err)
		}
		k.Sandbox().On(protocol.SendMessageV2, func(ctl *sandbox.Control) { ctl.Wait(time.Second) })
		var o outcomes
		p.SendAsync(ctx, message(topic, "x"), o.callback(0))
		began := time.Now()
		want("close", p.Close(ctx), nil)
		if n, _ := o.counts(); n != 1 || time.Since(began) < time.Second {
			t.Errorf("closed after %s with %d results", time.Since(began), n)
		}
		if n := k.Sandbox().Counts()[protocol.UnregisterClient]; n != 1 {
			t.Errorf("%d unregister requests", n)
		}
		want("close again", p.Close(ctx), nil)
		_, err = p.Send(ctx, message(topic, "x"))
		want("send", err, client.ErrClosed)
		p.SendAsync(ctx, message(topic, "x"), func(_ client.SendResult, err error) { want("async", err, client.ErrClosed) })
		_, err = p.SendBatch(ctx, []*protocol.Message{message(topic, "x")})
		want("batch", err, client.ErrClosed)
		want("oneway", p.SendOneway(ctx, message(topic, "x")), client.ErrClosed)
		if p, err = c.StartProducer(ctx, cfg); err != nil {
			t.Fatalf("the group after its close: %v", err)
		}
		want("close client", c.Close(ctx), nil)
		want("close producer after the client", p.Close(ctx), nil)
		_, err = c.StartProducer(ctx, cfg)
		want("after Close", err, client.ErrClosed)
	})
}
