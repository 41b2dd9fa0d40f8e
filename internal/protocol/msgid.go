package protocol

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
)

// ErrBadMessageID is wrapped by the decoders of message ids with what is wrong.
var ErrBadMessageID = errors.New("malformed message id")

// Lengths of both kinds of message id, in hex digits.
const (
	messageIDDigitsV4 = 32
	messageIDDigitsV6 = 56
)

const upperHex = "0123456789ABCDEF"

// EncodeOffsetID is the id of a message's place, Java's MessageDecoder.createMessageId: the hex of address, port (four
// bytes) and commit-log offset. It has 32 digits for an IPv4 address (an invalid one counts as 0.0.0.0) and 56 for IPv6.
func EncodeOffsetID(storeHost netip.AddrPort, commitLogOffset int64) string {
	var buf [messageIDDigitsV6 / 2]byte
	b := appendHost(buf[:0], storeHost)
	b = binary.BigEndian.AppendUint64(b, uint64(commitLogOffset))
	return string(appendUpperHex(make([]byte, 0, messageIDDigitsV6), b))
}

// DecodeOffsetID is the reverse of EncodeOffsetID; it takes digits of either case. The ids that producers make have the
// same lengths: an error about the port usually means that id is one of those.
func DecodeOffsetID(id string) (storeHost netip.AddrPort, commitLogOffset int64, err error) {
	b, err := decodeMessageID(id)
	if err != nil {
		return netip.AddrPort{}, 0, err
	}
	ip, rest := takeAddress(b)
	port := binary.BigEndian.Uint32(rest)
	if port > 65535 {
		return netip.AddrPort{}, 0, fmt.Errorf("%w %q: port %d is above 65535, so it is no offset id", ErrBadMessageID, id, port)
	}
	offset := int64(binary.BigEndian.Uint64(rest[4:]))
	if offset < 0 {
		return netip.AddrPort{}, 0, fmt.Errorf("%w %q: negative commit-log offset %d", ErrBadMessageID, id, offset)
	}
	return netip.AddrPortFrom(ip, uint16(port)), offset, nil
}

// decodeMessageID turns 32 or 56 hex digits into 16 or 28 bytes.
func decodeMessageID(id string) ([]byte, error) {
	for i := 0; i < len(id) && i < messageIDDigitsV6; i++ {
		if !isHexDigit(id[i]) {
			return nil, fmt.Errorf("%w %q: %q at position %d is no hex digit", ErrBadMessageID, clip(id), id[i], i+1)
		}
	}
	if len(id) != messageIDDigitsV4 && len(id) != messageIDDigitsV6 {
		return nil, fmt.Errorf("%w %q: %d digits, want %d (IPv4) or %d (IPv6)",
			ErrBadMessageID, clip(id), len(id), messageIDDigitsV4, messageIDDigitsV6)
	}
	b, err := hex.DecodeString(id)
	if err != nil {
		return nil, fmt.Errorf("%w %q: %w", ErrBadMessageID, id, err)
	}
	return b, nil
}

// takeAddress splits the address off a decoded id: what remains has 12 bytes.
func takeAddress(b []byte) (ip netip.Addr, rest []byte) {
	n := len(b) - 12
	ip, _ = netip.AddrFromSlice(b[:n])
	return ip, b[n:]
}

func isHexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// clip keeps an error about a mistaken argument readable.
func clip(s string) string {
	const limit = 80
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}

func appendUpperHex(dst, b []byte) []byte {
	for _, x := range b {
		dst = append(dst, upperHex[x>>4], upperHex[x&15])
	}
	return dst
}
