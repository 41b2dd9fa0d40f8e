package faultnet

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const broker = "127.0.0.1:10911"

// pair is a connection over a fresh network, made in the caller's bubble.
type pair struct {
	net            *Network
	listener       net.Listener
	client, server *Conn
}

func newPair(t *testing.T, n *Network) *pair {
	t.Helper()
	l, err := n.Listen(broker)
	if err != nil {
		t.Fatal(err)
	}
	client, err := n.Dial(t.Context(), broker)
	if err != nil {
		t.Fatal(err)
	}
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return &pair{net: n, listener: l, client: client.(*Conn), server: server.(*Conn)}
}

func (p *pair) close() {
	_ = p.client.Close()
	_ = p.server.Close()
	_ = p.listener.Close()
}

func mustWrite(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if n, err := io.WriteString(c, text); n != len(text) || err != nil {
		t.Fatalf("Write = %d, %v", n, err)
	}
}

// writeAll is mustWrite for goroutines other than the test's.
func writeAll(t *testing.T, c net.Conn, text string) {
	if n, err := io.WriteString(c, text); n != len(text) || err != nil {
		t.Errorf("Write = %d, %v", n, err)
	}
}

func mustRead(t *testing.T, c net.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	if _, err := io.ReadFull(c, got); err != nil || string(got) != want {
		t.Fatalf("read %q, %v; want %q", got, err, want)
	}
}

// wantError checks the cause and that it is a *net.OpError, as the engine expects.
func wantError(t *testing.T, err, cause error) {
	t.Helper()
	var op *net.OpError
	if !errors.Is(err, cause) || !errors.As(err, &op) {
		t.Fatalf("error %v (%T), want a net.OpError with %v", err, err, cause)
	}
}

// bubble runs f in virtual time with one connection and closes it afterwards.
func bubble(t *testing.T, f func(t *testing.T, p *pair)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := newPair(t, New())
		defer p.close()
		f(t, p)
	})
}

func TestBothDirectionsAndAddresses(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		mustWrite(t, p.client, "ping")
		mustRead(t, p.server, "ping")
		mustWrite(t, p.server, "pong")
		mustRead(t, p.client, "pong")
		if got := p.client.RemoteAddr().String(); got != broker {
			t.Errorf("client's RemoteAddr = %s", got)
		}
		seen, ok := p.server.RemoteAddr().(*net.TCPAddr)
		if !ok || seen.String() != p.client.LocalAddr().String() || seen.Port < firstClientPort {
			t.Errorf("server's RemoteAddr = %v, client's LocalAddr = %v", seen, p.client.LocalAddr())
		}
		if n, err := p.client.Read(nil); n != 0 || err != nil {
			t.Errorf("empty Read = %d, %v", n, err)
		}
	})
}

func TestHeartbeatsForTwoHours(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		start := time.Now()
		go func() {
			defer p.client.Close()
			tick := time.NewTicker(30 * time.Second)
			defer tick.Stop()
			for range 240 {
				<-tick.C
				if _, err := p.client.Write([]byte("heartbeat")); err != nil {
					t.Error(err)
				}
			}
		}()
		for beat := 1; beat <= 240; beat++ {
			mustRead(t, p.server, "heartbeat")
			if got, want := time.Since(start), time.Duration(beat)*30*time.Second; got != want {
				t.Fatalf("beat %d at %v, want %v", beat, got, want)
			}
		}
		if n, err := p.server.Read(make([]byte, 1)); n != 0 || err != io.EOF {
			t.Errorf("after the last beat: %d, %v", n, err)
		}
	})
}

func TestCloseDrainsThenEnds(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		mustWrite(t, p.client, "last words")
		if err := p.client.Close(); err != nil {
			t.Fatal(err)
		}
		mustRead(t, p.server, "last words")
		if _, err := p.server.Read(make([]byte, 1)); err != io.EOF {
			t.Errorf("Read = %v, want io.EOF", err)
		}
		_, err := p.server.Write([]byte("x"))
		wantError(t, err, syscall.EPIPE)
		_, err = p.client.Read(make([]byte, 1))
		wantError(t, err, net.ErrClosed)
		_, err = p.client.Write([]byte("x"))
		wantError(t, err, net.ErrClosed)
		wantError(t, p.client.Close(), net.ErrClosed)
		wantError(t, p.client.CloseWrite(), net.ErrClosed)
		wantError(t, p.client.SetDeadline(time.Now()), net.ErrClosed)
	})
}

func TestCloseWriteKeepsTheOtherDirection(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		mustWrite(t, p.client, "request")
		if err := p.client.CloseWrite(); err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(p.server)
		if string(got) != "request" || err != nil {
			t.Fatalf("server read %q, %v", got, err)
		}
		mustWrite(t, p.server, "answer")
		mustRead(t, p.client, "answer")
		_, err = p.client.Write([]byte("x"))
		wantError(t, err, syscall.EPIPE)
	})
}

func TestCloseEndsWaitingCalls(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		failures := make(chan error, 2)
		go func() { _, err := p.client.Read(make([]byte, 1)); failures <- err }()
		go func() { _, err := p.client.Write(make([]byte, 2*bufferSize)); failures <- err }()
		synctest.Wait()
		p.client.Close()
		wantError(t, <-failures, net.ErrClosed)
		wantError(t, <-failures, net.ErrClosed)
	})
}

func TestPeerCloseEndsWaitingWrite(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		failure := make(chan error, 1)
		go func() { _, err := p.client.Write(make([]byte, 2*bufferSize)); failure <- err }()
		synctest.Wait()
		p.server.Close()
		wantError(t, <-failure, syscall.EPIPE)
	})
}

func TestBackPressure(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			writeAll(t, p.client, strings.Repeat("x", bufferSize+1))
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Fatal("the write did not wait for the full buffer")
		default:
		}
		mustRead(t, p.server, "x")
		<-done
	})
}

func TestConcurrentWritesAreNotTorn(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		const size = bufferSize + 1000
		for _, letter := range []string{"a", "b", "c"} {
			go writeAll(t, p.client, strings.Repeat(letter, size))
		}
		synctest.Wait()
		for range 3 {
			one := make([]byte, size)
			if _, err := io.ReadFull(p.server, one); err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(one), string(one[:1])) != size {
				t.Fatal("two writes are mixed")
			}
		}
	})
}

func TestDeadlinesAreExact(t *testing.T) {
	full := make([]byte, bufferSize+1)
	calls := map[string]func(p *pair, at time.Time) error{
		"read": func(p *pair, at time.Time) error {
			_ = p.client.SetReadDeadline(at)
			_, err := p.client.Read(make([]byte, 1))
			return err
		},
		"write": func(p *pair, at time.Time) error {
			_ = p.client.SetDeadline(at)
			_, err := p.client.Write(full)
			return err
		},
		"write behind another write": func(p *pair, at time.Time) error {
			go func() { _, _ = p.client.Write(full) }()
			synctest.Wait()
			_ = p.client.SetWriteDeadline(at)
			_, err := p.client.Write([]byte("x"))
			return err
		},
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, p *pair) {
				start := time.Now()
				err := call(p, start.Add(15*time.Second))
				wantError(t, err, os.ErrDeadlineExceeded)
				if got := time.Since(start); got != 15*time.Second {
					t.Errorf("ended after %v", got)
				}
				if timeout, ok := err.(net.Error); !ok || !timeout.Timeout() {
					t.Errorf("%v does not say Timeout", err)
				}
			})
		})
	}
}

func TestDeadlineCanMoveWhileWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		start := time.Now()
		_ = p.client.SetReadDeadline(start.Add(time.Second))
		go func() {
			time.Sleep(500 * time.Millisecond)
			_ = p.client.SetReadDeadline(start.Add(time.Hour))
		}()
		_, err := p.client.Read(make([]byte, 1))
		wantError(t, err, os.ErrDeadlineExceeded)
		if got := time.Since(start); got != time.Hour {
			t.Errorf("ended after %v", got)
		}
		// An expired deadline fails at once, also with data, until it is lifted.
		mustWrite(t, p.server, "late")
		_, err = p.client.Read(make([]byte, 1))
		wantError(t, err, os.ErrDeadlineExceeded)
		_ = p.client.SetReadDeadline(time.Time{})
		mustRead(t, p.client, "late")
		_ = p.client.SetReadDeadline(start)
		_, err = p.client.Read(make([]byte, 1))
		wantError(t, err, os.ErrDeadlineExceeded)
	})
}

func TestContextEndsDial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		n.Blackhole(broker, ToClient)
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		_, err := n.Dial(ctx, broker)
		wantError(t, err, context.DeadlineExceeded)
		if got := time.Since(start); got != 3*time.Second {
			t.Errorf("gave up after %v", got)
		}
	})
}
