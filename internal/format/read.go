package format

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"mqctl/internal/protocol"
)

// maxRecord bounds what is kept of one message's input, in bytes. Brokers take 4 MiB bodies unless told otherwise, and
// base64 of 40 MiB still fits.
const maxRecord = 64 << 20

// InputError is input that is no message: which record of it, from 1, and why.
type InputError struct {
	Record int64
	Line   bool // the records are lines
	Reason string
}

// Error reads like "line 3: no body".
func (e *InputError) Error() string {
	if e.Line {
		return fmt.Sprintf("line %d: %s", e.Record, e.Reason)
	}
	return fmt.Sprintf("record %d: %s", e.Record, e.Reason)
}

// Reader reads messages to send. It is not safe for use by several goroutines.
type Reader struct {
	r     *bufio.Reader
	count int64
	lines bool
	next  func(rd *Reader) (*protocol.Message, error)
}

// NewReader reads messages from r as in says: "lines", where each line is a body, "jsonl", or a format with verbs.
// The error of a format that cannot be read back wraps ErrFormat.
func NewReader(r io.Reader, in string) (*Reader, error) {
	rd := &Reader{r: bufio.NewReaderSize(r, 64<<10), lines: true}
	switch in {
	case "lines":
		rd.next = (*Reader).nextLine
	case "jsonl":
		rd.next = (*Reader).nextJSON
	default:
		f, err := parseInput(in)
		if err != nil {
			return nil, err
		}
		rd.lines = false
		rd.next = f.next
	}
	return rd, nil
}

// Read is the next message; io.EOF after the last. An *InputError concerns one record: reading may go on after one in
// "jsonl" and "lines". The message's topic is what the input says, or "".
func (rd *Reader) Read() (*protocol.Message, error) {
	rd.count++
	return rd.next(rd)
}

// Count is how many records were begun.
func (rd *Reader) Count() int64 { return rd.count }

func (rd *Reader) fail(format string, args ...any) error {
	return &InputError{Record: rd.count, Line: rd.lines, Reason: fmt.Sprintf(format, args...)}
}

func (rd *Reader) nextLine() (*protocol.Message, error) {
	line, err := rd.line()
	if err != nil {
		return nil, err
	}
	return &protocol.Message{Body: line}, nil
}

// line is one line without its \n, in memory of its own. What follows a line that is too long is skipped up to its end.
func (rd *Reader) line() ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		chunk, err := rd.r.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(chunk) > maxRecord; !tooLong {
			line = append(line, chunk...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && (len(line) > 0 || tooLong):
		case err != nil:
			rd.count--
			return nil, err
		}
		if tooLong {
			return nil, rd.fail("longer than %d MiB", maxRecord>>20)
		}
		if line = bytes.TrimSuffix(line, []byte{'\n'}); line == nil {
			line = []byte{}
		}
		return line, nil
	}
}
