package demo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestDemoShowsFlowControlAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := faultnet.New()
		d, err := Start(t.Context(), Options{FailEvery: 50, ListenFunc: net.Listen, Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		s := stats.NewSampler(d.Snapshot)
		load, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		var last stats.Snapshot
		s.Run(load, time.Second, func(x *stats.Snapshot) { last = *x })
		if n := len(last.Consumers[0].Queues); n < 8 {
			t.Errorf("%d queues", n)
		}
		var hits int64
		for _, q := range last.Consumers[0].Queues {
			hits += q.Hits.Count
		}
		if hits == 0 {
			t.Error("flow control never held a queue back")
		}
		wait, cancelWait := context.WithTimeout(t.Context(), time.Minute)
		defer cancelWait()
		if err := d.Drain(wait); err != nil {
			t.Error(err)
		}
		got := d.Totals()
		if got.Produced < 3900 || got.Produced > 4100 {
			t.Errorf("%d messages in 5s at 800 a second", got.Produced)
		}
		if want := (Totals{Produced: got.Produced, Consumed: got.Produced, Retried: got.Produced / 50}); cmp.Diff(want, got) != "" {
			t.Error(cmp.Diff(want, got))
		}
		if err := d.Close(wait); err != nil {
			t.Error(err)
		}
		if err := d.Close(wait); err != nil {
			t.Errorf("the second Close: %v", err)
		}
	})
}

func TestDrainTellsWhatIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := faultnet.New()
		d, err := Start(t.Context(), Options{SlowAfter: time.Nanosecond, SlowFor: time.Hour, SlowEvery: time.Hour, SlowWork: time.Minute, ListenFunc: net.Listen, Dial: net.Dial})
		if err != nil {
			t.Fatal(err)
		}
		wait, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		time.Sleep(time.Second)
		if err := d.Drain(wait); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if got := d.Totals(); got.Open == 0 || got.Open != got.Produced-got.Consumed {
			t.Errorf("totals %+v", got)
		}
		end, cancelEnd := context.WithTimeout(t.Context(), time.Hour)
		defer cancelEnd()
		_ = d.Close(end) // handlers of a minute do not finish in time, which is an error
	})
}

func TestLedger(t *testing.T) {
	l := newLedger()
	for range 3 {
		l.issue()
	}
	l.onConsumed(1) // before its acknowledgement arrives
	l.onSent(0, nil)
	l.onSent(1, nil)
	l.onSent(2, errors.New("refused"))
	if got := l.totals(); got != (Totals{Produced: 2, SendErrors: 1, Consumed: 1, Open: 1}) {
		t.Errorf("%+v", got)
	}
	l.onConsumed(1)
	l.onConsumed(0)
	l.onConsumed(1 << 40) // a stranger's
	if got := l.totals(); got != (Totals{Produced: 2, SendErrors: 1, Consumed: 2, Duplicates: 2}) {
		t.Errorf("%+v", got)
	}
}

func TestLedgerForgetsWhatIsSettled(t *testing.T) {
	l := newLedger()
	const n = 5 * maxSettled
	for range n {
		seq := l.issue()
		if seq%7 == 0 {
			l.onSent(seq, errors.New("refused"))
			continue
		}
		l.onSent(seq, nil)
		l.onConsumed(seq)
	}
	if len(l.state) > 2*maxSettled+1 {
		t.Errorf("%d messages are kept", len(l.state))
	}
	l.onConsumed(0)
	if got := l.totals(); got.Open != 0 || got.Consumed != got.Produced || got.Produced+got.SendErrors != n || got.Duplicates != 1 {
		t.Errorf("%+v", got)
	}
}

func TestEveryNthFailsOnce(t *testing.T) {
	l := newLedger()
	failed := 0
	for range 100 {
		if seq := l.issue(); l.shouldFail(seq, 10) {
			failed++
			if l.shouldFail(seq, 10) {
				t.Errorf("%d fails twice", seq)
			}
		}
	}
	if failed != 10 || l.shouldFail(9, -1) || l.shouldFail(9, 0) {
		t.Errorf("%d of 100 failed", failed)
	}
}

func TestOrdersAreMessagesThatCanBeSent(t *testing.T) {
	for seq := range int64(20) {
		m := order("orders", seq, time.Unix(0, 0))
		if err := m.Properties.Validate(); err != nil || len(m.Body) == 0 {
			t.Errorf("%v: %v", m, err)
		}
		back, ok := seqOf(&protocol.MessageExt{RawProperties: m.Properties.AppendTo(nil)})
		if !ok || back != seq {
			t.Errorf("number %d comes back as %d, %v", seq, back, ok)
		}
	}
	if _, ok := seqOf(&protocol.MessageExt{}); ok {
		t.Error("a number out of nowhere")
	}
}
