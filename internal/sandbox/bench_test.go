package sandbox

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"mqctl/internal/protocol"
)

// bareConn writes prepared frames and reads answers without decoding more than their lengths, so that nearly all of the
// time is the sandbox's.
type bareConn struct {
	b *testing.B
	net.Conn
	r   *bufio.Reader
	w   *bufio.Writer
	buf []byte
}

func dialBare(b *testing.B, addr string) *bareConn {
	b.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { nc.Close() })
	return &bareConn{b: b, Conn: nc, r: bufio.NewReaderSize(nc, 1<<18), w: bufio.NewWriterSize(nc, 1<<16), buf: make([]byte, 1<<20)}
}

// answer reads one frame; what it returns is valid until the next call.
func (c *bareConn) answer() []byte {
	if _, err := io.ReadFull(c.r, c.buf[:4]); err != nil {
		c.b.Fatal(err)
	}
	n := 4 + int(binary.BigEndian.Uint32(c.buf))
	if _, err := io.ReadFull(c.r, c.buf[4:n]); err != nil {
		c.b.Fatal(err)
	}
	return c.buf[:n]
}

func benchSandbox(b *testing.B) *Sandbox {
	b.Helper()
	s, err := New(Options{Topics: []TopicSpec{{Name: "bench", Queues: 8}}, MaxMemory: 256 << 20})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.Close)
	return s
}

func mustFrame(b *testing.B, cmd *protocol.Command) []byte {
	b.Helper()
	cmd.Serialize = protocol.SerializeRocketMQ
	frame, err := protocol.AppendFrame(nil, cmd)
	if err != nil {
		b.Fatal(err)
	}
	return frame
}

func sendFrames(b *testing.B, size int) [][]byte {
	b.Helper()
	frames := make([][]byte, 8)
	for q := range frames {
		h, body := message("bench", int32(q), strings.Repeat("x", size), "UNIQ_KEY", strings.Repeat("0", 32), "WAIT", "true", "TAGS", "TagA")
		frames[q] = mustFrame(b, protocol.NewRequest(h, body))
	}
	return frames
}

// pipeline keeps 64 requests in flight until n are answered.
func (c *bareConn) pipeline(n int, frame func(i int) []byte, each func(answer []byte)) {
	const inFlight = 64
	sent := 0
	push := func() {
		if sent < n {
			if _, err := c.w.Write(frame(sent)); err != nil {
				c.b.Fatal(err)
			}
			sent++
		}
	}
	for range inFlight {
		push()
	}
	for range n {
		if c.r.Buffered() < 4 {
			if err := c.w.Flush(); err != nil {
				c.b.Fatal(err)
			}
		}
		each(c.answer())
		push()
	}
}

func checkCode(b *testing.B, answer []byte) *protocol.Command {
	cmd, err := protocol.DecodeFrame(answer)
	if err != nil || cmd.Code != 0 {
		b.Fatalf("answer %+v, %v", cmd, err)
	}
	return cmd
}

// BenchmarkSend stores single messages, 64 in flight on one connection. The benchmark's own share is in the figures.
func BenchmarkSend(b *testing.B) {
	for _, size := range []int{100, 1024} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			c := dialBare(b, benchSandbox(b).BrokerAddr("broker-a"))
			frames := sendFrames(b, size)
			b.ReportAllocs()
			b.ResetTimer()
			began := time.Now()
			i := 0
			c.pipeline(b.N, func(i int) []byte { return frames[i%len(frames)] }, func(answer []byte) {
				if i++; i%1000 == 1 {
					checkCode(b, answer)
				}
			})
			b.ReportMetric(float64(b.N)/time.Since(began).Seconds(), "msg/s")
		})
	}
}

// BenchmarkPull reads messages of 1 KiB, 32 a pull, from eight queues that hold 4,096 each.
func BenchmarkPull(b *testing.B) {
	const held = 8 * 4096
	c := dialBare(b, benchSandbox(b).BrokerAddr("broker-a"))
	frames := sendFrames(b, 1024)
	c.pipeline(held, func(i int) []byte { return frames[i%len(frames)] }, func([]byte) {})
	var pulls [][]byte
	for offset := int64(0); offset < held/8; offset += 32 {
		for q := range int32(8) {
			pulls = append(pulls, mustFrame(b, protocol.NewRequest(pullRequest("G", "bench", q, offset, "*"), nil)))
		}
	}
	n := (b.N + 31) / 32
	got := 0
	b.ReportAllocs()
	b.ResetTimer()
	began := time.Now()
	i := 0
	c.pipeline(n, func(i int) []byte { return pulls[i%len(pulls)] }, func(answer []byte) {
		if i++; i%100 == 1 {
			list, err := protocol.DecodeMessages(checkCode(b, answer).Body, protocol.DecodeOptions{})
			if err != nil || len(list) != 32 {
				b.Fatalf("%d messages, %v", len(list), err)
			}
		}
		got += 32
	})
	b.ReportMetric(float64(got)/time.Since(began).Seconds(), "msg/s")
}
