package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// SerializeType says how a frame's header is written, Java's SerializeType.
type SerializeType uint8

// The two header encodings. A server answers in the encoding of the request.
const (
	SerializeJSON     SerializeType = 0
	SerializeRocketMQ SerializeType = 1
)

// String is Java's name of the encoding.
func (t SerializeType) String() string {
	switch t {
	case SerializeJSON:
		return "JSON"
	case SerializeRocketMQ:
		return "ROCKETMQ"
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Flag bits of a Command, Java's RPC_TYPE and RPC_ONEWAY.
const (
	flagResponse int32 = 1
	flagOneway   int32 = 2
)

// DefaultMaxFrame is the largest frame that Java's NettyDecoder accepts, in bytes, the length field included.
const DefaultMaxFrame = 16 << 20

// The fixed parts of a frame: the length field, and the word that holds the encoding and the header's length.
const (
	lengthFieldSize = 4
	// FramePrefixSize is what must have arrived before a frame's header and body lengths are known, in bytes.
	FramePrefixSize = 8
	maxHeaderSize   = 1<<24 - 1
)

// Errors of the frame codec; each is wrapped with what was wrong.
var (
	ErrBadFrame  = errors.New("malformed frame")
	ErrBadHeader = errors.New("malformed header")
)

// Command is one request or response, Java's RemotingCommand.
//
// Outgoing, Header (a pointer to a typed header struct) is written first and Ext after it. Incoming, Header is nil and
// Ext holds every field; DecodeHeader copies them into a typed struct.
type Command struct {
	Code      int32
	Language  Language
	Version   int32
	Opaque    int32
	Flag      int32
	Remark    string
	Header    any
	Ext       ExtFields
	Body      []byte
	Serialize SerializeType
}

// RequestHeader is a typed request header: it knows its request code.
type RequestHeader interface {
	RequestCode() RequestCode
}

// NewRequest is a two-way request with the given typed header and body (nil for none).
func NewRequest(h RequestHeader, body []byte) *Command {
	return &Command{Code: int32(h.RequestCode()), Language: LanguageGo, Version: CurrentVersion, Header: h, Body: body}
}

// NewBodyRequest is a request that has no header fields, such as HEART_BEAT or LOCK_BATCH_MQ.
func NewBodyRequest(code RequestCode, body []byte) *Command {
	return &Command{Code: int32(code), Language: LanguageGo, Version: CurrentVersion, Body: body}
}

// NewResponse is the answer to req: same opaque, same encoding. header may be nil or a pointer to a typed struct.
func NewResponse(req *Command, code ResponseCode, remark string, header any, body []byte) *Command {
	return &Command{
		Code: int32(code), Language: LanguageGo, Version: CurrentVersion, Opaque: req.Opaque, Flag: flagResponse,
		Remark: remark, Header: header, Body: body, Serialize: req.Serialize,
	}
}

// IsResponse reports whether c answers a request. Only the flag decides: brokers send requests of their own, and their
// opaque may equal one of ours.
func (c *Command) IsResponse() bool { return c.Flag&flagResponse != 0 }

// IsOneway reports whether c must never be answered.
func (c *Command) IsOneway() bool { return c.Flag&flagOneway != 0 }

// SetOneway marks c as a request that wants no answer.
func (c *Command) SetOneway() { c.Flag |= flagOneway }

// RequestCode is c's code as that of a request.
func (c *Command) RequestCode() RequestCode { return RequestCode(c.Code) }

// ResponseCode is c's code as that of a response.
func (c *Command) ResponseCode() ResponseCode { return ResponseCode(c.Code) }

// AppendFrame appends c as one whole frame. A code beyond 16 bits is written with a JSON header whatever Serialize says,
// since the binary header would truncate it.
func AppendFrame(dst []byte, c *Command) ([]byte, error) {
	start := len(dst)
	st := c.Serialize
	if c.Code > 0x7fff || c.Code < -0x8000 {
		st = SerializeJSON
	}
	dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	var err error
	switch st {
	case SerializeJSON:
		dst, err = appendJSONHeader(dst, c)
	case SerializeRocketMQ:
		dst, err = appendBinaryHeader(dst, c)
	default:
		err = fmt.Errorf("%w: unknown encoding %d", ErrBadFrame, st)
	}
	if err != nil {
		return dst[:start], err
	}
	headerLen := len(dst) - start - FramePrefixSize
	if headerLen > maxHeaderSize {
		return dst[:start], fmt.Errorf("%w: header of %d bytes", ErrBadFrame, headerLen)
	}
	dst = append(dst, c.Body...)
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-lengthFieldSize))
	binary.BigEndian.PutUint32(dst[start+4:], uint32(st)<<24|uint32(headerLen))
	return dst, nil
}

// FrameSize is what a frame's first eight bytes announce.
type FrameSize struct {
	Serialize SerializeType
	Header    int // bytes
	Body      int // bytes
}

// ParseFramePrefix reads the first eight bytes of a frame and refuses lengths that cannot be, or that exceed maxFrame
// (bytes, the length field included), before anyone takes memory for them.
func ParseFramePrefix(p [FramePrefixSize]byte, maxFrame int) (FrameSize, error) {
	total := binary.BigEndian.Uint32(p[:4])
	mark := binary.BigEndian.Uint32(p[4:])
	headerLen := int(mark & maxHeaderSize)
	switch {
	case int64(total)+lengthFieldSize > int64(maxFrame):
		return FrameSize{}, fmt.Errorf("%w: frame of %d bytes exceeds the limit of %d%s", ErrBadFrame, total, maxFrame, foreignHint(p))
	case total < lengthFieldSize:
		return FrameSize{}, fmt.Errorf("%w: frame of %d bytes has no room for a header", ErrBadFrame, total)
	case headerLen > int(total)-lengthFieldSize:
		return FrameSize{}, fmt.Errorf("%w: header of %d bytes in a frame of %d%s", ErrBadFrame, headerLen, total, foreignHint(p))
	}
	st := SerializeType(mark >> 24)
	if st != SerializeJSON && st != SerializeRocketMQ {
		return FrameSize{}, fmt.Errorf("%w: unknown header encoding %d%s", ErrBadFrame, st, foreignHint(p))
	}
	return FrameSize{Serialize: st, Header: headerLen, Body: int(total) - lengthFieldSize - headerLen}, nil
}

// foreignHint recognises what commonly listens on a mistyped port, since "frame of 1213486160 bytes" helps nobody.
func foreignHint(p [FramePrefixSize]byte) string {
	switch {
	case string(p[:4]) == "HTTP":
		return " (the peer speaks HTTP, not RocketMQ remoting)"
	case p[0] == 0x15 && p[1] == 3 || p[0] == 0x16 && p[1] == 3:
		return " (the peer speaks TLS)"
	case string(p[:4]) == "SSH-":
		return " (the peer speaks SSH)"
	}
	return ""
}

// DecodeFrame decodes one whole frame, its length field included. The body aliases frame.
func DecodeFrame(frame []byte) (*Command, error) {
	if len(frame) < FramePrefixSize {
		return nil, fmt.Errorf("%w: %d bytes", ErrBadFrame, len(frame))
	}
	size, err := ParseFramePrefix([FramePrefixSize]byte(frame), max(len(frame), FramePrefixSize))
	if err != nil {
		return nil, err
	}
	if got := len(frame) - FramePrefixSize; got != size.Header+size.Body {
		return nil, fmt.Errorf("%w: %d bytes where the prefix announces %d", ErrBadFrame, got, size.Header+size.Body)
	}
	c := &Command{}
	if err := c.DecodeHeaderBytes(size.Serialize, frame[FramePrefixSize:FramePrefixSize+size.Header]); err != nil {
		return nil, err
	}
	if size.Body > 0 {
		c.Body = frame[FramePrefixSize+size.Header:]
	}
	return c, nil
}

// DecodeHeaderBytes fills c from a frame's header; it copies what it keeps, so the caller may reuse header. Body is left
// alone.
func (c *Command) DecodeHeaderBytes(st SerializeType, header []byte) error {
	c.Serialize = st
	switch st {
	case SerializeJSON:
		return c.decodeJSONHeader(string(header))
	case SerializeRocketMQ:
		return c.decodeBinaryHeader(string(header))
	}
	return fmt.Errorf("%w: unknown encoding %d", ErrBadFrame, st)
}

// MarkResponse makes c the answer to req, whatever it was before.
func (c *Command) MarkResponse(req *Command) {
	c.Flag |= flagResponse
	c.Opaque = req.Opaque
}
