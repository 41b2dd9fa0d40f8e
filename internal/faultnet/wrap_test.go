package faultnet

import (
	"bytes"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// tcpPair is a real connection whose client end is wrapped.
func tcpPair(t *testing.T, f *Faults) (client net.Conn, server net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	client = Wrap(raw, f)
	t.Cleanup(func() {
		_ = client.Close()
		_ = server.Close()
		f.Heal() // lets the carriers end, whatever the test held back
	})
	deadline := time.Now().Add(20 * time.Second)
	_ = server.SetDeadline(deadline)
	_ = client.SetDeadline(deadline)
	return client, server
}

func TestWrapCarriesBothWaysOverTCP(t *testing.T) {
	var f Faults
	f.Chunk(100)
	client, server := tcpPair(t, &f)
	if client.RemoteAddr().String() != server.LocalAddr().String() {
		t.Errorf("RemoteAddr %v", client.RemoteAddr())
	}
	sent := bytes.Repeat([]byte("0123456789"), 100_000)
	go func() {
		_, _ = server.Write(sent)
		_ = server.(*net.TCPConn).CloseWrite()
	}()
	got, err := io.ReadAll(client)
	if err != nil || !bytes.Equal(got, sent) {
		t.Fatalf("read %d of %d bytes, %v", len(got), len(sent), err)
	}
	mustWrite(t, client, "answer")
	if err := client.(*Conn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(server); string(got) != "answer" || err != nil {
		t.Errorf("server read %q, %v", got, err)
	}
}

func TestWrapCloseDeliversWhatWasWritten(t *testing.T) {
	var f Faults
	client, server := tcpPair(t, &f)
	mustWrite(t, client, "bye")
	client.Close()
	if got, err := io.ReadAll(server); string(got) != "bye" || err != nil {
		t.Errorf("server read %q, %v", got, err)
	}
}

func TestWrapCutResetsBothEnds(t *testing.T) {
	var f Faults
	client, server := tcpPair(t, &f)
	mustWrite(t, client, "x")
	mustRead(t, server, "x")
	f.Cut()
	_, err := client.Read(make([]byte, 1))
	wantError(t, err, syscall.ECONNRESET)
	if _, err := server.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("server: %v", err)
	}
}

func TestWrapShowsTheResetOfThePeer(t *testing.T) {
	var f Faults
	client, server := tcpPair(t, &f)
	_ = server.(*net.TCPConn).SetLinger(0)
	server.Close()
	_, err := client.Read(make([]byte, 1))
	wantError(t, err, syscall.ECONNRESET)
}

func TestWrapCorrupts(t *testing.T) {
	var f Faults
	f.Corrupt(2)
	client, server := tcpPair(t, &f)
	mustWrite(t, client, "abcd")
	mustRead(t, server, "a\x9dc\x9b")
}

func TestWrapInABubble(t *testing.T) {
	bubble(t, func(t *testing.T, p *pair) {
		var f Faults
		f.Delay(time.Hour, 0)
		wrapped := Wrap(p.client, &f)
		start := time.Now()
		mustWrite(t, wrapped, "late")
		wrapped.Close()
		mustRead(t, p.server, "late")
		if _, err := p.server.Read(make([]byte, 1)); err != io.EOF {
			t.Error(err)
		}
		if got := time.Since(start); got != time.Hour {
			t.Errorf("arrived after %v", got)
		}
		synctest.Wait()
		if _, err := p.client.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("the wrapped connection is still open: %v", err)
		}
	})
}
