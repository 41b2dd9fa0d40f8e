package client_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"os"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

func TestZZCPU(t *testing.T) {
	k := testcluster.New(t)
	k.CreateTopic("prodcpu", 8)
	p := producer(t, k.Client(), client.ProducerConfig{Group: k.Group(), MaxInFlight: 64})
	cpu := func() float64 {
		var r syscall.Rusage
		_ = syscall.Getrusage(0, &r)
		return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)/1e6
	}
	m := message("prodcpu", strings.Repeat("x", 1024))
	if _, err := p.Send(t.Context(), m); err != nil { t.Fatal(err) }
	const n = 60000
	c0, t0 := cpu(), time.Now()
	switch os.Getenv("HOW") {
	case "async":
		var bad atomic.Int64
		var wg sync.WaitGroup
		for range n {
			wg.Add(1)
			p.SendAsync(t.Context(), m, func(_ client.SendResult, err error) { if err != nil { bad.Add(1) }; wg.Done() })
		}
		wg.Wait()
		if bad.Load() > 0 { t.Error(bad.Load()) }
	case "batch":
		ms := []*protocol.Message{}
		for range 32 { ms = append(ms, m) }
		var left atomic.Int64
		left.Store(n/32)
		var wg sync.WaitGroup
		for range 8 { wg.Go(func() { for left.Add(-1) >= 0 { if _, err := p.SendBatch(t.Context(), ms); err != nil { t.Error(err); return } } }) }
		wg.Wait()
	default:
		var left atomic.Int64
		left.Store(n)
		var wg sync.WaitGroup
		for range 64 { wg.Go(func() { for left.Add(-1) >= 0 { if _, err := p.Send(t.Context(), m); err != nil { t.Error(err); return } } }) }
		wg.Wait()
	}
	s, u := time.Since(t0).Seconds(), cpu()-c0
	t.Logf("%s rate=%.0f cpu_us=%.2f", os.Getenv("HOW"), n/s, u*1e6/n)
}
