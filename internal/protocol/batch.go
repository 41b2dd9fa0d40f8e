package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
)

// MaxBatchParts is how many messages a batch may hold: brokers keep the count in a Java short.
const MaxBatchParts = 32767

// maxUnpacked bounds the messages of one answer after its inner batches were unpacked. A part takes 22 bytes on the wire
// but ten times that in memory.
const maxUnpacked = 1 << 16

// batchPartFixed is a part without body and properties, in bytes.
const batchPartFixed = 4 + 4 + 4 + 4 + 4 + 2

// ErrBadBatch is wrapped with what makes a batch body unreadable or unsendable.
var ErrBadBatch = errors.New("malformed batch")

// BatchPart is one message inside a batch body. Its slices alias the body.
type BatchPart struct {
	Flag          int32
	Body          []byte
	RawProperties []byte // wire form, see ParseProperties
}

// EncodeBatch is the body of SEND_BATCH_MESSAGE, Java's MessageDecoder.encodeMessages. Topics are not part of it: all
// messages of a batch have the one that the header names.
func EncodeBatch(messages []Message) ([]byte, error) {
	if len(messages) == 0 || len(messages) > MaxBatchParts {
		return nil, fmt.Errorf("%w: %d messages, want 1 to %d", ErrBadBatch, len(messages), MaxBatchParts)
	}
	size := 0
	for i := range messages {
		size += batchPartFixed + len(messages[i].Body)
		for _, p := range messages[i].Properties {
			size += len(p.Name) + len(p.Value) + 2
		}
	}
	dst := make([]byte, 0, size)
	for i := range messages {
		var err error
		if dst, err = AppendBatchPart(dst, &messages[i]); err != nil {
			return nil, fmt.Errorf("message %d of the batch: %w", i, err)
		}
	}
	return dst, nil
}

// AppendBatchPart appends one message in the batch layout: size, magic 0, crc 0, flag, body and properties.
func AppendBatchPart(dst []byte, m *Message) ([]byte, error) {
	start := len(dst)
	be := binary.BigEndian
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	dst = be.AppendUint32(dst, uint32(m.Flag))
	dst = be.AppendUint32(dst, uint32(len(m.Body)))
	dst = append(dst, m.Body...)
	dst = append(dst, 0, 0)
	properties := len(dst)
	dst = m.Properties.AppendTo(dst)
	if n := len(dst) - properties; n > MaxPropertiesSize {
		return dst[:start], fmt.Errorf("%w: properties of %d bytes, the limit is %d", ErrBadBatch, n, MaxPropertiesSize)
	}
	be.PutUint16(dst[properties-2:], uint16(len(dst)-properties))
	be.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst, nil
}

// DecodeBatch splits a batch body into its parts. Every length is checked before memory is taken for it.
func DecodeBatch(body []byte) ([]BatchPart, error) {
	n, err := countBatch(body)
	if err != nil {
		return nil, err
	}
	parts := make([]BatchPart, n)
	for i := range parts {
		size := binary.BigEndian.Uint32(body)
		if !parts[i].decode(body[:size]) {
			return nil, fmt.Errorf("%w: the lengths inside part %d of %d bytes do not fit", ErrBadBatch, i, size)
		}
		body = body[size:]
	}
	return parts, nil
}

func countBatch(body []byte) (n int, err error) {
	for len(body) > 0 {
		if n == MaxBatchParts {
			return 0, fmt.Errorf("%w: more than %d parts", ErrBadBatch, MaxBatchParts)
		}
		if len(body) < batchPartFixed {
			return 0, fmt.Errorf("%w: %d bytes after part %d", ErrBadBatch, len(body), n)
		}
		size := binary.BigEndian.Uint32(body)
		if size < batchPartFixed || int64(size) > int64(len(body)) {
			return 0, fmt.Errorf("%w: part %d claims %d bytes of %d left", ErrBadBatch, n, size, len(body))
		}
		body = body[size:]
		n++
	}
	if n == 0 {
		return 0, fmt.Errorf("%w: no parts", ErrBadBatch)
	}
	return n, nil
}

// decode fills p from one whole part; magic and crc are zero on the wire and not looked at.
func (p *BatchPart) decode(part []byte) bool {
	r := recordReader{b: part[12:]}
	p.Flag = int32(r.uint32())
	p.Body = r.bytes(int64(int32(r.uint32())))
	p.RawProperties = r.bytes(int64(int16(r.uint16())))
	return !r.bad
}

// unpackInnerBatch replaces the last message of out, an inner batch as BatchCQ topics store it, by its parts from
// o.MinOffset on. A part has the record's hosts, times and queue, the offset base+i, and no batch or compression bits,
// since it is a message of its own now. A batch that cannot be unpacked stays in place with the reason as its BodyErr.
func unpackInnerBatch(out []MessageExt, o DecodeOptions) []MessageExt {
	last := len(out) - 1
	record := &out[last]
	record.unpack(o.MaxBody)
	if record.BodyErr != nil {
		return out
	}
	parts, err := DecodeBatch(record.Body)
	if err == nil && last+len(parts) > maxUnpacked {
		err = fmt.Errorf("%w: more than %d messages in one answer", ErrBadBatch, maxUnpacked)
	}
	if err != nil {
		record.BodyErr = fmt.Errorf("%w: %w", ErrDamagedMessage, err)
		return out
	}
	base := *record
	base.SysFlag = base.SysFlag.WithCompression(CompressNone) &^ (FlagInnerBatch | FlagNeedUnwrap)
	out = slices.Grow(out[:last], len(parts))
	for i, p := range parts {
		m := base
		m.QueueOffset += int64(i)
		if m.QueueOffset < o.MinOffset {
			continue
		}
		m.Flag, m.Body, m.StoredBody, m.RawProperties = p.Flag, p.Body, p.Body, p.RawProperties
		m.BodyCRC = BodyCRC(p.Body)
		out = append(out, m)
	}
	return out
}
