package remoting

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"mqctl/internal/protocol"
)

// The marks of a WireEntry.
const (
	WireOut  = '>' // a frame that was sent, usually a request
	WireIn   = '<' // a frame that was received
	WireBody = 'B' // the bytes of a message body, without a frame
)

// ErrWireLog is wrapped by the errors of ReadWireLog with the line's number.
var ErrWireLog = errors.New("wire log")

// WireEntry is one frame or body of a wire log.
type WireEntry struct {
	Line    int      // of the hex text, from 1
	Comment []string // the comment lines since the entry before, without "# "
	Mark    byte     // WireOut, WireIn or WireBody
	Data    []byte
	Command *protocol.Command // nil for a WireBody and for a frame that does not decode
}

// ReadWireLog reads what WireLog writes, line by line. A line that is wrong yields an error that names its number, with
// the entry as far as it could be read, and the reading goes on; only an error of r ends it. maxFrame bounds a frame in
// bytes, and with it the memory that a line may take.
func ReadWireLog(r io.Reader, maxFrame int) iter.Seq2[WireEntry, error] {
	return func(yield func(WireEntry, error) bool) {
		lines := lineReader{r: bufio.NewReader(r), limit: 2*maxFrame + 1024}
		var comment []string
		for {
			line, err := lines.next()
			if errors.Is(err, io.EOF) {
				return
			}
			entry := WireEntry{Line: lines.n, Comment: comment}
			if err == nil {
				if text, ok := strings.CutPrefix(string(line), "#"); ok {
					comment = append(comment, strings.TrimSpace(text))
					continue
				}
				if len(line) == 0 {
					continue
				}
				err = entry.parse(line, maxFrame)
			}
			comment = nil
			if err != nil {
				err = fmt.Errorf("%w: line %d: %w", ErrWireLog, lines.n, err)
			}
			if !yield(entry, err) || lines.broken {
				return
			}
		}
	}
}

// parse reads one line that is neither blank nor a comment.
func (e *WireEntry) parse(line []byte, maxFrame int) error {
	switch mark := line[0]; mark {
	case WireOut, WireIn, WireBody:
		e.Mark = mark
	default:
		return fmt.Errorf("begins with %q, not with one of # > < B", mark)
	}
	digits := slices.DeleteFunc(line[1:], func(b byte) bool { return b == ' ' || b == '\t' })
	data, err := hex.AppendDecode(nil, digits)
	e.Data = data
	if err != nil {
		return err
	}
	if e.Mark == WireBody {
		return nil
	}
	if len(data) > maxFrame {
		return fmt.Errorf("frame of %d bytes, the limit is %d", len(data), maxFrame)
	}
	e.Command, err = protocol.DecodeFrame(data)
	return err
}

// lineReader reads lines of bounded length; what is beyond the bound is passed over.
type lineReader struct {
	r      *bufio.Reader
	limit  int
	n      int    // number of the line that next returned last
	line   []byte // reused
	broken bool   // r failed: there is nothing after this
}

// next is one line without surrounding blanks, valid until the following call; io.EOF after the last.
func (l *lineReader) next() ([]byte, error) {
	l.n++
	l.line = l.line[:0]
	tooLong := false
	for {
		part, err := l.r.ReadSlice('\n')
		if tooLong = tooLong || len(l.line)+len(part) > l.limit; !tooLong {
			l.line = append(l.line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(part) > 0 || err == nil:
		case errors.Is(err, io.EOF) && (len(l.line) > 0 || tooLong):
		default:
			l.broken = true
			return nil, err
		}
		if tooLong {
			return nil, fmt.Errorf("longer than %d characters", l.limit)
		}
		return bytes.TrimSpace(l.line), nil
	}
}
