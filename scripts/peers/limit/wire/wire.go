// Package wire is the little of RocketMQ's framing that the floors need, without any error handling that would cost time:
// frames out through one coalescing writer, frames in through one buffered reader, numbers looked up in JSON headers.
package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
)

// HeadRoom is the space that Seal fills at the front of a frame.
const HeadRoom = 8

// Seal writes the two length words into a frame that was built as HeadRoom bytes, JSON header, body.
func Seal(frame []byte, body int) {
	binary.BigEndian.PutUint32(frame, uint32(len(frame)-4))
	binary.BigEndian.PutUint32(frame[4:], uint32(len(frame)-HeadRoom-body))
}

// Read reads one frame into buf, growing it when needed, and returns header and body as slices of the returned buffer.
func Read(r *bufio.Reader, buf []byte) (header, body, whole []byte, err error) {
	var words [8]byte
	if _, err = io.ReadFull(r, words[:]); err != nil {
		return nil, nil, buf, err
	}
	n := int(binary.BigEndian.Uint32(words[:])) - 4
	h := int(binary.BigEndian.Uint32(words[4:]) & 0xffffff)
	if cap(buf) < n {
		buf = make([]byte, n+n/4)
	}
	buf = buf[:n]
	_, err = io.ReadFull(r, buf)
	return buf[:h], buf[h:], buf, err
}

// Number finds the decimal number that follows key in a header; 0 if there is none.
func Number(header []byte, key string) (v int64) {
	i := bytes.Index(header, []byte(key))
	if i < 0 {
		return 0
	}
	for i += len(key); i < len(header) && header[i] >= '0' && header[i] <= '9'; i++ {
		v = v*10 + int64(header[i]-'0')
	}
	return v
}

// Drain writes the frames of out to w until out is closed and flushes whenever out is empty, so that frames that wait
// together leave in one system call. done, if any, gets every frame back.
func Drain(w io.Writer, out <-chan []byte, done func([]byte)) {
	bw := bufio.NewWriterSize(w, 1<<16)
	write := func(f []byte) {
		_, _ = bw.Write(f)
		if done != nil {
			done(f)
		}
	}
	for f := range out {
		write(f)
		for more := true; more; {
			select {
			case f, more = <-out:
				if more {
					write(f)
				}
			default:
				more = false
			}
		}
		_ = bw.Flush()
	}
}

// Args returns the command's arguments or ends the program with its usage line when there are not as many as names.
func Args(names ...string) []string {
	if len(os.Args) != len(names)+1 {
		fmt.Fprintf(os.Stderr, "usage: %s %s\n", os.Args[0], names)
		os.Exit(2)
	}
	return os.Args[1:]
}

// Int parses a number argument or ends the program.
func Int(s string) int {
	n, err := strconv.Atoi(s)
	Must(err)
	return n
}

// Must ends the program on an error.
func Must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, os.Args[0]+":", err)
		os.Exit(1)
	}
}
