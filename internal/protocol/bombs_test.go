package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

// TestManyExtFields: a header of a million fields, in both encodings.
func TestManyExtFields(t *testing.T) {
	binaryHeader := make([]byte, 21, 21+7_000_000)
	binaryHeader = append(binaryHeader, bytes.Repeat([]byte{0, 1, 'a', 0, 0, 0, 0}, 1_000_000)...)
	binary.BigEndian.PutUint32(binaryHeader[17:], uint32(len(binaryHeader)-21))
	for st, header := range map[SerializeType][]byte{
		SerializeJSON:     []byte(`{"code":1,"extFields":{` + strings.Repeat(`"a":"b",`, 1_000_000) + `"c":"d"}}`),
		SerializeRocketMQ: binaryHeader,
	} {
		var err error
		got := allocated(func() { err = new(Command).DecodeHeaderBytes(st, header) })
		if !errors.Is(err, ErrBadHeader) || got > 32<<20 {
			t.Errorf("%s: %v, %d bytes for %d", st, err, got, len(header))
		}
	}
}

// TestTinyRecords: an answer that is full of records too short to be messages.
func TestTinyRecords(t *testing.T) {
	tiny := bytes.Repeat([]byte{0, 0, 0, 8, 0xda, 0xa3, 0x20, 0xa7}, 1<<20)
	blank := bytes.Repeat([]byte{0, 0, 0, 8, 0xcb, 0xd4, 0x31, 0x94}, 1<<20)
	for name, body := range map[string][]byte{"tiny": tiny, "blank": blank} {
		var messages []MessageExt
		var err error
		if got := allocated(func() { messages, err = DecodeMessages(body, DecodeOptions{}) }); got > 1<<20 {
			t.Errorf("%s: %d bytes for %d", name, got, len(body))
		}
		if len(messages) != 0 || (name == "tiny") != errors.Is(err, ErrBadRecord) {
			t.Errorf("%s: %d messages, %v", name, len(messages), err)
		}
	}
}
