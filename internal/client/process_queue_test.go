package client

import (
	"slices"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

func messages(offsets ...int64) []protocol.MessageExt {
	msgs := make([]protocol.MessageExt, len(offsets))
	for i, o := range offsets {
		msgs[i] = protocol.MessageExt{QueueOffset: o, Body: make([]byte, 10)}
	}
	return msgs
}

// model is a ProcessQueue by the book: a sorted list of unfinished messages.
type model struct {
	cached []int64 // unfinished, sorted
	fresh  []int64 // not handed out, sorted
	next   int64
	newest int64
}

func (m *model) low() int64 {
	if len(m.cached) == 0 {
		return m.next
	}
	return m.cached[0]
}

// TestProcessQueueModel drives a ProcessQueue and the model with the same random steps.
func TestProcessQueueModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.Int64Range(0, 50).Draw(t, "start")
		var total atomic.Int64
		pq := newProcessQueue(start, flowLimits{}, &total)
		m := &model{next: start, newest: start - 1}
		var out []*protocol.MessageExt // handed out and unfinished
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				offset, list := m.next, []int64{}
				for range rapid.IntRange(0, 40).Draw(t, "n") {
					offset += rapid.Int64Range(0, 3).Draw(t, "gap")
					list = append(list, offset)
					offset++
				}
				if rapid.Bool().Draw(t, "repeat") && len(list) > 0 {
					list = append([]int64{max(0, list[0]-2)}, list...) // a repetition in front
				}
				next := offset + rapid.Int64Range(0, 3).Draw(t, "filtered")
				wantAccepted := 0
				for _, o := range list {
					if o > m.newest {
						m.cached, m.fresh, m.newest = append(m.cached, o), append(m.fresh, o), o
						wantAccepted++
					}
				}
				m.next = max(m.next, next)
				if got, low, ok := pq.Put(messages(list...), next); !ok || got != wantAccepted || low != m.low() {
					t.Fatalf("Put accepted %d, low %d; want %d, %d", got, low, wantAccepted, m.low())
				}
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(1, 20).Draw(t, "n")
				batch, more := pq.Take(nil, n, 1)
				want := m.fresh[:min(n, len(m.fresh))]
				m.fresh = m.fresh[len(want):]
				if !slices.EqualFunc(batch, want, func(x *protocol.MessageExt, o int64) bool { return x.QueueOffset == o }) || more != (len(m.fresh) > 0) {
					t.Fatalf("Take: %d messages, more %v; want %v", len(batch), more, want)
				}
				out = append(out, batch...)
			},
			"remove": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("nothing handed out")
				}
				i := rapid.IntRange(0, len(out)-1).Draw(t, "i")
				x := out[i]
				out = slices.Delete(out, i, i+1)
				j, _ := slices.BinarySearch(m.cached, x.QueueOffset)
				m.cached = slices.Delete(m.cached, j, j+1)
				if low, ok := pq.Remove([]*protocol.MessageExt{x}); !ok || low != m.low() {
					t.Fatalf("Remove(%d): low %d %v, want %d", x.QueueOffset, low, ok, m.low())
				}
				if _, ok := pq.Remove([]*protocol.MessageExt{x}); !ok || pq.count != int64(len(m.cached)) {
					t.Fatalf("a second Remove changed the count to %d, want %d", pq.count, len(m.cached))
				}
			},
			"take back": func(t *rapid.T) {
				from := rapid.Int64Range(0, m.next).Draw(t, "from")
				pq.TakeBack(from)
				i, _ := slices.BinarySearch(m.cached, from)
				if back := m.cached[i:]; len(back) > len(m.fresh) {
					m.fresh = slices.Clone(back) // finished messages in between stay finished
				}
				out = slices.DeleteFunc(out, func(x *protocol.MessageExt) bool { return slices.Contains(m.fresh, x.QueueOffset) })
				held := pq.HandedOut()
				if !slices.EqualFunc(held, m.cached[:len(m.cached)-len(m.fresh)], func(x *protocol.MessageExt, o int64) bool { return x.QueueOffset == o }) {
					t.Fatalf("%d handed out, want %d", len(held), len(m.cached)-len(m.fresh))
				}
			},
			"": func(t *rapid.T) {
				var s stats.Queue
				pq.fill(&s)
				var span int64
				if len(m.cached) > 0 {
					span = m.newest - m.cached[0]
				}
				if s.CachedCount != int64(len(m.cached)) || s.CachedBytes != 10*int64(len(m.cached)) || s.Span != span || total.Load() != s.CachedBytes {
					t.Fatalf("count %d bytes %d span %d total %d; want %d messages, span %d", s.CachedCount, s.CachedBytes, s.Span, total.Load(), len(m.cached), span)
				}
				if pq.Low() != m.low() || pq.Next() != m.next {
					t.Fatalf("low %d next %d, want %d %d", pq.Low(), pq.Next(), m.low(), m.next)
				}
			},
		})
		pq.Drop()
		if total.Load() != 0 {
			t.Fatalf("%d bytes are left in the consumer's total after Drop", total.Load())
		}
	})
}

// TestProcessQueueDropped: results that come after the queue was given up count for nothing.
func TestProcessQueueDropped(t *testing.T) {
	pq := newProcessQueue(0, flowLimits{}, nil)
	pq.Put(messages(0, 1, 2), 3)
	batch, _ := pq.Take(nil, 3, 1)
	pq.Drop()
	if low, ok := pq.Remove(batch); ok {
		t.Errorf("Remove on a dropped queue allows a commit of %d", low)
	}
	if n, low, ok := pq.Put(messages(3), 4); n != 0 || low != 0 || ok {
		t.Errorf("a dropped queue took %d messages in and allows a commit of %d", n, low)
	}
	if again, _ := pq.Take(nil, 3, 1); len(again) != 0 {
		t.Errorf("a dropped queue handed out %d messages", len(again))
	}
}

// TestProcessQueueRoom: a held-back queue is nudged exactly when it falls under its limits again.
func TestProcessQueueRoom(t *testing.T) {
	pq := newProcessQueue(0, flowLimits{count: 2}, nil)
	pq.Put(messages(0, 1, 2, 3), 4)
	batch, _ := pq.Take(nil, 4, 1)
	if v, c := pq.Verdict(); v != stats.VerdictCount || c.count != 4 {
		t.Fatalf("verdict %s with %d cached, want count with 4", v, c.count)
	}
	nudged := func() bool {
		select {
		case <-pq.room:
			return true
		default:
			return false
		}
	}
	pq.Remove(batch[3:])
	if nudged() {
		t.Error("nudged with 3 cached and a limit of 2")
	}
	pq.Remove(batch[:1])
	if !nudged() {
		t.Error("not nudged with 2 cached and a limit of 2")
	}
	pq.Remove(batch[1:2])
	if nudged() {
		t.Error("nudged again without having been held back")
	}
}

func TestFlowLimits(t *testing.T) {
	l := flowLimits{count: 1000, bytes: 100 << 20, span: 2000, total: 256 << 20}
	for _, tc := range []struct {
		name  string
		cache cacheState
		total int64
		want  stats.Verdict
	}{
		{"empty", cacheState{}, 0, stats.VerdictPull},
		{"at every limit", cacheState{1000, 100 << 20, 2000}, 256 << 20, stats.VerdictPull},
		{"count", cacheState{1001, 0, 0}, 0, stats.VerdictCount},
		{"size", cacheState{1000, 100<<20 + 1, 0}, 0, stats.VerdictSize},
		{"span", cacheState{2, 0, 2001}, 0, stats.VerdictSpan},
		{"total", cacheState{}, 256<<20 + 1, stats.VerdictTotal},
		{"count before all others", cacheState{1001, 101 << 20, 3000}, 1 << 40, stats.VerdictCount},
		{"size before span", cacheState{1, 101 << 20, 3000}, 0, stats.VerdictSize},
	} {
		if got := l.verdict(tc.cache, tc.total); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
	if got := (flowLimits{}).verdict(cacheState{1 << 40, 1 << 40, 1 << 40}, 1<<40); got != stats.VerdictPull {
		t.Errorf("without limits: %s", got)
	}
}

// TestProcessQueueAllocations: the hot path allocates nothing per message.
func TestProcessQueueAllocations(t *testing.T) {
	pq := newProcessQueue(0, flowLimits{}, nil)
	msgs := make([]protocol.MessageExt, 32)
	scratch := make([]*protocol.MessageExt, 0, 32)
	var next int64
	if n := testing.AllocsPerRun(1000, func() {
		for i := range msgs {
			msgs[i].QueueOffset = next
			next++
		}
		pq.Put(msgs, next)
		batch, _ := pq.Take(scratch, 32, 1)
		pq.Remove(batch)
	}); n != 0 {
		t.Errorf("%v allocations for a batch of 32, want none", n)
	}
}

func BenchmarkProcessQueue(b *testing.B) {
	pq := newProcessQueue(0, flowLimits{count: 1000, bytes: 100 << 20, span: 2000}, nil)
	msgs := make([]protocol.MessageExt, 32)
	scratch := make([]*protocol.MessageExt, 0, 32)
	var next int64
	b.ReportAllocs()
	for range b.N {
		for i := range msgs {
			msgs[i].QueueOffset = next
			next++
		}
		pq.Put(msgs, next)
		pq.Verdict()
		batch, _ := pq.Take(scratch, 32, 1)
		pq.Remove(batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/32, "ns/msg")
}
