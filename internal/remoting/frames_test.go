package remoting

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqctl/internal/protocol"
)

// choppedConn delivers bytes in pieces of the given sizes, over and over.
type choppedConn struct {
	net.Conn
	data  []byte
	sizes []int
	reads int
}

func (c *choppedConn) Read(p []byte) (int, error) {
	if len(c.data) == 0 {
		return 0, io.EOF
	}
	size := c.sizes[c.reads%len(c.sizes)]
	c.reads++
	n := copy(p[:min(len(p), size)], c.data)
	c.data = c.data[n:]
	return n, nil
}

func chopped(data []byte, maxFrame, maxBuf int, sizes ...int) *frameReader {
	return &frameReader{
		nc: &choppedConn{data: data, sizes: sizes}, clock: func() int64 { return 1 }, maxFrame: maxFrame, maxBuf: maxBuf,
	}
}

func drawCommand(t *rapid.T) *protocol.Command {
	cmd := &protocol.Command{
		Code:      int32(rapid.Int16().Draw(t, "code")),
		Language:  protocol.LanguageGo,
		Version:   int32(rapid.Int16().Draw(t, "version")),
		Opaque:    rapid.Int32().Draw(t, "opaque"),
		Flag:      rapid.Int32Range(0, 3).Draw(t, "flag"),
		Remark:    rapid.StringMatching(`[a-z"\\ ]{0,20}`).Draw(t, "remark"),
		Serialize: rapid.SampledFrom([]protocol.SerializeType{protocol.SerializeJSON, protocol.SerializeRocketMQ}).Draw(t, "encoding"),
	}
	for range rapid.IntRange(0, 12).Draw(t, "fields") {
		cmd.Ext.Add(rapid.StringMatching(`[a-zA-Z]{1,10}`).Draw(t, "key"), rapid.StringMatching(`.{0,30}`).Draw(t, "value"))
	}
	if size := rapid.IntRange(0, 2000).Draw(t, "body"); size > 0 {
		cmd.Body = bytes.Repeat([]byte{byte(size), byte(size >> 8), 7}, size)[:size]
	}
	return cmd
}

func TestFramesSurviveAnyCuts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var stream []byte
		var sent []*protocol.Command
		for range rapid.IntRange(1, 5).Draw(t, "frames") {
			cmd := drawCommand(t)
			frame, err := protocol.AppendFrame(nil, cmd)
			if err != nil {
				t.Fatal(err)
			}
			if cmd, err = protocol.DecodeFrame(frame); err != nil {
				t.Fatal(err)
			}
			stream = append(stream, frame...)
			sent = append(sent, cmd)
		}
		maxBuf := rapid.SampledFrom([]int{16, 500, 1024, 4096, 65536}).Draw(t, "buffer")
		f := chopped(stream, protocol.DefaultMaxFrame, maxBuf, rapid.SliceOfN(rapid.IntRange(1, 3000), 1, 5).Draw(t, "cuts")...)
		for i, want := range sent {
			got, err := f.next()
			if err != nil {
				t.Fatalf("frame %d: %v", i, err)
			}
			if len(got.Ext) == 0 {
				got.Ext = nil
			}
			if len(want.Ext) == 0 {
				want.Ext = nil
			}
			if !bytes.Equal(want.Body, got.Body) || (want.Body == nil) != (got.Body == nil) {
				t.Fatalf("frame %d: body of %d bytes became one of %d, or another one", i, len(want.Body), len(got.Body))
			}
			got.Body = want.Body // comparing bytes one by one takes long
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("frame %d (-sent +received):\n%s", i, diff)
			}
		}
		if _, err := f.next(); !errors.Is(err, io.EOF) {
			t.Fatalf("at the end: %v", err)
		}
		if in := f.bytesIn.Load(); in != uint64(len(stream)) || f.framesIn.Load() != uint64(len(sent)) {
			t.Fatalf("counted %d bytes and %d frames", in, f.framesIn.Load())
		}
	})
}

func TestReadBufferGrowsWithTheTrafficOnly(t *testing.T) {
	frame, err := protocol.AppendFrame(nil, request(strings.Repeat("x", 900)))
	if err != nil {
		t.Fatal(err)
	}
	const frames = 5000
	lone := chopped(bytes.Repeat(frame, frames), protocol.DefaultMaxFrame, poolBuffer, len(frame))
	busy := chopped(bytes.Repeat(frame, frames), protocol.DefaultMaxFrame, poolBuffer, 1<<30)
	for range frames {
		for _, f := range []*frameReader{lone, busy} {
			if _, err := f.next(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(lone.buf) != firstBuffer {
		t.Errorf("buffer of %d bytes where frames came one by one, want %d", len(lone.buf), firstBuffer)
	}
	if len(busy.buf) != poolBuffer {
		t.Errorf("buffer of %d bytes where all came at once, want %d", len(busy.buf), poolBuffer)
	}
	if got, most := busy.readsDone.Load(), uint64(frames*len(frame)/poolBuffer+10); got > most {
		t.Errorf("%d reads for what arrived at once, want at most %d", got, most)
	}
}

func TestUnusualHeaderGivesItsMemoryBack(t *testing.T) {
	big := request("x")
	big.Remark = strings.Repeat("r", 1<<20)
	stream, err := protocol.AppendFrame(nil, big)
	if err != nil {
		t.Fatal(err)
	}
	if stream, err = protocol.AppendFrame(stream, request("y")); err != nil {
		t.Fatal(err)
	}
	f := chopped(stream, protocol.DefaultMaxFrame, serverBuffer, len(stream)-20, 10)
	for _, body := range []string{"x", "y"} {
		cmd, err := f.next()
		if err != nil || string(cmd.Body) != body {
			t.Fatalf("%v, %v; want the body %q", cmd, err, body)
		}
	}
	if _, err := f.next(); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if len(f.buf) > 2<<20 {
		t.Errorf("buffer of %d bytes", len(f.buf))
	}
}

func FuzzFrameReader(f *testing.F) {
	for _, cmd := range []*protocol.Command{request("x"), answerTo(request("y"), strings.Repeat("y", 5000)), peerRequest(protocol.PopMessage, 3)} {
		for _, cmd.Serialize = range []protocol.SerializeType{protocol.SerializeJSON, protocol.SerializeRocketMQ} {
			frame, err := protocol.AppendFrame(nil, cmd)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(frame, uint16(7))
			f.Add(append(frame, frame...), uint16(100))
		}
	}
	f.Add(words(0x7fffffff, 0), uint16(1))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"), uint16(3))
	f.Fuzz(func(t *testing.T, data []byte, cut uint16) {
		took := allocated(func() {
			r := chopped(data, 1<<20, 4096, int(cut)+1)
			for frames := 0; ; frames++ {
				cmd, err := r.next()
				if err != nil {
					if !errors.Is(err, ErrDisconnected) {
						t.Errorf("err = %v", err)
					}
					return
				}
				if len(cmd.Body) > len(data) || frames > len(data) {
					t.Fatal("more came out than went in")
				}
			}
		})
		// An ext field of six bytes of JSON becomes two strings, in a slice that grows.
		if took > uint64(32*len(data)+64<<10) {
			t.Errorf("%d bytes allocated for %d", took, len(data))
		}
	})
}

func TestC21_LargeAnswerInOddChunksWhileHeartbeatsRun(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	big := bytes.Repeat([]byte("0123456789abcdef"), 10<<20/16)
	served := make(chan struct{})
	go func() {
		defer close(served)
		nc, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		serveInOddChunks(t, nc, big)
	}()
	p := NewPool(PoolConfig{})
	addr := l.Addr().String()
	before := heapInUse()
	pulled := make(chan result, 1)
	go func() {
		cmd, err := p.CallWithin(t.Context(), addr, protocol.NewBodyRequest(protocol.PullMessage, nil), 30*time.Second)
		pulled <- result{cmd: cmd, err: err}
	}()
	var r result
	beats := 0
	for r.cmd == nil && r.err == nil {
		if _, err := p.CallWithin(t.Context(), addr, request("beat"), 10*time.Second); err != nil {
			t.Fatalf("heartbeat %d: %v", beats, err)
		}
		beats++
		select {
		case r = <-pulled:
		default:
		}
	}
	if r.err != nil || !bytes.Equal(r.cmd.Body, big) {
		t.Fatalf("pull: %v", r.err)
	}
	r = result{}
	if s, _ := p.Stats(addr); s.Unmatched != 0 || s.FramesIn != uint64(beats)+1 {
		t.Errorf("%+v after %d heartbeats", s, beats)
	}
	if after := heapInUse(); after > before+2<<20 {
		t.Errorf("%d bytes are still in use", after-before)
	}
	closePool(t, p)
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	<-served
}

// serveInOddChunks answers pulls with body and everything else with nothing, in writes of sizes that fit no buffer.
func serveInOddChunks(t *testing.T, nc net.Conn, body []byte) {
	sizes := []int{1, 3, 7, 4093, 65521, 131, 262147, 5}
	for chunk := 0; ; {
		req, err := readCommand(nc)
		if err != nil {
			return
		}
		resp := protocol.NewResponse(req, protocol.CodeSuccess, "", nil, nil)
		if req.RequestCode() == protocol.PullMessage {
			resp.Body = body
		}
		out, err := protocol.AppendFrame(nil, resp)
		if err != nil {
			t.Error(err)
			return
		}
		for len(out) > 0 {
			n := min(len(out), sizes[chunk%len(sizes)])
			chunk++
			if _, err := nc.Write(out[:n]); err != nil {
				t.Error(err)
				return
			}
			out = out[n:]
		}
	}
}

func heapInUse() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
