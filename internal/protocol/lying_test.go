package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// TestLyingFramePrefixes: a peer's first bytes claim what cannot be. The claim must be refused before memory is taken.
func TestLyingFramePrefixes(t *testing.T) {
	for name, c := range map[string]struct {
		total, mark uint32
	}{
		"2 GiB - 1": {0x7fffffff, 100}, "negative": {0x80000000, 100}, "minus one": {0xffffffff, 100}, "0": {0, 0}, "3": {3, 0},
		"header beyond the frame": {100, 97}, "header of 16 MiB": {100, 0xffffff}, "unknown encoding": {100, 5<<24 | 10},
		"just above the limit": {DefaultMaxFrame - 3, 100}, "empty header": {4, 0},
	} {
		var p [FramePrefixSize]byte
		binary.BigEndian.PutUint32(p[:], c.total)
		binary.BigEndian.PutUint32(p[4:], c.mark)
		frame := append(p[:], make([]byte, 96)...)
		if c.total == 4 {
			frame = p[:]
		}
		got := allocated(func() {
			_, prefixErr := ParseFramePrefix(p, DefaultMaxFrame)
			_, err := DecodeFrame(frame)
			if err == nil || prefixErr == nil && c.total != 4 {
				t.Errorf("%s: %v, %v", name, prefixErr, err)
			}
		})
		if got > 4096 {
			t.Errorf("%s takes %d bytes", name, got)
		}
	}
	for n := range FramePrefixSize {
		if _, err := DecodeFrame(make([]byte, n)); !errors.Is(err, ErrBadFrame) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func TestLyingHeaderLengths(t *testing.T) {
	request, _ := fixture(t, "pull_11_rocketmq")
	request.Serialize = SerializeRocketMQ
	frame, err := AppendFrame(nil, request)
	if err != nil {
		t.Fatal(err)
	}
	header := frame[FramePrefixSize:]
	for at := range len(header) - 4 {
		for _, lie := range []uint32{0x7fffffff, 0x80000000, 0xffffffff} {
			bad := bytes.Clone(header)
			binary.BigEndian.PutUint32(bad[at:], lie)
			if got := allocated(func() { _ = new(Command).DecodeHeaderBytes(SerializeRocketMQ, bad) }); got > 8192 {
				t.Errorf("%#x at %d takes %d bytes", lie, at, got)
			}
		}
	}
	for n := range len(header) {
		if err := new(Command).DecodeHeaderBytes(SerializeRocketMQ, header[:n]); !errors.Is(err, ErrBadHeader) {
			t.Errorf("%d of %d bytes: %v", n, len(header), err)
		}
	}
}

func TestLyingRecordLengths(t *testing.T) {
	record := AppendMessage(nil, &MessageExt{Topic: "T", Body: []byte("body"), RawProperties: []byte("A\x01b\x02")})
	for at := range len(record) - 4 {
		for _, lie := range []uint32{0, 1, 7, 0x7fffffff, 0x80000000, 0xffffffff} {
			bad := bytes.Clone(record)
			binary.BigEndian.PutUint32(bad[at:], lie)
			if got := allocated(func() { _, _ = DecodeMessages(bad, DecodeOptions{}) }); got > 8192 {
				t.Errorf("%#x at %d takes %d bytes", lie, at, got)
			}
		}
	}
}

// TestManyProperties: a million entries of a table that a peer names.
func TestManyProperties(t *testing.T) {
	text := []byte(`{"table":{` + strings.Repeat(`"a":"b",`, 1_000_000) + `}}`)
	var err error
	if got := allocated(func() { _, err = DecodeKVTable(text) }); got > 64<<20 {
		t.Errorf("%d bytes for %d of text", got, len(text))
	}
	if err != nil && !errors.Is(err, ErrBadBody) {
		t.Error(err)
	}
	big := &KVTable{Table: map[string]string{}}
	for i := range 100_000 {
		big.Table[jsonText(i)] = "value"
	}
	if got, err := DecodeKVTable(big.Encode()); err != nil || len(got.Table) != len(big.Table) {
		t.Errorf("a large table: %v", err)
	}
}
