package format

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func sample() *protocol.MessageExt {
	body := []byte("hello\nworld")
	return &protocol.MessageExt{
		Topic: "orders", BrokerName: "broker-a", QueueID: 3, QueueOffset: 1204118, CommitLogOffset: 1024, Flag: 7,
		BornTimestamp: 1732946400123, BornHost: netip.MustParseAddrPort("10.4.2.17:51000"),
		StoreTimestamp: 1732946400456, StoreHost: netip.MustParseAddrPort("127.0.0.1:10091"), ReconsumeTimes: 2,
		Body: body, StoredBody: body,
		RawProperties: protocol.Properties{
			{Name: "KEYS", Value: "k1 k2"}, {Name: "TAGS", Value: "full"}, {Name: "UNIQ_KEY", Value: "AC1100020001"},
			{Name: "a", Value: "1"}, {Name: "b", Value: "x\x1by"},
		}.AppendTo(nil),
	}
}

func TestFormatPrintsEveryVerb(t *testing.T) {
	cases := []struct{ spec, exact, safe string }{
		{"%t %b/%q %o", "orders broker-a/3 1204118", ""},
		{"%k|%g|%m|%M", "k1 k2|full|AC1100020001|7F0000010000276B0000000000000400", ""},
		{"%d %s", "2024-11-30T06:00:00.123Z 2024-11-30T06:00:00.456Z", ""},
		{"%d{ms}", "1732946400123", ""},
		{"%r %V %i", "2 11 42", ""},
		{`%v\n`, "hello\nworld\n", ""},
		{"%v{hex}", "68656c6c6f0a776f726c64", ""},
		{"%v{base64}", "aGVsbG8Kd29ybGQ=", ""},
		{"%v{json}", `"hello\nworld"`, ""},
		{"%g{hex}", "66756c6c", ""},
		{"%h{%k=%v;}", "a=1;b=x\x1by;", `a=1;b=x\x1by;`},
		{"%h{ %k{hex}:%v{json}}", ` 61:"1" 62:"x\u001by"`, ""},
		{"%h{%k%}%{%v,}", "a}{1,b}{x\x1by,", `a}{1,b}{x\x1by,`},
		{`100%%\t%{%}\\ \x41\x1e`, "100%\t{}\\ A\x1e", ""},
		{"", "", ""},
	}
	for _, c := range cases {
		f, err := Parse(c.spec)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.spec, err)
			continue
		}
		if c.safe == "" {
			c.safe = c.exact
		}
		if got := string(f.Append([]byte("<"), sample(), 42, false)); got != "<"+c.exact {
			t.Errorf("%q exact: %q, want %q", c.spec, got, "<"+c.exact)
		}
		if got := string(f.Append(nil, sample(), 42, true)); got != c.safe {
			t.Errorf("%q safe: %q, want %q", c.spec, got, c.safe)
		}
	}
}

func TestFormatErrorsSayWhere(t *testing.T) {
	cases := map[string]string{
		"%x":          "unknown verb %x",
		"abc%":        "at character 4: a single % at the end",
		`a\`:          "at character 2",
		`\q`:          "unknown escape",
		`\x4`:         "two hex digits",
		"%v{gzip}":    "unknown modifier {gzip}",
		"%v{hex":      "not closed",
		"%q{hex}":     "%q does not take {hex}",
		"%v{ms}":      "%v does not take {ms}",
		"%d{hex}":     "%d does not take {hex}",
		"%h":          "%h{%k=%v }",
		"%h{%k=%v":    "not closed",
		"%h{%t}":      "inside %h{…}",
		"%h{%h{%k}}":  "inside %h{…}",
		"%k %v{json ": "not closed",
	}
	for spec, want := range cases {
		_, err := Parse(spec)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", spec, err, want)
		}
	}
}

func TestFormatWithoutPropertiesPrintsNothingForThem(t *testing.T) {
	f, err := Parse("[%k][%g][%h{%k}]%m")
	if err != nil {
		t.Fatal(err)
	}
	m := sample()
	m.RawProperties = nil
	if got, want := string(f.Append(nil, m, 1, false)), "[][][]"+m.OffsetID(); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSafeFormatLetsNoControlThrough(t *testing.T) {
	f, err := Parse("%t%b%k%g%m%v%h{%k%v}")
	if err != nil {
		t.Fatal(err)
	}
	evil := "\x1b]0;x\x07\u202e\x9b\r"
	m := sample()
	m.Topic, m.BrokerName, m.Body = evil, evil, []byte(evil)
	m.RawProperties = protocol.Properties{
		{Name: "KEYS", Value: evil}, {Name: "TAGS", Value: evil}, {Name: "UNIQ_KEY", Value: evil}, {Name: evil, Value: evil},
	}.AppendTo(nil)
	got := string(f.Append(nil, m, 1, true))
	if strings.ContainsAny(got, "\x1b\x07\r\u202e") || strings.Contains(got, "\x9b") {
		t.Errorf("controls reach the terminal: %q", got)
	}
	if n := strings.Count(got, `\x1b]0;x`); n != 8 {
		t.Errorf("%d of 8 values shown: %q", n, got)
	}
}

func TestLastOfSeveralPropertiesCounts(t *testing.T) {
	raw := []byte("a\x011\x02b\x012\x02a\x013\x02\x02x\x02=\x01\x02c\x01\x02")
	want := []pair{{"b", "2"}, {"a", "3"}}
	if got := appendPairs(nil, raw); cmp.Diff(want, got, cmp.AllowUnexported(pair{})) != "" {
		t.Errorf("got %v, want %v", got, want)
	}
	var many []byte
	for range 50 {
		many = append(many, raw...)
	}
	if got := appendPairs(nil, many); cmp.Diff(want, got, cmp.AllowUnexported(pair{})) != "" {
		t.Errorf("many: got %v, want %v", got, want)
	}
}
