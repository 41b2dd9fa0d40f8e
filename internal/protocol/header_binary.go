package protocol

import (
	"encoding/binary"
	"fmt"
)

// binaryFixed is the length of the binary header's fixed part up to and including remarkLen, in bytes.
const binaryFixed = 2 + 1 + 2 + 4 + 4 + 4

// appendBinaryHeader writes the ROCKETMQ header, Java's RocketMQSerializable.
func appendBinaryHeader(dst []byte, c *Command) ([]byte, error) {
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Code))
	dst = append(dst, byte(c.Language))
	dst = binary.BigEndian.AppendUint16(dst, uint16(c.Version))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Opaque))
	dst = binary.BigEndian.AppendUint32(dst, uint32(c.Flag))
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(c.Remark)))
	dst = append(dst, c.Remark...)
	extStart := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst, err := appendExt(dst, c, &binaryExt)
	if err != nil {
		return dst, err
	}
	binary.BigEndian.PutUint32(dst[extStart:], uint32(len(dst)-extStart-4))
	return dst, nil
}

// decodeBinaryHeader reads the ROCKETMQ header. Every string it keeps is a slice of h, which costs one allocation in all.
func (c *Command) decodeBinaryHeader(h string) error {
	if len(h) < binaryFixed+4 {
		return fmt.Errorf("%w: %d bytes of a binary header", ErrBadHeader, len(h))
	}
	c.Code = int32(int16(be16(h)))
	c.Language = Language(h[2])
	c.Version = int32(int16(be16(h[3:])))
	c.Opaque = int32(be32(h[5:]))
	c.Flag = int32(be32(h[9:]))
	c.Remark, c.Ext = "", c.Ext[:0]
	remark, rest, err := takeString(h[13:], 4)
	if err != nil {
		return fmt.Errorf("%w: remark: %w", ErrBadHeader, err)
	}
	c.Remark = remark
	ext, _, err := takeString(rest, 4)
	if err != nil {
		return fmt.Errorf("%w: ext fields: %w", ErrBadHeader, err)
	}
	for len(ext) > 0 {
		var f ExtField
		if f.Key, ext, err = takeString(ext, 2); err != nil {
			return fmt.Errorf("%w: ext field name: %w", ErrBadHeader, err)
		}
		if f.Value, ext, err = takeString(ext, 4); err != nil {
			return fmt.Errorf("%w: ext field value: %w", ErrBadHeader, err)
		}
		if err := c.Ext.addReceived(f); err != nil {
			return fmt.Errorf("%w: %w", ErrBadHeader, err)
		}
	}
	return nil
}

// takeString reads a length of size bytes (2 or 4) and that many bytes after it.
func takeString(s string, size int) (value, rest string, err error) {
	if len(s) < size {
		return "", "", fmt.Errorf("length field cut short")
	}
	n := int64(be16(s))
	if size == 4 {
		n = int64(int32(be32(s)))
	}
	if n < 0 || n > int64(len(s)-size) {
		return "", "", fmt.Errorf("length %d of %d bytes left", n, len(s)-size)
	}
	return s[size : size+int(n)], s[size+int(n):], nil
}

func be16(s string) uint16 { return uint16(s[0])<<8 | uint16(s[1]) }

func be32(s string) uint32 {
	return uint32(s[0])<<24 | uint32(s[1])<<16 | uint32(s[2])<<8 | uint32(s[3])
}
