package protocol

import (
	"encoding/binary"
	"net/netip"
	"sync/atomic"
	"time"
)

// UniqueID is the inside of the id that a producer gives a message (property UNIQ_KEY), Java's MessageClientIDSetter.
type UniqueID struct {
	IP      netip.Addr // the producer's
	PID     uint16     // its process id, cut to 16 bits
	Loader  uint32     // what tells apart several clients of one process; a class loader's hash in Java
	Elapsed uint32     // ms since the local start of the month
	Counter uint16
}

// DecodeUniqueID reads the 32 or 56 hex digits of either case. Any 32 digits can be read so, also those of an offset id.
func DecodeUniqueID(id string) (UniqueID, error) {
	b, err := decodeMessageID(id)
	if err != nil {
		return UniqueID{}, err
	}
	ip, rest := takeAddress(b)
	return UniqueID{
		IP:      ip,
		PID:     binary.BigEndian.Uint16(rest),
		Loader:  binary.BigEndian.Uint32(rest[2:]),
		Elapsed: binary.BigEndian.Uint32(rest[6:]),
		Counter: binary.BigEndian.Uint16(rest[10:]),
	}, nil
}

// String is the id in upper case, as Java writes it.
func (u UniqueID) String() string {
	var buf [messageIDDigitsV6 / 2]byte
	b := appendIP(buf[:0], u.IP)
	b = binary.BigEndian.AppendUint16(b, u.PID)
	b = binary.BigEndian.AppendUint32(b, u.Loader)
	b = binary.BigEndian.AppendUint32(b, u.Elapsed)
	b = binary.BigEndian.AppendUint16(b, u.Counter)
	return string(appendUpperHex(make([]byte, 0, 2*len(b)), b))
}

// BornTime is when the id was made: in the month of now, or in the one before if that would lie ahead of now. The month
// starts in now's zone. An id that is older than a month cannot be told from a newer one.
func (u UniqueID) BornTime(now time.Time) time.Time {
	elapsed := time.Duration(u.Elapsed) * time.Millisecond
	month := monthStart(now)
	if t := month.Add(elapsed); !t.After(now) {
		return t
	}
	return month.AddDate(0, -1, 0).Add(elapsed)
}

func monthStart(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, t.Location())
}

func appendIP(dst []byte, ip netip.Addr) []byte {
	if isV6(ip) {
		b := ip.As16()
		return append(dst, b[:]...)
	}
	if !ip.IsValid() {
		return append(dst, 0, 0, 0, 0)
	}
	b := ip.Unmap().As4()
	return append(dst, b[:]...)
}

// UniqueIDs makes the message ids of one client. It may be used by several goroutines at once.
type UniqueIDs struct {
	prefix  string // the digits of address, process and client: the same in every id
	counter atomic.Uint32
	month   atomic.Pointer[monthSpan]
}

// monthSpan is the month that Elapsed counts from, in ms since the epoch.
type monthSpan struct {
	start, end int64
}

// NewUniqueIDs makes a generator. ip and pid describe this process (pid is cut to 16 bits, as in Java), client must differ
// between the clients of one process: a random number will do.
func NewUniqueIDs(ip netip.Addr, pid int, client uint32) *UniqueIDs {
	digits := UniqueID{IP: ip, PID: uint16(pid), Loader: client}.String()
	return &UniqueIDs{prefix: digits[:len(digits)-12]}
}

// Next is a fresh id for a message born at now. Ids stay distinct as long as fewer than 65,536 are made in one millisecond.
func (g *UniqueIDs) Next(now time.Time) string {
	month := g.month.Load()
	ms := now.UnixMilli()
	if month == nil || ms < month.start || ms >= month.end {
		start := monthStart(now)
		month = &monthSpan{start: start.UnixMilli(), end: start.AddDate(0, 1, 0).UnixMilli()}
		g.month.Store(month)
	}
	var tail [6]byte
	binary.BigEndian.PutUint32(tail[:], uint32(ms-month.start))
	binary.BigEndian.PutUint16(tail[4:], uint16(g.counter.Add(1)))
	buf := make([]byte, 0, messageIDDigitsV6)
	buf = append(buf, g.prefix...)
	return string(appendUpperHex(buf, tail[:]))
}
