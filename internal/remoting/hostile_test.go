package remoting

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mqctl/internal/protocol"
)

// words are big-endian 32-bit numbers.
func words(ws ...uint32) []byte {
	var b []byte
	for _, w := range ws {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	return b
}

// allocated is how many bytes f allocates in the whole process.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// beginning is the prefix and header of a frame whose body has size bytes, and nothing of the body.
func beginning(t *testing.T, size int) []byte {
	frame, err := protocol.AppendFrame(nil, answerTo(request("x"), ""))
	if err != nil {
		t.Fatal(err)
	}
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4+size))
	return frame
}

func TestLyingLengths(t *testing.T) {
	const memory = 256 << 10 // of everything that a refused frame makes the process allocate
	for _, test := range []struct {
		name  string
		bytes []byte
		after time.Duration
		cause string
	}{
		{"largest positive", words(0x7fffffff), 0, "exceeds the limit"},
		{"smallest negative", words(0x80000000), 0, "exceeds the limit"},
		{"minus one", words(0xffffffff), 0, "exceeds the limit"},
		{"just too large", words(protocol.DefaultMaxFrame), 0, "exceeds the limit"},
		{"zero", words(0), 0, "no room for a header"},
		{"zero and more", words(0, 0), 0, "no room for a header"},
		{"header longer than the frame", words(100, 97), 0, "header of 97 bytes in a frame of 100"},
		{"largest header", words(100, 0x00ffffff), 0, "header of 16777215 bytes"},
		{"unknown encoding", words(100, 5<<24|50), 0, "unknown header encoding"},
		{"empty header", words(4, 0), 0, "malformed header"},
		{"header that is no JSON", append(words(8, 4), "abcd"...), 0, "malformed header"},
		{"one byte", []byte{0}, DefaultFrameTimeout, "did not arrive in 15s"},
		{"three bytes", []byte{0, 0, 1}, DefaultFrameTimeout, "did not arrive in 15s"},
		{"length alone", words(100), DefaultFrameTimeout, "did not arrive in 15s"},
		{"largest frame, nothing follows", words(protocol.DefaultMaxFrame-4, 100), DefaultFrameTimeout, "did not arrive in 15s"},
		{"largest header, nothing follows", words(protocol.DefaultMaxFrame-4, protocol.DefaultMaxFrame-8), DefaultFrameTimeout, "did not arrive in 15s"},
		{"largest body, nothing follows", beginning(t, 16<<20-1000), DefaultFrameTimeout, "did not arrive in 15s"},
		{"HTTP", []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), 0, "the peer speaks HTTP"},
		{"TLS alert", []byte{0x15, 3, 1, 0, 2, 2, 0x16}, 0, "the peer speaks TLS"},
		{"SSH", []byte("SSH-2.0-OpenSSH_9.9\r\n"), 0, "the peer speaks SSH"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
				c := goCall(t.Context(), p, request("x"))
				far := <-n.peers
				far.mustRead()
				began := time.Now()
				var r result
				took := allocated(func() {
					if _, err := far.Write(test.bytes); err != nil && !errors.Is(err, io.ErrClosedPipe) {
						t.Error(err)
					}
					r = <-c
				})
				wantLost(t, r.err, test.cause)
				wantAfter(t, "refused", began, r.at, test.after)
				if took > memory {
					t.Errorf("%d bytes allocated for a frame of which %d arrived", took, len(test.bytes))
				}
				far.waitClosed()
			})
		})
	}
}

func TestMemoryFollowsTheBytesOfALargeBody(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		far.mustRead()
		part := append(beginning(t, 16<<20-1000), make([]byte, 400<<10)...)
		took := allocated(func() {
			if _, err := far.Write(part); err != nil {
				t.Error(err)
			}
			synctest.Wait()
		})
		if took > 2<<20 { // the buffer as it grew, and the first piece of the body
			t.Errorf("%d bytes allocated when %d had arrived", took, len(part))
		}
		wantLost(t, (<-c).err, "did not arrive in 15s")
	})
}

func TestPeerEndsInTheMiddleOfAFrame(t *testing.T) {
	large := answerTo(request("x"), strings.Repeat("x", 1<<20))
	for _, test := range []struct {
		name  string
		frame *protocol.Command
		cut   int
		cause string
	}{
		{"between frames", answerTo(request("x"), "x"), 0, "the peer closed it"},
		{"in the length", answerTo(request("x"), "x"), 3, "in the middle of a frame, after 3 bytes"},
		{"in the header", answerTo(request("x"), "x"), 20, "in the middle of a frame, after 20 of %d bytes"},
		{"in a large body", large, 700000, "in the middle of a frame, after 700000 of %d bytes"},
		{"in the first buffer of a large body", large, 5000, "in the middle of a frame, after 5000 of %d bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
				var calls []<-chan result
				for range 3 {
					calls = append(calls, goCall(t.Context(), p, request("x")))
				}
				far := <-n.peers
				for range calls {
					far.mustRead()
				}
				frame, err := protocol.AppendFrame(nil, test.frame)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := far.Write(frame[:test.cut]); err != nil {
					t.Fatal(err)
				}
				if err := far.Close(); err != nil {
					t.Fatal(err)
				}
				cause := strings.ReplaceAll(test.cause, "%d", strconv.Itoa(len(frame)))
				for _, c := range calls {
					r := <-c
					wantLost(t, r.err, cause)
					if errors.Is(r.err, io.ErrUnexpectedEOF) != (test.cut > 0) {
						t.Errorf("%v wraps io.ErrUnexpectedEOF: %v", r.err, test.cut == 0)
					}
				}
			})
		})
	}
}

func TestSlowPeerIsCutAndOthersAreNot(t *testing.T) {
	inBubble(t, PoolConfig{}, func(t *testing.T, p *Pool, n *pipeNet) {
		c := goCall(t.Context(), p, request("x"))
		far := <-n.peers
		req := far.mustRead()
		frame, err := protocol.AppendFrame(nil, answerTo(req, "x"))
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for _, b := range frame { // a byte a second
			if _, err := far.Write([]byte{b}); err != nil {
				break
			}
			time.Sleep(time.Second)
		}
		r := <-c
		wantLost(t, r.err, "a frame that the peer began did not arrive in 15s")
		wantAfter(t, "cut", began, r.at, DefaultFrameTimeout)

		c = goCall(t.Context(), p, request("y")) // slow, but in time
		far = <-n.peers
		if frame, err = protocol.AppendFrame(nil, answerTo(far.mustRead(), "y")); err != nil {
			t.Fatal(err)
		}
		for i := range 14 {
			at := len(frame) * i / 14
			if _, err := far.Write(frame[at : len(frame)*(i+1)/14]); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		wantBody(t, <-c, "y")
		time.Sleep(2 * DefaultFrameTimeout)
		if len(p.Addrs()) != 1 {
			t.Error("the connection was cut although its frame had arrived")
		}
	})
}

func TestThousandSlowClients(t *testing.T) {
	const clients = 1000
	const perConn = 32 << 10
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		s := Serve(n, ServerConfig{Handle: func(c *Conn, req *protocol.Command) {
			if err := c.Send(answerTo(req, string(req.Body))); err != nil {
				t.Error(err)
			}
		}})
		inUse := func() uint64 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			return m.HeapAlloc + m.StackInuse
		}
		before := inUse()
		began := time.Now()
		claim := words(protocol.DefaultMaxFrame-4, 200)
		var slow []net.Conn
		for range clients {
			nc, err := n.dial(t.Context(), "")
			if err != nil {
				t.Fatal(err)
			}
			slow = append(slow, nc)
		}
		for i := range 10 {
			for _, nc := range slow {
				if _, err := nc.Write(claim[i%len(claim) : i%len(claim)+1]); err != nil {
					t.Fatalf("cut after %v: %v", time.Since(began), err)
				}
			}
			time.Sleep(time.Second)
		}
		if took := int64(inUse()) - int64(before); took > clients*perConn {
			t.Errorf("%d bytes a slow connection, want at most %d", took/clients, perConn)
		}
		healthy := NewPool(PoolConfig{Dial: n.dial})
		for i := range 100 {
			wantBody(t, <-goCall(t.Context(), healthy, request(fmt.Sprint(i))), fmt.Sprint(i))
		}
		time.Sleep(time.Until(began.Add(DefaultFrameTimeout)))
		synctest.Wait()
		if open := s.Conns(); open != 1 {
			t.Errorf("%d connections open after %v, want only the healthy one", open, time.Since(began))
		}
		closePool(t, healthy)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestSlowReaderOfTheServerIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newPipeNet(t)
		const limit = 1 << 20
		conns, closed := make(chan *Conn, 1), make(chan *Conn, 1)
		s := Serve(n, ServerConfig{
			MaxPending: limit,
			Handle:     func(c *Conn, _ *protocol.Command) { conns <- c },
			OnClose:    func(c *Conn) { closed <- c },
		})
		nc, err := n.dial(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		far := &peer{t, nc}
		far.write(request("subscribe"))
		c := <-conns
		push := protocol.NewBodyRequest(protocol.NotifyConsumerIDsChanged, make([]byte, 64<<10))
		push.SetOneway()
		began := time.Now()
		sent := 0
		for err == nil {
			err = c.Send(push)
			sent++
		}
		if !errors.Is(err, ErrDisconnected) || !strings.Contains(err.Error(), "reads too slowly") {
			t.Errorf("err = %v", err)
		}
		if sent < limit/(64<<10) || sent > limit/(64<<10)+1 {
			t.Errorf("%d frames of 64 KiB were taken for a limit of 1 MiB", sent-1)
		}
		if got := <-closed; got != c {
			t.Errorf("connection %d was closed, want %d", got.ID(), c.ID())
		}
		wantAfter(t, "cut", began, time.Now(), 0)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
