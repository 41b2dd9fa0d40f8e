package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"pgregory.net/rapid"
)

var packings = []Compression{CompressZlib, CompressLZ4, CompressZstd}

func TestCompressRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(append(packings, CompressNone)).Draw(t, "compression")
		level := rapid.IntRange(0, 9).Draw(t, "level")
		body := rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(t, "body")
		body = bytes.Repeat(body, rapid.IntRange(1, 400).Draw(t, "times"))
		packed, err := Compress(c, level, body)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decompress(c, packed, 0)
		if err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%s: %d bytes became %d, %v", c, len(body), len(got), err)
		}
	})
}

func TestCompressRefusesLevels(t *testing.T) {
	for _, level := range []int{-1, 10} {
		if _, err := Compress(CompressZlib, level, []byte("x")); err == nil {
			t.Errorf("level %d accepted", level)
		}
	}
	if _, err := Compress(9, 5, nil); err == nil {
		t.Error("unknown compression packs")
	}
	if _, err := Decompress(9, []byte("x"), 0); err == nil {
		t.Error("unknown compression unpacks")
	}
}

func TestC19_CompressedBodies(t *testing.T) {
	const text = "an order with enough repetition: orders orders orders orders orders"
	flags := map[string]SysFlag{
		"no type bits": FlagCompressed, "lz4": SysFlag(0).WithCompression(CompressLZ4),
		"zstd": SysFlag(0).WithCompression(CompressZstd), "zlib": SysFlag(0).WithCompression(CompressZlib),
	}
	for name, flag := range flags {
		c, _ := flag.Compression()
		packed, err := Compress(c, 0, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if c == CompressZlib && (packed[0] != 0x78 || (int(packed[0])<<8|int(packed[1]))%31 != 0) {
			t.Errorf("%s: stream starts % x, not with a zlib header", name, packed[:2])
		}
		damaged := bytes.Clone(packed)
		damaged[len(damaged)/2] ^= 0x55
		body := AppendMessage(nil, &MessageExt{Topic: "T", SysFlag: flag, Body: packed})
		body = AppendMessage(body, &MessageExt{Topic: "T", SysFlag: flag, Body: damaged, QueueOffset: 1})
		body = AppendMessage(body, &MessageExt{Topic: "T", Body: []byte("plain"), QueueOffset: 2})
		got, err := DecodeMessages(body, DecodeOptions{})
		if err != nil || len(got) != 3 {
			t.Fatalf("%s: %d messages, %v", name, len(got), err)
		}
		if string(got[0].Body) != text || got[0].BodyErr != nil || !bytes.Equal(got[0].StoredBody, packed) {
			t.Errorf("%s: %q, %v", name, got[0].Body, got[0].BodyErr)
		}
		if !errors.Is(got[1].BodyErr, ErrDamagedBody) || !bytes.Equal(got[1].Body, damaged) {
			t.Errorf("%s: damaged stream gives %q, %v", name, got[1].Body, got[1].BodyErr)
		}
		if string(got[2].Body) != "plain" {
			t.Errorf("%s: the message after a damaged one is %q", name, got[2].Body)
		}
	}
}

func TestCompressedFixtures(t *testing.T) {
	_, answer := fixture(t, "pull_11_found")
	messages, err := DecodeMessages(answer.Body, DecodeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	packed := 0
	for _, m := range messages {
		if m.SysFlag&FlagCompressed != 0 {
			packed++
			if m.BodyErr != nil || len(m.Body) <= len(m.StoredBody) || strings.Trim(string(m.Body), string(m.Body[:1])) != "" {
				t.Errorf("offset %d: %.40q, %v", m.QueueOffset, m.Body, m.BodyErr)
			}
		}
	}
	if packed != 2 {
		t.Errorf("%d compressed messages, want the one with type bits and the one without", packed)
	}
}

func TestDamagedStreams(t *testing.T) {
	body := make([]byte, 5000)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range body {
		body[i] = byte(rng.IntN(16))
	}
	for _, c := range packings {
		packed, err := Compress(c, 5, body)
		if err != nil {
			t.Fatal(err)
		}
		for name, stream := range map[string][]byte{
			"empty": nil, "one byte": packed[:1], "half": packed[:len(packed)/2], "no end": packed[:len(packed)-1],
			"gzip": append([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0}, packed...), "text": []byte("not packed at all"),
		} {
			if got, err := Decompress(c, stream, 0); !errors.Is(err, ErrDamagedBody) {
				t.Errorf("%s %s: %d bytes, %v", c, name, len(got), err)
			}
		}
		for i := 0; i < len(packed); i += 5 { // a damaged stream is an error or, rarely, other bytes; never a panic or too many of them
			damaged := bytes.Clone(packed)
			damaged[i] ^= 1 << (i % 8)
			if got, err := Decompress(c, damaged, len(body)); err == nil && len(got) > len(body) {
				t.Fatalf("%s: byte %d flipped gives %d bytes", c, i, len(got))
			}
		}
		if got, err := Decompress(c, packed, 0); err != nil || !bytes.Equal(got, body) {
			t.Errorf("%s: the whole stream after damaged ones: %v", c, err)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789"), 1000)
	for _, c := range packings {
		packed, err := Compress(c, 5, body)
		if err != nil {
			t.Fatal(err)
		}
		for _, limit := range []int{len(body), len(body) + 1, len(body) * 2, 0} {
			if got, err := Decompress(c, packed, limit); err != nil || !bytes.Equal(got, body) {
				t.Errorf("%s with limit %d: %d bytes, %v", c, limit, len(got), err)
			}
		}
		for _, limit := range []int{1, 100, len(body) - 1} {
			if got, err := Decompress(c, packed, limit); !errors.Is(err, ErrBodyTooLarge) || got != nil {
				t.Errorf("%s with limit %d: %d bytes, %v", c, limit, len(got), err)
			}
		}
	}
}

// bomb packs size zeros.
func bomb(tb testing.TB, c Compression, size int64) []byte {
	tb.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	var err error
	switch c {
	case CompressZlib:
		w, err = zlib.NewWriterLevel(&out, 6)
	case CompressLZ4:
		w = lz4.NewWriter(&out)
	default:
		w, err = zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1))
	}
	if err != nil {
		tb.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for ; size > 0; size -= int64(len(zeros)) {
		if _, err := w.Write(zeros); err != nil {
			tb.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

func TestZipBombs(t *testing.T) {
	for _, c := range packings {
		packed := bomb(t, c, 20<<20)
		boundMemory(t, 64<<20, 1, func() {
			if _, err := Decompress(c, packed, 0); !errors.Is(err, ErrBodyTooLarge) {
				t.Errorf("%s: %v", c, err)
			}
		})
		boundMemory(t, 24<<20, 1, func() { // an LZ4 block or a Zstd window
			if _, err := Decompress(c, packed, 100_000); !errors.Is(err, ErrBodyTooLarge) {
				t.Errorf("%s: %v", c, err)
			}
		})
		if _, err := Decompress(c, packed[:len(packed)/100], 0); err == nil {
			t.Errorf("%s: a cut bomb unpacks", c)
		}
	}
}

func TestLyingZstdSize(t *testing.T) {
	// A frame header that claims 2 GiB, and one that claims 15 MiB, with nothing behind.
	for _, frame := range [][]byte{
		{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x80, 1, 0, 0},
		{0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0xf0, 0, 1, 0, 0},
	} {
		if got := allocated(func() {
			if _, err := Decompress(CompressZstd, frame, 0); err == nil {
				t.Errorf("% x unpacks", frame)
			}
		}); got > 1<<20 {
			t.Errorf("% x takes %d bytes", frame, got)
		}
	}
}

func TestCompressionsAreConcurrent(t *testing.T) {
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			body := []byte(strings.Repeat(fmt.Sprintf("goroutine %d ", i), 500))
			for j := range 60 {
				c := packings[j%len(packings)]
				packed, err := Compress(c, 1+j%9, body)
				if err != nil {
					t.Error(err)
					return
				}
				limit := len(body) + j%3
				if got, err := Decompress(c, packed, limit); err != nil || !bytes.Equal(got, body) {
					t.Errorf("%s: %d bytes, %v", c, len(got), err)
					return
				}
			}
		})
	}
	wg.Wait()
}
