package protocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBatchRoundTrip(t *testing.T) {
	property := rapid.Custom(func(t *rapid.T) Property {
		return Property{rapid.StringMatching(`[A-Z_]{1,8}`).Draw(t, "name"), rapid.StringMatching(`[a-z ]{1,8}`).Draw(t, "value")}
	})
	message := rapid.Custom(func(t *rapid.T) Message {
		return Message{
			Flag: rapid.Int32().Draw(t, "flag"), Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body"),
			Properties: rapid.SliceOfN(property, 0, 5).Draw(t, "properties"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(message, 1, 20).Draw(t, "messages")
		b, err := EncodeBatch(want)
		if err != nil {
			t.Fatal(err)
		}
		if cap(b) != len(b) {
			t.Errorf("guessed %d bytes, wrote %d", cap(b), len(b))
		}
		parts, err := DecodeBatch(b)
		if err != nil || len(parts) != len(want) {
			t.Fatalf("%d parts of %d, %v", len(parts), len(want), err)
		}
		for i, p := range parts {
			if p.Flag != want[i].Flag || !bytes.Equal(p.Body, want[i].Body) || string(p.RawProperties) != want[i].Properties.String() {
				t.Errorf("part %d: %+v, want %+v", i, p, want[i])
			}
		}
	})
}

func TestEncodeBatchRefuses(t *testing.T) {
	big := Message{Body: []byte("x"), Properties: Properties{{"K", strings.Repeat("v", MaxPropertiesSize)}}}
	for name, messages := range map[string][]Message{
		"none": nil, "too many": make([]Message, MaxBatchParts+1), "big properties": {{}, big},
	} {
		if b, err := EncodeBatch(messages); !errors.Is(err, ErrBadBatch) {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	dst, err := AppendBatchPart([]byte("kept"), &big)
	if err == nil || string(dst) != "kept" {
		t.Errorf("a refused part leaves %q, %v", dst, err)
	}
}

func TestBatchLyingLengths(t *testing.T) {
	good, err := EncodeBatch([]Message{{Body: []byte("one"), Properties: Properties{{"A", "b"}}}, {Body: []byte("two")}})
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(good) {
		if parts, err := DecodeBatch(good[:n]); !errors.Is(err, ErrBadBatch) && n != 29 { // 29: the end of the first part
			t.Errorf("%d of %d bytes: %v, %v", n, len(good), parts, err)
		}
	}
	for _, at := range []int{0, 16, 23} { // size of part, of body, of properties
		for _, lie := range []uint32{0, 1, 21, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff} {
			bad := bytes.Clone(good)
			if at == 23 {
				binary.BigEndian.PutUint16(bad[at:], uint16(lie))
			} else {
				binary.BigEndian.PutUint32(bad[at:], lie)
			}
			got := allocated(func() { _, err = DecodeBatch(bad) })
			if got > 4096 {
				t.Errorf("a length of %#x at %d takes %d bytes", lie, at, got)
			}
			if (lie > 21 && at < 23 || lie%0x10000 > 4) && !errors.Is(err, ErrBadBatch) {
				t.Errorf("a length of %#x at %d: %v", lie, at, err)
			}
		}
	}
}

// innerBatch is a stored record that holds a batch of n messages.
func innerBatch(tb testing.TB, base int64, n int, c Compression) []byte {
	tb.Helper()
	messages := make([]Message, n)
	for i := range messages {
		messages[i] = Message{Flag: int32(i), Body: fmt.Appendf(nil, "body %d", i), Properties: Properties{{"UNIQ_KEY", fmt.Sprint(i)}}}
	}
	body, err := EncodeBatch(messages)
	if err != nil {
		tb.Fatal(err)
	}
	packed, err := Compress(c, 0, body)
	if err != nil {
		tb.Fatal(err)
	}
	return AppendMessage(nil, &MessageExt{
		Topic: "T", QueueID: 3, QueueOffset: base, CommitLogOffset: 77, Body: packed, StoreTimestamp: 9, BornTimestamp: 8,
		SysFlag:  (FlagNeedUnwrap | FlagInnerBatch).WithCompression(c),
		BornHost: netip.MustParseAddrPort("[::1]:5"), StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
	})
}

func TestInnerBatch(t *testing.T) {
	for _, c := range append(packings, CompressNone) {
		body := append(innerBatch(t, 10, 3, c), innerBatch(t, 13, 2, c)...)
		for _, from := range []int64{0, 10, 11, 13, 14, 15} {
			got, err := DecodeMessages(body, DecodeOptions{MinOffset: from})
			if err != nil {
				t.Fatal(err)
			}
			if want := 15 - max(from, 10); int64(len(got)) != want {
				t.Fatalf("%s from %d: %d messages, want %d", c, from, len(got), want)
			}
			for i, m := range got {
				offset := max(from, 10) + int64(i)
				n := offset - 10
				if n > 2 {
					n -= 3
				}
				want := MessageExt{
					Topic: "T", QueueID: 3, QueueOffset: offset, CommitLogOffset: 77, StoreTimestamp: 9, BornTimestamp: 8, Flag: int32(n),
					SysFlag: FlagBornHostV6, BornHost: netip.MustParseAddrPort("[::1]:5"), StoreHost: netip.MustParseAddrPort("127.0.0.1:10911"),
					Body: fmt.Appendf(nil, "body %d", n), RawProperties: fmt.Appendf(nil, "UNIQ_KEY\x01%d\x02", n),
				}
				want.StoredBody, want.BodyCRC = want.Body, BodyCRC(want.Body)
				if d := cmp.Diff(want, m, cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })); d != "" {
					t.Errorf("%s offset %d (-want +got):\n%s", c, offset, d)
				}
			}
		}
	}
}

func TestInnerBatchFixture(t *testing.T) {
	_, answer := fixture(t, "pull_11_inner_batch")
	got, err := DecodeMessages(answer.Body, DecodeOptions{MinOffset: 1})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, m := range got {
		seen = append(seen, fmt.Sprintf("%d %s %s %s", m.QueueOffset, m.Body, m.Tags(), m.UniqueID()))
	}
	want := []string{
		"1 inner1 TagC 7F0000010001C2E4A5F1000500000001", "2 inner2 TagC 7F0000010001C2E4A5F1000500000002",
		"3 single  7F0000010001C2E4A5F1000500000010",
	}
	if d := cmp.Diff(want, seen); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestBadInnerBatchesStayInPlace(t *testing.T) {
	flags := FlagNeedUnwrap | FlagInnerBatch
	empty := make([]byte, 0, 22*(MaxBatchParts+1))
	for range MaxBatchParts + 1 {
		var err error
		if empty, err = AppendBatchPart(empty, &Message{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		flag SysFlag
		body []byte
		want error
	}{
		"no batch":       {flags, []byte("not a batch"), ErrDamagedMessage},
		"empty":          {flags, nil, ErrDamagedMessage},
		"damaged stream": {flags.WithCompression(CompressZlib), []byte("x"), ErrDamagedBody},
		"too many parts": {flags, empty, ErrDamagedMessage},
	} {
		body := AppendMessage(nil, &MessageExt{Topic: "T", QueueOffset: 5, SysFlag: c.flag, Body: c.body})
		body = AppendMessage(body, &MessageExt{Topic: "T", QueueOffset: 6, Body: []byte("next")})
		got, err := DecodeMessages(body, DecodeOptions{})
		if err != nil || len(got) != 2 {
			t.Fatalf("%s: %d messages, %v", name, len(got), err)
		}
		if !errors.Is(got[0].BodyErr, c.want) || got[0].QueueOffset != 5 || !bytes.Equal(got[0].Body, c.body) {
			t.Errorf("%s: %v", name, got[0].BodyErr)
		}
		if string(got[1].Body) != "next" {
			t.Errorf("%s: the message after it is %q", name, got[1].Body)
		}
	}
}

func TestBatchBomb(t *testing.T) {
	// An answer of a few hundred thousand empty messages in inner batches, each of which is legal by itself.
	one, err := EncodeBatch(make([]Message, MaxBatchParts))
	if err != nil {
		t.Fatal(err)
	}
	var body []byte
	for i := range int64(10) {
		body = AppendMessage(body, &MessageExt{Topic: "T", QueueOffset: i * MaxBatchParts, SysFlag: FlagNeedUnwrap | FlagInnerBatch, Body: one})
	}
	var got []MessageExt
	if n := allocated(func() { got, err = DecodeMessages(body, DecodeOptions{}) }); n > 64<<20 {
		t.Errorf("%d bytes for an answer of %d", n, len(body))
	}
	if err != nil || len(got) < MaxBatchParts || len(got) > maxUnpacked+10 || !errors.Is(got[len(got)-1].BodyErr, ErrBadBatch) {
		t.Errorf("%d messages, %v, %v", len(got), err, got[len(got)-1].BodyErr)
	}
}
