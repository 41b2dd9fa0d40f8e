package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqctl/internal/protocol"
)

func TestEnvelopeText(t *testing.T) {
	got := string(AppendJSONL(nil, sample()))
	want := `{"topic":"orders","broker":"broker-a","queue_id":3,"offset":1204118,"message_id":"AC1100020001",` +
		`"offset_message_id":"7F0000010000276B0000000000000400","tags":"full","keys":"k1 k2","flag":7,` +
		`"properties":{"a":"1","b":"x\u001by"},"born_time":"2024-11-30T06:00:00.123Z","born_host":"10.4.2.17:51000",` +
		`"store_time":"2024-11-30T06:00:00.456Z","store_host":"127.0.0.1:10091","reconsume_times":2,` +
		`"body_size":11,"stored_size":11,"body":"hello\nworld"}` + "\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestEnvelopeOfWhatIsMissing(t *testing.T) {
	got := string(AppendJSON(nil, &protocol.MessageExt{Topic: "t"}))
	want := `{"topic":"t","broker":null,"queue_id":0,"offset":0,"message_id":"00000000000000000000000000000000",` +
		`"offset_message_id":"00000000000000000000000000000000","tags":null,"keys":null,"flag":0,"properties":{},` +
		`"born_time":null,"born_host":null,"store_time":null,"store_host":null,"reconsume_times":0,` +
		`"body_size":0,"stored_size":0,"body":""}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// decoded is one envelope as any JSON reader sees it.
func decoded(t *testing.T, m *protocol.MessageExt) map[string]any {
	t.Helper()
	line := AppendJSONL(nil, m)
	if bytes.Count(line, []byte{'\n'}) != 1 {
		t.Fatalf("not one line: %q", line)
	}
	var v map[string]any
	if err := json.Unmarshal(line, &v); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return v
}

func TestC28_BinaryBodyInJSON(t *testing.T) {
	m := sample()
	m.Body = []byte{0xFF, 0xFE, 0x00, 0x41}
	m.RawProperties = protocol.Properties{{Name: "good", Value: "text\nline"}, {Name: "bad", Value: "a\xffb"}}.AppendTo(nil)
	v := decoded(t, m)
	if v["body"] != "//4AQQ==" || v["body_encoding"] != "base64" {
		t.Errorf("body %v, encoding %v", v["body"], v["body_encoding"])
	}
	wantProps := map[string]any{"good": "text\nline", "bad": "a\ufffdb"}
	if diff := cmp.Diff(wantProps, v["properties"]); diff != "" {
		t.Error(diff)
	}
	wantExact := map[string]any{"bad": base64.StdEncoding.EncodeToString([]byte("a\xffb"))}
	if diff := cmp.Diff(wantExact, v["properties_base64"]); diff != "" {
		t.Error(diff)
	}
	m.Body = []byte("two\nlines\r\n")
	if v := decoded(t, m); v["body"] != "two\nlines\r\n" || v["body_encoding"] != nil {
		t.Errorf("text body %v, encoding %v", v["body"], v["body_encoding"])
	}
}

func TestC22_EmptyBodyIsEmptyNotNull(t *testing.T) {
	m := sample()
	for _, body := range [][]byte{nil, {}} {
		m.Body, m.StoredBody = body, body
		if v := decoded(t, m); v["body"] != "" || v["body_size"] != 0.0 {
			t.Errorf("body %#v, size %v", v["body"], v["body_size"])
		}
	}
	if _, err := readAll(t, "jsonl", `{"topic":"t"}`); err == nil || !strings.Contains(err.Error(), "no body") {
		t.Errorf("a missing body is not an empty one: %v", err)
	}
	got, err := readAll(t, "lines", "a\n\nb")
	if err != nil || len(got) != 3 || got[1].Body == nil || len(got[1].Body) != 0 {
		t.Errorf("lines: %v, %v", got, err)
	}
}

func TestUndecodableBodyIsMarkedAndNotSentAgain(t *testing.T) {
	m := sample()
	m.BodyErr = fmt.Errorf("%w: zlib", protocol.ErrDamagedBody)
	line := AppendJSONL(nil, m)
	if v := decoded(t, m); v["body_error"] != m.BodyErr.Error() {
		t.Errorf("body_error %v", v["body_error"])
	}
	if _, err := readAll(t, "jsonl", string(line)); err == nil || !strings.Contains(err.Error(), "line 1: its body could not be unpacked") {
		t.Errorf("error %v", err)
	}
}

func readAll(t testing.TB, in, text string) (all []*protocol.Message, err error) {
	t.Helper()
	rd, err := NewReader(strings.NewReader(text), in)
	if err != nil {
		t.Fatal(err)
	}
	for {
		m, err := rd.Read()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
}

// userProperties is what a user may set: those are what must survive.
func userProperties(raw []byte) map[string]string {
	set := map[string]string{}
	for _, p := range protocol.ParseProperties(raw) {
		if !Reserved(p.Name) {
			set[p.Name] = p.Value
		}
	}
	return set
}

func propertiesOf(m *protocol.Message) map[string]string {
	set := map[string]string{}
	for _, p := range m.Properties {
		set[p.Name] = p.Value
	}
	return set
}

// TestC28_JSONLRoundTrip: what consume writes and produce reads is the same message, byte by byte.
func TestC28_JSONLRoundTrip(t *testing.T) {
	names := []string{"TAGS", "KEYS", "UNIQ_KEY", "CLUSTER", "MSG_REGION", "TRACE_ON", "MIN_OFFSET", "MAX_OFFSET", "WAIT",
		"DELAY", "REAL_TOPIC", "__RMQ.TRANSIENT.x", "__SHARDINGKEY", "base64:x", "订单", "\xff", "a"}
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.Custom(func(t *rapid.T) string {
			if rapid.Bool().Draw(t, "text") {
				return rapid.String().Draw(t, "s")
			}
			return string(rapid.SliceOf(rapid.Byte()).Draw(t, "b"))
		})
		clean := strings.NewReplacer("\x01", "", "\x02", "")
		m := &protocol.MessageExt{Topic: "t", Flag: rapid.Int32().Draw(t, "flag"), Body: []byte(word.Draw(t, "body"))}
		var props protocol.Properties
		for range rapid.IntRange(0, 6).Draw(t, "properties") {
			name := rapid.OneOf(rapid.SampledFrom(names), word).Draw(t, "name")
			props = append(props, protocol.Property{Name: clean.Replace(name), Value: clean.Replace(word.Draw(t, "value"))})
		}
		m.RawProperties = props.AppendTo(nil)
		line := AppendJSONL(nil, m)
		if !utf8.Valid(line) {
			t.Fatalf("not UTF-8: %q", line)
		}
		rd, err := NewReader(bytes.NewReader(line), "jsonl")
		if err != nil {
			t.Fatal(err)
		}
		got, err := rd.Read()
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if got.Topic != "t" || got.Flag != m.Flag || !bytes.Equal(got.Body, m.Body) {
			t.Fatalf("%+v from %s", got, line)
		}
		if diff := cmp.Diff(userProperties(m.RawProperties), propertiesOf(got)); diff != "" {
			t.Fatalf("%s\n%s", line, diff)
		}
		if _, err := rd.Read(); err != io.EOF {
			t.Fatalf("after the last: %v", err)
		}
	})
}

func TestJSONLReaderRefusesWithReasons(t *testing.T) {
	cases := map[string]string{
		`[1]`:                                              "line 1: not a JSON object",
		`{"body":`:                                         "line 1: not valid JSON",
		`{"body":5}`:                                       `field "body": a JSON number`,
		`{"body":"x","properties":[]}`:                     "object of strings",
		`{"body":"x","properties":{"a":{}}}`:               `property "a" is not a string`,
		`{"body":"x","body_encoding":"rot13"}`:             `body_encoding "rot13"`,
		`{"body":"%","body_encoding":"base64"}`:            "not base64",
		`{"body":"x","properties_base64":{"a":"%"}}`:       `value of "a" is not base64`,
		`{"body":"x","properties_base64":{"base64:%":""}}`: "is not base64",
		"\n\n{}": "line 3: no body",
	}
	for text, want := range cases {
		_, err := readAll(t, "jsonl", text)
		var bad *InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestJSONLReaderGoesOnAfterABadLine(t *testing.T) {
	rd, err := NewReader(strings.NewReader("{}\n{\"body\":\"a\",\"properties\":{\"n\":5,\"b\":true,\"z\":null}}\r\n\n"), "jsonl")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rd.Read(); err == nil {
		t.Fatal("an empty object is no message")
	}
	m, err := rd.Read()
	if err != nil || string(m.Body) != "a" {
		t.Fatalf("%v, %v", m, err)
	}
	if diff := cmp.Diff(map[string]string{"n": "5", "b": "true"}, propertiesOf(m)); diff != "" {
		t.Error(diff)
	}
	if _, err := rd.Read(); err != io.EOF || rd.Count() != 3 {
		t.Errorf("%v after %d", err, rd.Count())
	}
}

func TestAppendJSONLCostsFewAllocations(t *testing.T) {
	m := sample()
	dst := make([]byte, 0, 4096)
	if n := testing.AllocsPerRun(100, func() { dst = AppendJSONL(dst[:0], m) }); n > 3 {
		t.Errorf("%v allocations a message", n)
	}
}

func BenchmarkAppendJSONL(b *testing.B) {
	m := sample()
	m.Body = []byte(strings.Repeat("payload ", 128))
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendJSONL(dst[:0], m)
	}
	b.SetBytes(int64(len(dst)))
}
