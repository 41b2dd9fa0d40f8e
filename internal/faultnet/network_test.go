package faultnet

import (
	"errors"
	"net"
	"strconv"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestListenPicksFreePorts(t *testing.T) {
	n := New()
	seen := map[string]bool{}
	for range 3 {
		l, err := n.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		host, port, err := net.SplitHostPort(l.Addr().String())
		number, _ := strconv.Atoi(port)
		if err != nil || host != loopback || number == 0 || seen[port] {
			t.Errorf("address %v (%v), seen %v", l.Addr(), err, seen)
		}
		seen[port] = true
	}
}

func TestListenRefusesWhatCannotBe(t *testing.T) {
	n := New()
	l, err := n.Listen(":9876")
	if err != nil {
		t.Fatal(err)
	}
	_, err = n.Listen("127.0.0.1:9876")
	wantError(t, err, syscall.EADDRINUSE)
	for _, addr := range []string{"nowhere:1", "127.0.0.1", "127.0.0.1:http", "127.0.0.1:65536", "127.0.0.1:-1"} {
		if _, err := n.Listen(addr); err == nil {
			t.Errorf("Listen(%q) worked", addr)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	wantError(t, l.Close(), net.ErrClosed)
	_, err = l.Accept()
	wantError(t, err, net.ErrClosed)
	again, err := n.Listen("0.0.0.0:9876")
	if err != nil {
		t.Fatalf("the port is not free again: %v", err)
	}
	again.Close()
}

func TestAcceptEndsWithClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := New().Listen(broker)
		if err != nil {
			t.Fatal(err)
		}
		failure := make(chan error)
		go func() { _, err := l.Accept(); failure <- err }()
		synctest.Wait()
		l.Close()
		wantError(t, <-failure, net.ErrClosed)
	})
}

func TestCloseResetsWhatWasNotAccepted(t *testing.T) {
	n := New()
	l, err := n.Listen(broker)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := n.Dial(t.Context(), broker)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	_, err = conn.Read(make([]byte, 1))
	wantError(t, err, syscall.ECONNRESET)
}

func TestDialErrors(t *testing.T) {
	n := New()
	_, err := n.Dial(t.Context(), broker)
	wantError(t, err, syscall.ECONNREFUSED)
	_, err = n.Dial(t.Context(), "broker-a:10911")
	var dns *net.DNSError
	if !errors.As(err, &dns) || !dns.IsNotFound || dns.Name != "broker-a" {
		t.Errorf("unknown host: %v", err)
	}
	if _, err = n.DialFrom("nobody")(t.Context(), broker); !errors.As(err, &dns) {
		t.Errorf("unknown own host: %v", err)
	}
	want := Counters{Dials: 1, Refused: 1}
	if diff := cmp.Diff(want, n.Counters(broker)); diff != "" {
		t.Error(diff)
	}
}

func TestHostNamesMove(t *testing.T) {
	n := New()
	for _, ip := range []string{"10.0.0.1", "10.0.0.2"} {
		l, err := n.Listen(ip + ":10911")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		n.AddHost("broker-a", ip)
		conn, err := n.Dial(t.Context(), "broker-a:10911")
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if got := conn.RemoteAddr().String(); got != ip+":10911" {
			t.Errorf("went to %s", got)
		}
	}
}

func TestDialFromIsWhatTheServerSees(t *testing.T) {
	n := New()
	l, err := n.Listen("[::1]:10911")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	conn, err := n.DialFrom("10.0.0.7")(t.Context(), "[::1]:10911")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	if host, _, _ := net.SplitHostPort(server.RemoteAddr().String()); host != "10.0.0.7" {
		t.Errorf("server sees %s", server.RemoteAddr())
	}
}

func TestFullBacklogMakesDialsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		l, err := n.Listen(broker)
		if err != nil {
			t.Fatal(err)
		}
		dialed := make(chan net.Conn, backlogSize+1)
		for range backlogSize + 1 {
			go func() {
				conn, err := n.Dial(t.Context(), broker)
				if err != nil {
					t.Error(err)
				}
				dialed <- conn
			}()
		}
		synctest.Wait()
		if len(dialed) != backlogSize {
			t.Fatalf("%d connections, want %d", len(dialed), backlogSize)
		}
		if _, err := l.Accept(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(dialed) != backlogSize+1 {
			t.Error("the waiting dial did not use the room")
		}
		l.Close()
	})
}

func TestCounters(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		want := Counters{Dials: 1, Accepted: 1, Open: 1}
		if diff := cmp.Diff(want, p.net.Counters(broker)); diff != "" {
			t.Errorf("connected: %s", diff)
		}
		p.client.Close()
		if diff := cmp.Diff(want, p.net.Counters(broker)); diff != "" {
			t.Errorf("one end closed: %s", diff)
		}
		p.server.Close()
		p.net.Cut(broker) // must not count a second time
		want.Open = 0
		if diff := cmp.Diff(want, p.net.Total()); diff != "" {
			t.Errorf("both ends closed: %s", diff)
		}
	})
}

func TestClientPortsWrapAround(t *testing.T) {
	n := New()
	n.clientPort = lastPort
	l, err := n.Listen(broker)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, want := range []int{lastPort, firstClientPort} {
		conn, err := n.Dial(t.Context(), broker)
		if err != nil {
			t.Fatal(err)
		}
		if got := conn.LocalAddr().(*net.TCPAddr).Port; got != want {
			t.Errorf("client port %d, want %d", got, want)
		}
	}
}

func TestDialWaitsForTheRoundTrip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New()
		n.Delay(broker, 40*time.Millisecond, 0)
		start := time.Now()
		_, err := n.Dial(t.Context(), broker)
		wantError(t, err, syscall.ECONNREFUSED)
		if got := time.Since(start); got != 80*time.Millisecond {
			t.Errorf("refused after %v", got)
		}
	})
}
