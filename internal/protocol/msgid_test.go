package protocol

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestC20_MessageIDRoundTrip(t *testing.T) {
	for _, c := range []struct {
		addr   string
		offset int64
		id     string
	}{
		{"127.0.0.1:10091", 1024, "7F0000010000276B0000000000000400"},
		{"127.0.0.1:10911", 0x28E4A410, "7F00000100002A9F0000000028E4A410"},
		{"[::1]:10911", 1, "0000000000000000000000000000000100002A9F0000000000000001"},
		{"[2001:db8::a]:65535", 1<<63 - 1, "20010DB800000000000000000000000A0000FFFF7FFFFFFFFFFFFFFF"},
		{"255.255.255.255:0", 0, "FFFFFFFF000000000000000000000000"},
	} {
		addr := netip.MustParseAddrPort(c.addr)
		if got := EncodeOffsetID(addr, c.offset); got != c.id {
			t.Errorf("EncodeOffsetID(%s, %d) = %s, want %s", c.addr, c.offset, got, c.id)
		}
		for _, id := range []string{c.id, strings.ToLower(c.id)} {
			if got, offset, err := DecodeOffsetID(id); err != nil || got != addr || offset != c.offset {
				t.Errorf("DecodeOffsetID(%s) = %s, %d, %v", id, got, offset, err)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		ip, _ := netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "v4"))
		if rapid.Bool().Draw(t, "long") {
			ip, _ = netip.AddrFromSlice(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "v6"))
		}
		addr := netip.AddrPortFrom(ip, rapid.Uint16().Draw(t, "port"))
		offset := rapid.Int64Min(0).Draw(t, "offset")
		got, back, err := DecodeOffsetID(EncodeOffsetID(addr, offset))
		if want := netip.AddrPortFrom(ip.Unmap(), addr.Port()); err != nil || got != want || back != offset {
			t.Fatalf("%s %d became %s %d, %v", addr, offset, got, back, err)
		}
	})
}

func TestC20_MalformedMessageIDs(t *testing.T) {
	for id, want := range map[string]string{
		"":                                  "0 digits",
		"7F0000010000276B000000000000040":   "31 digits",
		"7F0000010000276B00000000000004000": "33 digits",
		"7F0000010000276B000000000000040G":  `'G' at position 32`,
		"7F0000010000276B 00000000000004":   `' ' at position 17`,
		"0x7F0000010000276B00000000000004":  `'x' at position 2`,
		"7F000001000100000000000000000400":  "port 65536",
		"7F000001FFFFFFFF0000000000000400":  "port 4294967295",
		"7F0000010000276BFFFFFFFFFFFFFFFF":  "negative",
		strings.Repeat("0", 54):             "54 digits",
		strings.Repeat("0", 1_000_000):      "1000000 digits",
	} {
		addr, offset, err := DecodeOffsetID(id)
		if !errors.Is(err, ErrBadMessageID) || !strings.Contains(err.Error(), want) {
			t.Errorf("DecodeOffsetID(%.60s) = %s, %d, %v, want %q", id, addr, offset, err, want)
			continue
		}
		if text := err.Error(); len(text) > 250 || strings.Contains(text, "\n") {
			t.Errorf("not one short line: %.300q", text)
		}
	}
	for _, id := range []string{"", "zz", strings.Repeat("0", 31)} {
		if u, err := DecodeUniqueID(id); !errors.Is(err, ErrBadMessageID) {
			t.Errorf("DecodeUniqueID(%q) = %v, %v", id, u, err)
		}
	}
}

func TestC20_UniqueIDs(t *testing.T) {
	zone := time.FixedZone("test", 8*3600)
	now := time.Date(2026, 11, 30, 12, 0, 0, 123e6, zone)
	for _, ip := range []string{"192.0.2.2", "2001:db8::7"} {
		g := NewUniqueIDs(netip.MustParseAddr(ip), 0x12345, 0xCAFEBABE)
		id := g.Next(now)
		u, err := DecodeUniqueID(id)
		if err != nil {
			t.Fatal(err)
		}
		want := UniqueID{IP: netip.MustParseAddr(ip), PID: 0x2345, Loader: 0xCAFEBABE, Elapsed: uint32(now.Sub(monthStart(now)) / time.Millisecond), Counter: 1}
		if u != want || u.String() != id || strings.ToUpper(id) != id {
			t.Errorf("%s is %+v, want %+v", id, u, want)
		}
		if lower, err := DecodeUniqueID(strings.ToLower(id)); err != nil || lower != u {
			t.Errorf("lower case: %+v, %v", lower, err)
		}
		if got := u.BornTime(now); !got.Equal(now) {
			t.Errorf("born %s, want %s", got, now)
		}
		if got := u.BornTime(now.Add(24 * time.Hour)); !got.Equal(now) { // December has begun
			t.Errorf("seen a day later: born %s, want %s", got, now)
		}
	}
	next := time.Date(2026, 12, 1, 0, 0, 0, 0, zone)
	g := NewUniqueIDs(netip.MustParseAddr("192.0.2.2"), 1, 1)
	for _, at := range []time.Time{now, next.Add(-time.Millisecond), next, now} {
		if u, err := DecodeUniqueID(g.Next(at)); err != nil || !u.BornTime(at).Equal(at) {
			t.Errorf("born at %s: %+v, %v", at, u, err)
		}
	}
	if got := (UniqueID{}).String(); len(got) != 32 {
		t.Errorf("without an address: %s", got)
	}
}

func TestUniqueIDsAreDistinct(t *testing.T) {
	g := NewUniqueIDs(netip.MustParseAddr("192.0.2.2"), 1, 1)
	now := time.Now()
	var mu sync.Mutex
	seen := map[string]bool{}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 5000 {
				id := g.Next(now)
				mu.Lock()
				seen[id] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 20_000 {
		t.Errorf("%d ids of 20000 are distinct", len(seen))
	}
}

func ExampleDecodeOffsetID() {
	addr, offset, err := DecodeOffsetID("7F0000010000276B0000000000000400")
	fmt.Println(addr, offset, err)
	// Output: 127.0.0.1:10091 1024 <nil>
}
