package remoting

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"sync"
	"time"

	"mqctl/internal/protocol"
)

// maxWireBacklog is how much text may wait for a slow log file before frames are left out of it, in bytes.
const maxWireBacklog = 64 << 20

// WireLog writes every frame as text: a line "# time direction address name opaque", then the frame in hex after ">"
// (outgoing) or "<" (incoming). Secrets are replaced before anything is written. ReadWireLog reads it back.
//
// One WireLog may serve several pools and servers. Errors of the writer end the log and are kept for Err.
type WireLog struct {
	w       io.Writer
	limit   int        // of pending, in bytes
	mu      sync.Mutex // never held while writing
	pending []byte
	writing bool // somebody is writing; it takes what others add meanwhile
	dropped int
	err     error
}

// NewWireLog makes a log that writes to w, one Write at a time.
func NewWireLog(w io.Writer) *WireLog { return &WireLog{w: w, limit: maxWireBacklog} }

// Err is the error that ended the log, nil while all is well.
func (l *WireLog) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// outgoing logs a frame that is about to be sent.
func (l *WireLog) outgoing(addr string, cmd *protocol.Command, frame []byte) {
	code := cmd.RequestCode()
	if cmd.IsResponse() {
		code = unknownRequest
	}
	l.record('>', addr, cmd, code, frame)
}

// incoming logs a command that was read. code is the request that it is or answers; header is as it arrived.
func (l *WireLog) incoming(addr string, cmd *protocol.Command, code protocol.RequestCode, header []byte) {
	frame := make([]byte, protocol.FramePrefixSize, protocol.FramePrefixSize+len(header)+len(cmd.Body))
	binary.BigEndian.PutUint32(frame, uint32(4+len(header)+len(cmd.Body)))
	binary.BigEndian.PutUint32(frame[4:], uint32(cmd.Serialize)<<24|uint32(len(header)))
	frame = append(frame, header...)
	frame = append(frame, cmd.Body...)
	l.record('<', addr, cmd, code, frame)
}

func (l *WireLog) record(direction byte, addr string, cmd *protocol.Command, code protocol.RequestCode, frame []byte) {
	text := make([]byte, 0, 2*len(frame)+128)
	text = append(text, "# "...)
	text = time.Now().UTC().AppendFormat(text, "2006-01-02T15:04:05.000000Z")
	text = fmt.Appendf(text, " %s %s %s opaque %d\n", directionName(direction), addr, commandName(cmd, code), cmd.Opaque)
	text = append(text, direction, ' ')
	text = hex.AppendEncode(text, redactFrame(frame, code))
	l.write(append(text, '\n'))
}

func directionName(direction byte) string {
	if direction == '>' {
		return "out"
	}
	return "in"
}

// commandName names only what the code tables know: no text of a peer gets into the comment.
func commandName(cmd *protocol.Command, code protocol.RequestCode) string {
	if !cmd.IsResponse() {
		return code.String()
	}
	if code == unknownRequest {
		return "answer " + cmd.ResponseCode().String()
	}
	return code.String() + " answer " + cmd.ResponseCode().String()
}

// write appends a block. Whoever finds nobody writing writes until nothing is left, so no mutex is held meanwhile.
func (l *WireLog) write(block []byte) {
	l.mu.Lock()
	switch {
	case l.err != nil:
		l.mu.Unlock()
		return
	case len(l.pending)+len(block) > l.limit:
		l.dropped++
	default:
		l.pending = append(l.pending, block...)
	}
	if l.writing {
		l.mu.Unlock()
		return
	}
	l.writing = true
	for l.err == nil && len(l.pending)+l.dropped > 0 {
		text := l.pending
		if l.dropped > 0 {
			text = fmt.Appendf(text, "# %d frames are missing: the log could not be written fast enough\n", l.dropped)
		}
		l.pending, l.dropped = nil, 0
		l.mu.Unlock()
		_, err := l.w.Write(text)
		l.mu.Lock()
		l.err = err
	}
	l.writing = false
	l.mu.Unlock()
}
