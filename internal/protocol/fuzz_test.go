package protocol

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// heapAllocated is how many bytes the process has ever taken from the heap. It is cheaper than runtime.ReadMemStats and
// counts small objects by the span, which is exact enough here.
func heapAllocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// boundMemory fails when f takes more than factor times size and 64 KiB. Sometimes others allocate meanwhile, so only an
// excess that shows again counts.
func boundMemory(t *testing.T, size, factor int, f func()) {
	t.Helper()
	limit := uint64(factor*size + 128<<10) // 64 KiB more than is allowed: that much may be taken in advance, span by span
	var got uint64
	for range 3 {
		before := heapAllocated()
		f()
		if got = heapAllocated() - before; got <= limit {
			return
		}
	}
	t.Errorf("%d bytes of memory for an input of %d", got, size)
}

// seedFrames gives f every header, or every body, of the fixtures that keep accepts.
func seedFrames(f *testing.F, part func(frame []byte, c *Command) []byte) {
	for _, x := range loadFixtures(f) {
		for _, frame := range x.frames() {
			if b := part(frame, mustFrame(f, frame)); b != nil {
				f.Add(b)
			}
		}
	}
}

func headerOf(st SerializeType) func([]byte, *Command) []byte {
	return func(frame []byte, c *Command) []byte {
		if c.Serialize != st {
			return nil
		}
		return frame[FramePrefixSize : len(frame)-len(c.Body)]
	}
}

// headerFactor is for headers, in which a field of six bytes becomes an ExtField of 32 in a list that grows.
const headerFactor = 16

func FuzzFrame(f *testing.F) {
	seedFrames(f, func(frame []byte, _ *Command) []byte { return frame })
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1})
	f.Fuzz(func(t *testing.T, frame []byte) {
		var c *Command
		var err error
		boundMemory(t, len(frame), headerFactor, func() { c, err = DecodeFrame(frame) })
		if err == nil {
			checkCommand(t, c)
		}
	})
}

func FuzzJSONHeader(f *testing.F) {
	seedFrames(f, headerOf(SerializeJSON))
	f.Fuzz(func(t *testing.T, header []byte) { fuzzHeader(t, SerializeJSON, header) })
}

func FuzzBinaryHeader(f *testing.F) {
	seedFrames(f, headerOf(SerializeRocketMQ))
	f.Fuzz(func(t *testing.T, header []byte) { fuzzHeader(t, SerializeRocketMQ, header) })
}

func fuzzHeader(t *testing.T, st SerializeType, header []byte) {
	c := &Command{}
	var err error
	boundMemory(t, len(header), headerFactor, func() { *c = Command{}; err = c.DecodeHeaderBytes(st, header) })
	if err != nil {
		return
	}
	checkCommand(t, c)
	for _, w := range wireCases {
		for _, h := range []any{w.request, w.response} {
			if h != nil {
				_ = c.DecodeHeader(h)
			}
		}
	}
}

// checkCommand writes what was read and reads it again.
func checkCommand(t *testing.T, c *Command) {
	frame, err := AppendFrame(nil, c)
	if err != nil {
		return // names of fields that no writer would use
	}
	again, err := DecodeFrame(frame)
	if err != nil {
		t.Fatalf("%v in %q", err, frame)
	}
	if again.Code != c.Code || again.Opaque != c.Opaque || again.Remark != c.Remark || !slices.Equal(again.Ext, c.Ext) || !bytes.Equal(again.Body, c.Body) {
		t.Errorf("differs after a round trip (-was +now):\n%s", cmp.Diff(c, again))
	}
}

func bodyPart(_ []byte, c *Command) []byte { return c.Body }

func FuzzStrictJSON(f *testing.F) {
	seedFrames(f, bodyPart)
	for _, text := range malformedJSON {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var strict []byte
		var err error
		boundMemory(t, len(text), memoryFactor, func() { strict, err = StrictJSON(text) })
		if err != nil {
			if json.Valid(text) && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) <= maxBodyDepth {
				t.Fatalf("%v in valid JSON %q", err, text)
			}
			return
		}
		if !json.Valid(strict) {
			t.Fatalf("%q became %q", text, strict)
		}
		again, err := StrictJSON(strict)
		if err != nil || !bytes.Equal(again, strict) {
			t.Fatalf("%q became %q, %v", strict, again, err)
		}
		if json.Valid(text) {
			var was, now any
			if json.Unmarshal(text, &was) == nil && (json.Unmarshal(strict, &now) != nil || !cmp.Equal(was, now)) {
				t.Fatalf("%q became %q", text, strict)
			}
		}
	})
}

func FuzzBodies(f *testing.F) {
	for i := range bodyDecoders {
		for _, x := range loadFixtures(f) {
			for _, frame := range x.frames() {
				if c := mustFrame(f, frame); len(c.Body) > 0 && c.Body[0] == '{' {
					f.Add(uint8(i), c.Body)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		d := bodyDecoders[int(which)%len(bodyDecoders)]
		var v encoder
		var err error
		boundMemory(t, len(text), memoryFactor, func() { v, err = d.decode(text) })
		if err != nil {
			return
		}
		first := v.Encode()
		again, err := d.decode(first)
		if err != nil && !strings.Contains(err.Error(), "in memory") { // absent fields take no text
			t.Fatalf("%s: %v in %q", d.name, err, first)
		}
		if err == nil && !bytes.Equal(again.Encode(), first) {
			t.Fatalf("%s: %q became %q", d.name, first, again.Encode())
		}
	})
}

func FuzzMessages(f *testing.F) {
	seedFrames(f, bodyPart)
	for _, c := range packings {
		f.Add(innerBatch(f, 10, 3, c))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		packed, err := DecodeMessages(body, DecodeOptions{KeepPacked: true})
		whole := err == nil
		var again []byte
		for i := range packed {
			m := &packed[i]
			if m.BodyErr != nil || m.SysFlag != hostFlags(m) {
				whole = false // damaged, or a host of the other family than its flag says
				continue
			}
			again = AppendMessage(again, m)
			_, _, _ = m.MessageID(), m.Properties(), m.MessageQueue()
		}
		if back, err := DecodeMessages(again, DecodeOptions{KeepPacked: true}); err != nil || whole && len(back) != len(packed) {
			t.Fatalf("%d messages became %d, %v", len(packed), len(back), err)
		}
		for _, m := range must(DecodeMessages(body, DecodeOptions{MaxBody: 1 << 16, MinOffset: 11})) {
			if m.BodyErr == nil && m.SysFlag&FlagCompressed != 0 && len(m.Body) > 1<<16 {
				t.Fatalf("body of %d bytes", len(m.Body))
			}
		}
	})
}

// must drops an error: what was read before it is looked at all the same.
func must[T any](v T, _ error) T { return v }

func FuzzBatch(f *testing.F) {
	seedFrames(f, func(_ []byte, c *Command) []byte {
		if c.RequestCode() != SendBatchMessage {
			return nil
		}
		return c.Body
	})
	f.Fuzz(func(t *testing.T, body []byte) {
		var parts []BatchPart
		var err error
		boundMemory(t, len(body), memoryFactor, func() { parts, err = DecodeBatch(body) })
		if err != nil {
			return
		}
		var messages []Message
		for _, p := range parts {
			messages = append(messages, Message{Flag: p.Flag, Body: p.Body, Properties: ParseProperties(p.RawProperties)})
		}
		b, err := EncodeBatch(messages)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeBatch(b)
		if err != nil || len(again) != len(parts) {
			t.Fatalf("%d parts became %d, %v", len(parts), len(again), err)
		}
	})
}

func FuzzProperties(f *testing.F) {
	f.Add([]byte("TAGS\x01a\x02KEYS\x01k1 k2\x02"))
	f.Add([]byte("\x01\x02=\x01\x01\x02\x02"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := ParseProperties(raw)
		if again := ParseProperties([]byte(p.String())); !slices.Equal(p, again) {
			t.Fatalf("%q became %q", p, again)
		}
		for _, x := range p {
			want, _ := p.Get(x.Name)
			if got, ok := lookupProperty(raw, x.Name); !ok || string(got) != want {
				t.Fatalf("%q: %q found, %q parsed", x.Name, got, want)
			}
		}
	})
}

func FuzzMessageIDs(f *testing.F) {
	f.Add("7F0000010000276B0000000000000400")
	f.Add("20010DB800000000000000000000000A0000FFFF7FFFFFFFFFFFFFFF")
	f.Add("C000020278F5000000009802fe480001")
	now := time.UnixMilli(1796040938178)
	f.Fuzz(func(t *testing.T, id string) {
		upper := strings.ToUpper(id)
		if addr, offset, err := DecodeOffsetID(id); err == nil {
			if got := EncodeOffsetID(addr, offset); got != upper && !addr.Addr().Is4In6() {
				t.Fatalf("%s became %s", id, got)
			}
		} else if strings.Contains(err.Error(), "\n") {
			t.Fatalf("not one line: %v", err)
		}
		if u, err := DecodeUniqueID(id); err == nil {
			if got := u.String(); got != upper && !u.IP.Is4In6() {
				t.Fatalf("%s became %s", id, got)
			}
			if born := u.BornTime(now); born.After(now) && u.Elapsed < 28*24*3600*1000 {
				t.Fatalf("%s is born at %s, after %s", id, born, now)
			}
		}
	})
}

func FuzzDecompress(f *testing.F) {
	for i := range packings {
		packed, err := Compress(packings[i], 5, []byte(strings.Repeat("text ", 100)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint8(i), packed)
	}
	const limit = 1 << 16
	f.Fuzz(func(t *testing.T, which uint8, stored []byte) {
		c := packings[int(which)%len(packings)]
		body, err := Decompress(c, stored, limit)
		if len(body) > limit || err != nil && body != nil {
			t.Fatalf("%s: %d bytes, %v", c, len(body), err)
		}
	})
}

func FuzzSubscription(f *testing.F) {
	f.Add("a||b || c")
	f.Fuzz(func(t *testing.T, expression string) {
		s, err := NewSubscription("T", expression, time.UnixMilli(1))
		if err != nil {
			return
		}
		for _, tag := range s.TagsSet {
			if !s.Match([]byte(tag)) || !s.MatchCode(HashString(tag)) || strings.TrimSpace(tag) != tag || tag == "" {
				t.Fatalf("tag %q of %q", tag, expression)
			}
		}
		if again, err := NewSubscription("T", strings.Join(s.TagsSet, " || "), time.UnixMilli(1)); err != nil || !slices.Equal(again.TagsSet, s.TagsSet) {
			if !slices.Equal(s.TagsSet, []string{SubscribeAll}) { // one tag of * is every message
				t.Fatalf("%q became %q, %v", s.TagsSet, again.TagsSet, err)
			}
		}
	})
}

func FuzzUniqueIDs(f *testing.F) {
	f.Add([]byte{192, 0, 2, 1}, 7, uint32(9), int64(1796040938178))
	f.Fuzz(func(t *testing.T, ip []byte, pid int, client uint32, ms int64) {
		addr, _ := netip.AddrFromSlice(ip)
		at := time.UnixMilli(ms % (1 << 50))
		u, err := DecodeUniqueID(NewUniqueIDs(addr, pid, client).Next(at))
		if err != nil || u.PID != uint16(pid) || u.Loader != client || !u.BornTime(at).Equal(at.Truncate(time.Millisecond)) {
			t.Fatalf("%+v, %v", u, err)
		}
	})
}
