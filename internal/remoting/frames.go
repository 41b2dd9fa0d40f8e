package remoting

import (
	"bytes"
	"net"
	"sync/atomic"

	"mqctl/internal/protocol"
)

const (
	// firstBuffer is a reader's buffer before much has arrived, in bytes; a thousand silent peers cost little.
	firstBuffer = 4 << 10
	// poolBuffer is what the buffer of a connection that we dialled may grow to, in bytes: one read can take dozens of answers.
	poolBuffer = 256 << 10
	// serverBuffer is the same for accepted connections, of which there may be a thousand.
	serverBuffer = 64 << 10
	// bodyUpFront says how many buffers' worth of memory a body gets before more than one buffer of it has arrived.
	bodyUpFront = 4
	// inboundExt is room for the ext fields of nearly every answer, so that they share the command's allocation.
	inboundExt = 6
)

// frameReader cuts the byte stream of a connection into commands. Memory follows the bytes that arrived and never what a
// length field claims. Only the reader goroutine calls it; the atomics are read by the connection's timer and by Stats.
type frameReader struct {
	nc       net.Conn
	clock    func() int64
	maxFrame int
	maxBuf   int

	buf    []byte // buf[r:w] has arrived and belongs to frames that are not complete
	r, w   int
	grow   bool // the last read filled the buffer: a larger one saves system calls
	begun  bool // the frame at r has missing bytes and its time runs
	have   int  // bytes of the current frame that have arrived, for errors
	want   int  // its length if known
	header []byte

	lastRead  atomic.Int64 // when bytes arrived last
	beganAt   atomic.Int64 // when the unfinished frame began, 0 for none
	bytesIn   atomic.Uint64
	framesIn  atomic.Uint64
	readsDone atomic.Uint64
}

// inbound keeps a command and its ext fields in one allocation.
type inbound struct {
	cmd protocol.Command
	ext [inboundExt]protocol.ExtField
}

// next reads one frame. The header bytes stay in f.header until the next call, for the wire log.
func (f *frameReader) next() (*protocol.Command, error) {
	f.have, f.want = 0, 0
	size, err := f.prefix()
	if err != nil {
		return nil, f.explain(err)
	}
	in := &inbound{}
	in.cmd.Ext = in.ext[:0]
	total := protocol.FramePrefixSize + size.Header + size.Body
	f.want = total
	if total > f.maxBuf {
		err = f.large(&in.cmd, size)
	} else {
		err = f.small(&in.cmd, size, total)
	}
	if err != nil {
		return nil, f.explain(err)
	}
	if f.begun {
		f.begun = false
		f.beganAt.Store(0)
	}
	f.framesIn.Add(1)
	return &in.cmd, nil
}

func (f *frameReader) explain(err error) error {
	return readError(err, max(f.have, f.w-f.r), f.want)
}

// prefix reads the two length words. The first is judged alone: a peer that is no broker may never send the second.
func (f *frameReader) prefix() (protocol.FrameSize, error) {
	var p [protocol.FramePrefixSize]byte
	if f.w-f.r < len(p) {
		if err := f.fill(4); err != nil {
			return protocol.FrameSize{}, err
		}
		copy(p[:], f.buf[f.r:f.r+4])
		if size, err := protocol.ParseFramePrefix(p, f.maxFrame); err != nil {
			return size, err
		}
		if err := f.fill(len(p)); err != nil {
			return protocol.FrameSize{}, err
		}
	}
	copy(p[:], f.buf[f.r:])
	return protocol.ParseFramePrefix(p, f.maxFrame)
}

// small takes a frame that fits the buffer: it waits there until it is complete, and the body is copied out once.
func (f *frameReader) small(cmd *protocol.Command, size protocol.FrameSize, total int) error {
	if err := f.fill(total); err != nil {
		return err
	}
	frame := f.buf[f.r : f.r+total]
	f.r += total
	f.header = frame[protocol.FramePrefixSize : protocol.FramePrefixSize+size.Header]
	if size.Body > 0 {
		cmd.Body = bytes.Clone(frame[protocol.FramePrefixSize+size.Header:])
	}
	return cmd.DecodeHeaderBytes(size.Serialize, f.header)
}

// large takes a frame that does not fit. Its body gets memory only after a buffer's worth of the frame has arrived.
func (f *frameReader) large(cmd *protocol.Command, size protocol.FrameSize) error {
	headerEnd := protocol.FramePrefixSize + size.Header
	if err := f.fill(max(f.maxBuf, headerEnd)); err != nil {
		return err
	}
	f.header = f.buf[f.r+protocol.FramePrefixSize : f.r+headerEnd]
	if err := cmd.DecodeHeaderBytes(size.Serialize, f.header); err != nil {
		return err
	}
	f.r += headerEnd
	f.have = headerEnd
	if size.Body == 0 {
		return nil
	}
	return f.body(cmd, size.Body)
}

func (f *frameReader) body(cmd *protocol.Command, size int) error {
	arrived := min(size, f.w-f.r)
	body := make([]byte, 0, min(size, max(arrived, bodyUpFront*f.maxBuf)))
	body = append(body, f.buf[f.r:f.r+arrived]...)
	f.r += arrived
	for len(body) < size {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(size, 2*cap(body))), body...)
		}
		n, err := f.read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err != nil && len(body) < size {
			f.have += len(body)
			return err
		}
	}
	cmd.Body = body
	return nil
}

// fill reads until n bytes of the current frame are in the buffer.
func (f *frameReader) fill(n int) error {
	for f.w-f.r < n {
		f.makeRoom(n)
		got, err := f.read(f.buf[f.w:])
		f.grow = got == len(f.buf)-f.w && len(f.buf) < f.maxBuf
		f.w += got
		if err != nil && f.w-f.r < n {
			return err
		}
	}
	return nil
}

// makeRoom leaves free space behind w. The buffer doubles only when it is full of bytes of one frame, or when reads fill it.
func (f *frameReader) makeRoom(n int) {
	waiting := f.w - f.r
	size := len(f.buf)
	switch {
	case size == 0:
		size = firstBuffer
	case size > f.maxBuf && waiting == 0 && n <= f.maxBuf:
		size = f.maxBuf // it had grown for an unusual header
	case waiting == size || f.grow:
		size *= 2
	case waiting == 0:
		f.r, f.w = 0, 0
		return
	case f.r > 0 && len(f.buf)-f.r < n:
		copy(f.buf, f.buf[f.r:f.w])
		f.r, f.w = 0, waiting
		return
	case f.w < size:
		return
	}
	buf := make([]byte, size)
	copy(buf, f.buf[f.r:f.w])
	f.buf, f.r, f.w, f.grow = buf, 0, waiting, false
}

// read is one Read of the connection, with its bookkeeping.
func (f *frameReader) read(p []byte) (int, error) {
	if !f.begun && (f.w > f.r || f.have > 0) {
		f.begun = true
		f.beganAt.Store(f.clock())
	}
	n, err := f.nc.Read(p)
	if n > 0 {
		f.lastRead.Store(f.clock())
		f.bytesIn.Add(uint64(n))
		f.readsDone.Add(1)
	}
	return n, err
}
