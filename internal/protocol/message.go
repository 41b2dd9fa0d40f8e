package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"net/netip"
	"time"
)

// Magic numbers of a stored record, Java's MessageVersion and CommitLog.BLANK_MAGIC_CODE.
const (
	magicV1    uint32 = 0xDAA320A7
	magicV2    uint32 = 0xDAA320AB // the topic's length takes two bytes
	magicBlank uint32 = 0xCBD43194 // filler at the end of a commit-log file
)

// recordFixedV1 is a V1 record with IPv4 hosts, without body, topic and properties, in bytes.
const recordFixedV1 = 91

// crcMask is applied by Java to every stored CRC.
const crcMask = 0x7FFFFFFF

// Errors of stored records; each is wrapped with what was wrong.
var (
	// ErrBadRecord means that a body of records cannot be split any further.
	ErrBadRecord = errors.New("malformed message record")
	// ErrDamagedMessage is a message's BodyErr when the record's inside does not fit together: Body is the raw record.
	ErrDamagedMessage = errors.New("damaged message")
)

// MessageExt is one stored message as a consumer sees it, Java's MessageExt. The byte slices alias the frame that it
// came in and must not be changed.
type MessageExt struct {
	Topic                     string
	BrokerName                string // not on the wire: set by whoever pulled the message
	QueueID                   int32
	QueueOffset               int64
	CommitLogOffset           int64
	Flag                      int32
	SysFlag                   SysFlag
	BornTimestamp             int64 // ms since the epoch, by the producer's clock
	BornHost                  netip.AddrPort
	StoreTimestamp            int64 // ms since the epoch, by the broker's clock
	StoreHost                 netip.AddrPort
	ReconsumeTimes            int32
	PreparedTransactionOffset int64
	BodyCRC                   uint32
	Body                      []byte // unpacked; the stored bytes while BodyErr is set
	StoredBody                []byte // as stored, maybe compressed
	BodyErr                   error  // why Body could not be unpacked
	RawProperties             []byte
}

// Property is the value of a property, "" when it is absent.
func (m *MessageExt) Property(name string) string {
	v, _ := lookupProperty(m.RawProperties, name)
	return string(v)
}

// PropertyBytes is the value of a property without copying it, and whether it is there.
func (m *MessageExt) PropertyBytes(name string) ([]byte, bool) {
	return lookupProperty(m.RawProperties, name)
}

// Properties is every property of the message.
func (m *MessageExt) Properties() Properties { return ParseProperties(m.RawProperties) }

// Tags is the message's tag, "" for none.
func (m *MessageExt) Tags() string { return m.Property(PropertyTags) }

// Keys is the message's index keys, separated by spaces.
func (m *MessageExt) Keys() string { return m.Property(PropertyKeys) }

// UniqueID is the id the producer gave the message, "" when it gave none (parts of some batches).
func (m *MessageExt) UniqueID() string { return m.Property(PropertyUniqueKey) }

// OffsetID is the id made of the message's place, Java's offsetMsgId.
func (m *MessageExt) OffsetID() string { return EncodeOffsetID(m.StoreHost, m.CommitLogOffset) }

// MessageID is what users call the message id: UniqueID, or OffsetID when there is none.
func (m *MessageExt) MessageID() string {
	if id := m.UniqueID(); id != "" {
		return id
	}
	return m.OffsetID()
}

// MessageQueue is the queue that the message was read from.
func (m *MessageExt) MessageQueue() MessageQueue {
	return MessageQueue{Topic: m.Topic, BrokerName: m.BrokerName, QueueID: m.QueueID}
}

// BornTime is BornTimestamp as a time.
func (m *MessageExt) BornTime() time.Time { return time.UnixMilli(m.BornTimestamp) }

// StoreTime is StoreTimestamp as a time.
func (m *MessageExt) StoreTime() time.Time { return time.UnixMilli(m.StoreTimestamp) }

// DecodeOptions guides DecodeMessages.
type DecodeOptions struct {
	// MaxBody bounds an unpacked body, in bytes. Default (0): DefaultMaxBody.
	MaxBody int
	// MinOffset drops the parts of an inner batch below it: a pull into the middle of a batch returns all of it.
	MinOffset int64
	// KeepPacked leaves bodies and inner batches as they are stored.
	KeepPacked bool
}

// DecodeMessages decodes records that stand back to back, the body of a pull answer. One slice is allocated for all of
// them. A record that is damaged inside becomes a message with ErrDamagedMessage as BodyErr, so that its offset can be
// passed; only lengths that make the rest unreadable are an error, and then the messages before it are returned too.
func DecodeMessages(body []byte, o DecodeOptions) ([]MessageExt, error) {
	n, blanks, splitErr := countRecords(body)
	out := make([]MessageExt, 0, n-blanks)
	topic := ""
	for range n {
		size := binary.BigEndian.Uint32(body)
		record := body[:size:size]
		body = body[size:]
		if binary.BigEndian.Uint32(record[4:]) == magicBlank {
			continue
		}
		out = append(out, MessageExt{})
		m := &out[len(out)-1]
		m.decodeRecord(record, topic)
		topic = m.Topic
		if o.KeepPacked || m.BodyErr != nil {
			continue
		}
		if m.SysFlag&FlagInnerBatch != 0 && m.SysFlag&FlagNeedUnwrap != 0 {
			out = unpackInnerBatch(out, o)
			continue
		}
		m.unpack(o.MaxBody)
	}
	return out, splitErr
}

// unpack replaces a compressed body by the original.
func (m *MessageExt) unpack(maxBody int) {
	c, ok := m.SysFlag.Compression()
	switch {
	case !ok:
		m.BodyErr = fmt.Errorf("%w: unknown compression bits %#x", ErrDamagedMessage, int32(m.SysFlag&compressionMask))
	case c != CompressNone:
		body, err := Decompress(c, m.StoredBody, maxBody)
		if err != nil {
			m.BodyErr = err
			return
		}
		m.Body = body
	}
}

// countRecords walks the records by their total sizes. Nothing shorter than recordFixedV1 is a message: without that rule
// an answer full of 8-byte records would take thirty times its size in memory.
func countRecords(body []byte) (n, blanks int, err error) {
	for len(body) > 0 {
		if len(body) < 8 {
			return n, blanks, fmt.Errorf("%w: %d bytes after record %d", ErrBadRecord, len(body), n)
		}
		size := binary.BigEndian.Uint32(body)
		blank := binary.BigEndian.Uint32(body[4:]) == magicBlank
		if size < 8 || !blank && size < recordFixedV1 || int64(size) > int64(len(body)) {
			return n, blanks, fmt.Errorf("%w: record %d claims %d bytes of %d left", ErrBadRecord, n, size, len(body))
		}
		if blank {
			blanks++
		}
		body = body[size:]
		n++
	}
	return n, blanks, nil
}

// decodeRecord fills m from one whole record. lastTopic is the previous record's topic: most answers have but one, and
// sharing its string saves an allocation a message.
func (m *MessageExt) decodeRecord(record []byte, lastTopic string) {
	r := recordReader{b: record[4:]}
	magic := r.uint32()
	m.BodyCRC = r.uint32()
	m.QueueID = int32(r.uint32())
	m.Flag = int32(r.uint32())
	m.QueueOffset = int64(r.uint64())
	m.CommitLogOffset = int64(r.uint64())
	m.SysFlag = SysFlag(r.uint32())
	m.BornTimestamp = int64(r.uint64())
	m.BornHost = r.host(m.SysFlag&FlagBornHostV6 != 0)
	m.StoreTimestamp = int64(r.uint64())
	m.StoreHost = r.host(m.SysFlag&FlagStoreHostV6 != 0)
	m.ReconsumeTimes = int32(r.uint32())
	m.PreparedTransactionOffset = int64(r.uint64())
	m.StoredBody = r.bytes(int64(int32(r.uint32())))
	var topicLen int64
	switch magic {
	case magicV1:
		topicLen = int64(r.uint8())
	case magicV2:
		topicLen = int64(r.uint16())
	default:
		r.bad = true
	}
	topic := r.bytes(topicLen)
	m.RawProperties = r.bytes(int64(int16(r.uint16())))
	if m.Topic = lastTopic; string(topic) != lastTopic {
		m.Topic = string(topic)
	}
	m.Body = m.StoredBody
	if r.bad {
		m.Body, m.StoredBody, m.RawProperties = record, record, nil
		m.BodyErr = fmt.Errorf("%w: the lengths inside its record of %d bytes do not fit (magic %#x)", ErrDamagedMessage, len(record), magic)
	}
}

// recordReader reads big-endian fields; after the first overrun it returns zeros and stays bad.
type recordReader struct {
	b   []byte
	bad bool
}

func (r *recordReader) bytes(n int64) []byte {
	if n < 0 || n > int64(len(r.b)) {
		r.bad, r.b = true, nil
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *recordReader) uint8() uint8 {
	if v := r.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (r *recordReader) uint16() uint16 {
	if v := r.bytes(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

func (r *recordReader) uint32() uint32 {
	if v := r.bytes(4); v != nil {
		return binary.BigEndian.Uint32(v)
	}
	return 0
}

func (r *recordReader) uint64() uint64 {
	if v := r.bytes(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// host reads an address and a four-byte port.
func (r *recordReader) host(v6 bool) netip.AddrPort {
	var ip netip.Addr
	if v6 {
		if b := r.bytes(16); b != nil {
			ip = netip.AddrFrom16([16]byte(b))
		}
	} else if b := r.bytes(4); b != nil {
		ip = netip.AddrFrom4([4]byte(b))
	}
	return netip.AddrPortFrom(ip, uint16(r.uint32()))
}

// AppendMessage appends m as a stored record, with the V2 layout when the topic is longer than 127 bytes. StoredBody is
// written, or Body when that is nil; host flags follow the addresses. It is how the sandbox stores what it is sent.
func AppendMessage(dst []byte, m *MessageExt) []byte {
	start := len(dst)
	body := m.StoredBody
	if body == nil {
		body = m.Body
	}
	magic := magicV1
	if len(m.Topic) > 127 {
		magic = magicV2
	}
	flag := hostFlags(m)
	be := binary.BigEndian
	dst = be.AppendUint32(dst, 0)
	dst = be.AppendUint32(dst, magic)
	dst = be.AppendUint32(dst, BodyCRC(body))
	dst = be.AppendUint32(dst, uint32(m.QueueID))
	dst = be.AppendUint32(dst, uint32(m.Flag))
	dst = be.AppendUint64(dst, uint64(m.QueueOffset))
	dst = be.AppendUint64(dst, uint64(m.CommitLogOffset))
	dst = be.AppendUint32(dst, uint32(flag))
	dst = be.AppendUint64(dst, uint64(m.BornTimestamp))
	dst = appendHost(dst, m.BornHost)
	dst = be.AppendUint64(dst, uint64(m.StoreTimestamp))
	dst = appendHost(dst, m.StoreHost)
	dst = be.AppendUint32(dst, uint32(m.ReconsumeTimes))
	dst = be.AppendUint64(dst, uint64(m.PreparedTransactionOffset))
	dst = be.AppendUint32(dst, uint32(len(body)))
	dst = append(dst, body...)
	if magic == magicV2 {
		dst = be.AppendUint16(dst, uint16(len(m.Topic)))
	} else {
		dst = append(dst, byte(len(m.Topic)))
	}
	dst = append(dst, m.Topic...)
	dst = be.AppendUint16(dst, uint16(len(m.RawProperties)))
	dst = append(dst, m.RawProperties...)
	be.PutUint32(dst[start:], uint32(len(dst)-start))
	return dst
}

// BodyCRC is the checksum stored with a body, Java's UtilAll.crc32.
func BodyCRC(stored []byte) uint32 { return crc32.ChecksumIEEE(stored) & crcMask }

func hostFlags(m *MessageExt) SysFlag {
	flag := m.SysFlag &^ (FlagBornHostV6 | FlagStoreHostV6)
	if isV6(m.BornHost.Addr()) {
		flag |= FlagBornHostV6
	}
	if isV6(m.StoreHost.Addr()) {
		flag |= FlagStoreHostV6
	}
	return flag
}

func isV6(ip netip.Addr) bool { return ip.Is6() && !ip.Is4In6() }

func appendHost(dst []byte, h netip.AddrPort) []byte {
	switch ip := h.Addr(); {
	case isV6(ip):
		b := ip.As16()
		dst = append(dst, b[:]...)
	case ip.IsValid():
		b := ip.Unmap().As4()
		dst = append(dst, b[:]...)
	default:
		dst = append(dst, 0, 0, 0, 0)
	}
	return binary.BigEndian.AppendUint32(dst, uint32(h.Port()))
}
