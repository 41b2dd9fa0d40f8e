package faultnet

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// silent fails the test if c has something to read within d.
func silent(t *testing.T, c *Conn, d time.Duration) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(d))
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == io.EOF {
		t.Fatalf("Read = %d, %v; want silence", n, err)
	}
	_ = c.SetReadDeadline(time.Time{})
}

func TestRefuseAndHeal(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Refuse(broker)
		_, err := p.net.Dial(t.Context(), broker)
		wantError(t, err, syscall.ECONNREFUSED)
		mustWrite(t, p.client, "still there")
		mustRead(t, p.server, "still there")
		p.net.Heal(broker)
		conn, err := p.net.Dial(t.Context(), broker)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
	})
}

func TestDelayIsExactAndCoversTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Delay(broker, 300*time.Millisecond, 0)
		start := time.Now()
		mustWrite(t, p.client, "one")
		time.Sleep(100 * time.Millisecond)
		mustWrite(t, p.client, "two")
		p.client.Close()
		mustWrite(t, p.server, "not yet known to be closed")
		mustRead(t, p.server, "one")
		if got := time.Since(start); got != 300*time.Millisecond {
			t.Errorf("first write arrived after %v", got)
		}
		mustRead(t, p.server, "two")
		if _, err := p.server.Read(make([]byte, 1)); err != io.EOF {
			t.Error(err)
		}
		if got := time.Since(start); got != 400*time.Millisecond {
			t.Errorf("second write and end arrived after %v", got)
		}
		_, err := p.server.Write([]byte("x"))
		wantError(t, err, syscall.EPIPE)
	})
}

func TestDelayedEndReachesAWaitingWrite(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Delay(broker, time.Second, 0)
		start := time.Now()
		p.client.Close()
		_, err := p.server.Write(make([]byte, bufferSize+1))
		wantError(t, err, syscall.EPIPE)
		if got := time.Since(start); got != time.Second {
			t.Errorf("learned after %v", got)
		}
	})
}

// arrivals is when each of 50 bytes comes in under jitter.
func arrivals(t *testing.T, seed uint64) (at []time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, NewSeeded(seed))
		defer p.close()
		p.net.Delay(broker, 10*time.Millisecond, 100*time.Millisecond)
		start := time.Now()
		for i := range 50 {
			mustWrite(t, p.client, string(rune('0'+i)))
		}
		for i := range 50 {
			mustRead(t, p.server, string(rune('0'+i)))
			at = append(at, time.Since(start))
		}
	})
	return at
}

func TestJitterKeepsOrderAndFollowsTheSeed(t *testing.T) {
	first := arrivals(t, 7)
	if !slices.IsSorted(first) || first[0] < 10*time.Millisecond || first[49] >= 110*time.Millisecond {
		t.Errorf("arrivals %v", first)
	}
	if diff := cmp.Diff(first, arrivals(t, 7)); diff != "" {
		t.Errorf("the same seed differs: %s", diff)
	}
	if cmp.Equal(first, arrivals(t, 8)) {
		t.Error("another seed has the same jitter")
	}
}

func TestCutIsAbrupt(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		failure := make(chan error, 1)
		go func() { _, err := p.client.Read(make([]byte, 1)); failure <- err }()
		mustWrite(t, p.client, "lost")
		synctest.Wait()
		p.net.Cut(broker)
		wantError(t, <-failure, syscall.ECONNRESET)
		_, err := p.server.Read(make([]byte, 8))
		wantError(t, err, syscall.ECONNRESET)
		_, err = p.server.Write([]byte("x"))
		wantError(t, err, syscall.ECONNRESET)
		if open := p.net.Counters(broker).Open; open != 0 {
			t.Errorf("%d open", open)
		}
		conn, err := p.net.Dial(t.Context(), broker)
		if err != nil {
			t.Fatalf("a new dial after Cut: %v", err)
		}
		conn.Close()
	})
}

func TestBlackholeHoldsOneDirectionUntilHeal(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Blackhole(broker, ToServer)
		mustWrite(t, p.client, "request")
		silent(t, p.server, time.Hour)
		mustWrite(t, p.server, "push")
		mustRead(t, p.client, "push")
		p.client.Close()
		silent(t, p.server, time.Hour)
		p.net.Heal(broker)
		mustRead(t, p.server, "request")
		if _, err := p.server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("the end was held back for good: %v", err)
		}
	})
}

func TestHealWakesWaitingReadAndDial(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Blackhole(broker, Both)
		mustWrite(t, p.client, "x")
		done := make(chan error, 2)
		go func() { _, err := p.server.Read(make([]byte, 1)); done <- err }()
		go func() {
			conn, err := p.net.Dial(t.Context(), broker)
			if err == nil {
				conn.Close()
			}
			done <- err
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if len(done) != 0 {
			t.Fatal("something came through the hole")
		}
		p.net.Heal(broker)
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestBlackholedWriterStopsAtAFullBuffer(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Blackhole(broker, ToServer)
		_ = p.client.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := p.client.Write(make([]byte, bufferSize+10))
		if n != bufferSize || err == nil {
			t.Errorf("Write = %d, %v", n, err)
		}
	})
}

func TestFaultsOfOneClientHost(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		conn, err := p.net.DialFrom("10.0.0.7")(t.Context(), broker)
		if err != nil {
			t.Fatal(err)
		}
		other := conn.(*Conn)
		defer other.Close()
		p.net.Blackhole("10.0.0.7", Both)
		mustWrite(t, other, "held")
		silent(t, other.peer, time.Minute)
		mustWrite(t, p.client, "through")
		mustRead(t, p.server, "through")
		p.net.Heal("10.0.0.7")
		mustRead(t, other.peer, "held")
	})
}

func TestFaultsOfOneConnection(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		conn, err := p.net.Dial(t.Context(), broker)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		p.net.Delay(broker, time.Second, 0)
		p.client.Faults().Delay(2*time.Second, 0)
		start := time.Now()
		mustWrite(t, p.client, "a")
		mustWrite(t, conn, "b")
		mustRead(t, conn.(*Conn).peer, "b")
		if got := time.Since(start); got != time.Second {
			t.Errorf("other connection: %v", got)
		}
		mustRead(t, p.server, "a")
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("delays do not add up: %v", got)
		}
		p.server.Faults().Cut()
		_, err = p.client.Write([]byte("x"))
		wantError(t, err, syscall.ECONNRESET)
		mustWrite(t, conn, "alive")
	})
}

func TestHalfOpenHidesTheEnd(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.HalfOpen(broker)
		mustWrite(t, p.server, "last")
		p.server.Close()
		mustRead(t, p.client, "last")
		silent(t, p.client, 24*time.Hour)
		_ = p.client.SetWriteDeadline(time.Now().Add(time.Minute))
		n, err := p.client.Write(make([]byte, bufferSize+1))
		if n != bufferSize || err == nil {
			t.Errorf("Write into the void = %d, %v", n, err)
		}
		_ = p.client.SetWriteDeadline(time.Time{})
		p.net.Heal(broker)
		if _, err := p.client.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("after Heal: %v", err)
		}
		_, err = p.client.Write([]byte("x"))
		wantError(t, err, syscall.EPIPE)
	})
}

func TestSlowIsExact(t *testing.T) {
	for _, rate := range []int{1, 100, 1 << 20} {
		bubble(t, func(t *testing.T, p *pair) {
			p.net.Slow(broker, rate)
			start := time.Now()
			size := min(3*rate, 200<<10)
			mustWrite(t, p.client, strings.Repeat("x", size-1))
			mustWrite(t, p.client, "y")
			if _, err := io.ReadFull(p.server, make([]byte, 1)); err != nil {
				t.Fatal(err)
			}
			if rate == 1 && time.Since(start) != time.Second {
				t.Errorf("first byte after %v", time.Since(start))
			}
			if _, err := io.ReadFull(p.server, make([]byte, size-1)); err != nil {
				t.Fatal(err)
			}
			want := time.Duration(size) * time.Second / time.Duration(rate)
			if got := time.Since(start); got < want || got > want+2 {
				t.Errorf("%d bytes at %d/s took %v, want %v", size, rate, got, want)
			}
		})
	}
}

func TestHealReleasesASlowStream(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Slow(broker, 1)
		text := strings.Repeat("slow", 1000)
		mustWrite(t, p.client, text)
		time.Sleep(time.Second)
		start := time.Now()
		p.net.Heal(broker)
		mustRead(t, p.server, text)
		if got := time.Since(start); got != 0 {
			t.Errorf("took %v after Heal", got)
		}
	})
}

func TestCorruptInvertsEveryNth(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Corrupt(broker, 4)
		sent := []byte("abcdefghij")
		for _, part := range [][]byte{sent[:3], sent[3:5], sent[5:]} {
			mustWrite(t, p.client, string(part))
		}
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(p.server, got); err != nil {
			t.Fatal(err)
		}
		want := bytes.Clone(sent)
		want[3] ^= 0xFF
		want[7] ^= 0xFF
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		p.net.Corrupt(broker, 0)
		mustWrite(t, p.client, "clean again")
		mustRead(t, p.server, "clean again")
	})
}

func TestChunkCutsReads(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		p.net.Chunk(broker, 5)
		mustWrite(t, p.client, strings.Repeat("x", 500))
		sizes := map[int]int{}
		for left := 500; left > 0; {
			n, err := p.server.Read(make([]byte, 100))
			if err != nil {
				t.Fatal(err)
			}
			sizes[n]++
			left -= n
		}
		for n := 1; n < 5; n++ {
			if sizes[n] == 0 {
				t.Errorf("no read of %d bytes: %v", n, sizes)
			}
		}
		for n := range sizes {
			if n > 5 {
				t.Errorf("a read of %d bytes", n)
			}
		}
	})
}

func TestLayersJoin(t *testing.T) {
	var a, b Faults
	a.Delay(time.Second, time.Minute)
	a.Slow(100)
	a.Corrupt(7)
	a.Blackhole(ToClient)
	b.Delay(time.Second, 0)
	b.Slow(50)
	b.Chunk(3)
	b.Blackhole(ToServer)
	b.HalfOpen()
	b.Refuse()
	want := plan{refuse: true, delay: 2 * time.Second, jitter: time.Minute, blackhole: Both, halfOpen: true, rate: 50, corrupt: 7, chunk: 3}
	if got := join([]*Faults{&a, &b, {}}); got != want {
		t.Errorf("join = %+v, want %+v", got, want)
	}
	b.Heal()
	if got := join([]*Faults{&b}); got != (plan{}) {
		t.Errorf("after Heal: %+v", got)
	}
}

// TestRandomFaultsKeepTheStream sends the same bytes through 200 random schedules
// of every fault that must not lose or reorder anything.
func TestRandomFaultsKeepTheStream(t *testing.T) {
	for seed := range uint64(200) {
		synctest.Test(t, func(t *testing.T) {
			p := newPair(t, NewSeeded(seed))
			defer p.close()
			rng := rand.New(rand.NewPCG(seed, 1))
			sent := make([]byte, 1+rng.IntN(2*bufferSize))
			for i := range sent {
				sent[i] = byte(rng.Uint32())
			}
			var wg sync.WaitGroup
			defer wg.Wait()
			wg.Go(func() { send(t, p, rand.New(rand.NewPCG(seed, 2)), sent) })
			wg.Go(func() { misbehave(p, rand.New(rand.NewPCG(seed, 3))) })
			got, err := io.ReadAll(p.server)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("seed %d: %d of %d bytes, %v", seed, len(got), len(sent), err)
			}
		})
	}
}

func send(t *testing.T, p *pair, rng *rand.Rand, todo []byte) {
	defer p.client.Close()
	for len(todo) > 0 {
		n := min(len(todo), 1+rng.IntN(64<<10))
		if _, err := p.client.Write(todo[:n]); err != nil {
			t.Error(err)
			return
		}
		todo = todo[n:]
		time.Sleep(time.Duration(rng.IntN(200)) * time.Millisecond)
	}
}

func misbehave(p *pair, rng *rand.Rand) {
	faults := []func(){
		func() { p.net.Delay(broker, time.Duration(rng.IntN(300))*time.Millisecond, 50*time.Millisecond) },
		func() { p.net.Slow(broker, 1000*rng.IntN(1000)) },
		func() { p.net.Chunk(broker, rng.IntN(10_000)) },
		func() { p.net.Blackhole(broker, Direction(rng.IntN(4))) },
		func() { p.net.HalfOpen(broker) },
		func() { p.net.Heal(broker) },
	}
	for range 20 {
		faults[rng.IntN(len(faults))]()
		time.Sleep(time.Duration(rng.IntN(300)) * time.Millisecond)
	}
	p.net.Heal(broker)
}
