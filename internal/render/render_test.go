package render

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseFormat(t *testing.T) {
	for _, f := range Formats() {
		if got, err := ParseFormat(string(f)); got != f || err != nil {
			t.Errorf("ParseFormat(%q) = %q, %v", f, got, err)
		}
	}
	if _, err := ParseFormat("JSON"); err == nil || !strings.Contains(err.Error(), "jsonl") {
		t.Errorf("ParseFormat(JSON) = %v", err)
	}
	if !FormatWide.IsTable() || !FormatTable.IsTable() || FormatCSV.IsTable() {
		t.Error("IsTable is wrong")
	}
}

// code is a number with words, as response codes and verdicts are.
type code int32

func (c code) String() string {
	if c == 17 {
		return "TOPIC_NOT_EXIST"
	}
	return "code"
}

// secret hides itself in every form.
type secret string

func (secret) MarshalJSON() ([]byte, error) { return []byte(`"****"`), nil }

type address struct{ host string }

func (a address) MarshalText() ([]byte, error) { return []byte(a.host), nil }

type queue struct {
	Broker string `json:"broker"`
	ID     int    `json:"id"`
}

func (q queue) String() string { return q.Broker + "/0" }

type base struct {
	Group string `json:"group" col:"GROUP"`
	inner int
}

type Extra struct {
	More *int `json:"more" col:"MORE"`
}

type units struct {
	base
	*Extra
	Count    uint32          `json:"count" col:"COUNT" unit:"count"`
	Bytes    int64           `json:"bytes" col:"BYTES" unit:"bytes"`
	Plain    int             `json:"port" col:"PORT"`
	Ratio    float64         `json:"ratio" col:"RATIO"`
	Rate     float64         `json:"rate" col:"RATE" unit:"rate"`
	Age      time.Duration   `json:"age" col:"AGE" unit:"duration"`
	Elapsed  time.Duration   `json:"age_seconds" col:"S"`
	RT       time.Duration   `json:"rt_us" col:"US"`
	Millis   int64           `json:"idle" col:"IDLE" unit:"duration"`
	IntSec   int             `json:"ttl_s" col:"TTL" unit:"duration"`
	FloatSec float64         `json:"cpu_seconds" col:"CPU" unit:"duration"`
	At       time.Time       `json:"at" col:"AT"`
	AtMillis int64           `json:"stored" col:"STORED" unit:"time"`
	Never    int64           `json:"never" col:"NEVER" unit:"time"`
	Yes      bool            `json:"yes" col:"YES"`
	Code     code            `json:"code" col:"CODE"`
	Secret   secret          `json:"secret" col:"SECRET"`
	Address  address         `json:"address" col:"ADDRESS"`
	Queue    queue           `json:"queue" col:"QUEUE"`
	Queues   []queue         `json:"queues" col:"QUEUES"`
	Names    []string        `json:"names" col:"NAMES"`
	Props    map[int]bool    `json:"props" col:"PROPS"`
	Body     []byte          `json:"body" col:"BODY"`
	Raw      json.RawMessage `json:"raw" col:"RAW"`
	NaN      float64         `json:"nan" col:"NAN" unit:"rate"`
	Nil      any             `json:"nil" col:"NIL"`
	NilRate  *float64        `json:"nil_rate" col:"NRATE" unit:"rate" none:"-"`
	Empty    string          `json:"empty,omitempty" col:"EMPTY" none:"none"`
	NoList   []int           `json:"no_list,omitempty"`
	Untagged string
	Hidden   string `json:"-" col:"HIDDEN"`
	NoColumn string `json:"no_column" col:"-"`
}

func everyUnit() units {
	return units{
		base: base{Group: "g", inner: 1}, Count: 1234567, Bytes: 6 << 20, Plain: 10911, Ratio: 0.25, Rate: 1167.4999999,
		Age: 90 * time.Second, Elapsed: 1500 * time.Millisecond, RT: 2 * time.Millisecond, Millis: 68_000, IntSec: 120, FloatSec: 3700,
		At: time.Date(2026, 11, 30, 6, 2, 11, 123456789, time.UTC), AtMillis: 1_700_000_000_001, Yes: true, Code: 17, Secret: "canary",
		Address: address{"10.0.0.1"}, Queue: queue{"broker-a", 0}, Queues: []queue{{"b", 1}}, Names: []string{"x", "y"},
		Props: map[int]bool{2: true, 10: false}, Body: []byte{0xff, 0xfe}, Raw: json.RawMessage(`{"b":[1,2.50,18446744073709551615,1e400],"a":null}`),
		NaN: math.NaN(), NoList: []int{}, Untagged: "u", Hidden: "h", NoColumn: "n",
	}
}

// cells is a one-row table as title → text.
func cells(t *testing.T, v any, o Options) map[string]string {
	t.Helper()
	grid, err := NewGrid(v, true, o)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for i, c := range grid.Columns {
		all[c.Title] = grid.Rows[0][i]
	}
	return all
}

func TestUnitsForEyes(t *testing.T) {
	want := map[string]string{
		"GROUP": "g", "MORE": "?", "COUNT": "1,234,567", "BYTES": "6 MiB", "PORT": "10911", "RATIO": "0.25", "RATE": "1,167.5",
		"AGE": "1m30s", "S": "1s", "US": "<1s", "IDLE": "1m08s", "TTL": "2m00s", "CPU": "1h01m",
		"AT": "2026-11-30 14:02:11", "STORED": "2023-11-15 06:13:20", "NEVER": "?", "YES": "true", "CODE": "TOPIC_NOT_EXIST",
		"SECRET": "****", "ADDRESS": "10.0.0.1", "QUEUE": "broker-a/0", "QUEUES": `{"broker":"b","id":1}`, "NAMES": "x,y",
		"PROPS": "10=false,2=true", "BODY": "//4=", "RAW": `b=[1,2.5,18446744073709551615,"1e400"],a=`, "NAN": "?", "NIL": "?", "NRATE": "-",
		"EMPTY": "none", "HIDDEN": "h",
	}
	if diff := cmp.Diff(want, cells(t, everyUnit(), Options{Human: true, Location: shanghai})); diff != "" {
		t.Error(diff)
	}
}

func TestUnitsOffTheTerminal(t *testing.T) {
	got := cells(t, everyUnit(), Options{Location: shanghai})
	want := map[string]string{
		"COUNT": "1234567", "BYTES": "6291456", "RATIO": "0.25", "RATE": "1167.5", "AGE": "90000000000", "S": "1.5", "US": "2000",
		"IDLE": "68000", "TTL": "120", "CPU": "3700", "AT": "2026-11-30T14:02:11.123+08:00", "STORED": "2023-11-15T06:13:20.001+08:00",
		"NEVER": "?", "NAN": "?",
	}
	for title, text := range want {
		if got[title] != text {
			t.Errorf("%s is %q, want %q", title, got[title], text)
		}
	}
}

func TestUnitsInData(t *testing.T) {
	const want = `{"group":"g","more":null,"count":1234567,"bytes":6291456,"port":10911,"ratio":0.25,"rate":1167.5,"age":90000000000,` +
		`"age_seconds":1.5,"rt_us":2000,"idle":68000,"ttl_s":120,"cpu_seconds":3700,"at":"2026-11-30T06:02:11.123Z",` +
		`"stored":"2023-11-14T22:13:20.001Z","never":null,"yes":true,"code":"TOPIC_NOT_EXIST","secret":"****","address":"10.0.0.1",` +
		`"queue":{"broker":"broker-a","id":0},"queues":[{"broker":"b","id":1}],"names":["x","y"],"props":{"10":false,"2":true},` +
		`"body":"//4=","raw":{"b":[1,2.5,18446744073709551615,"1e400"],"a":null},"nan":null,"nil":null,"nil_rate":null,` +
		`"Untagged":"u","no_column":"n"}` + "\n"
	if diff := cmp.Diff(want, printed(t, FormatJSONL, everyUnit(), Options{Human: true})); diff != "" {
		t.Error(diff)
	}
	csv := printed(t, FormatCSV, everyUnit(), Options{NoHeader: true})
	const line = `g,,1234567,6291456,10911,0.25,1167.5,90000000000,1.5,2000,68000,120,3700,2026-11-30T06:02:11.123Z,2023-11-14T22:13:20.001Z,` +
		`,true,TOPIC_NOT_EXIST,****,10.0.0.1,broker-a,0,"[{""broker"":""b"",""id"":1}]","[""x"",""y""]","{""10"":false,""2"":true}",//4=,` +
		`"{""b"":[1,2.5,18446744073709551615,""1e400""],""a"":null}",,,,,,u,n` + "\n"
	if diff := cmp.Diff(line, csv); diff != "" {
		t.Error(diff)
	}
}

func TestAlignment(t *testing.T) {
	grid, err := NewGrid([]units{}, true, Options{})
	if err != nil {
		t.Fatal(err)
	}
	right := map[string]bool{}
	for _, c := range grid.Columns {
		right[c.Title] = c.Right
	}
	for _, title := range []string{"MORE", "COUNT", "BYTES", "PORT", "RATE", "AGE", "IDLE", "NRATE"} {
		if !right[title] {
			t.Errorf("%s is not aligned right", title)
		}
	}
	for _, title := range []string{"GROUP", "AT", "STORED", "YES", "CODE", "SECRET", "NAMES", "NIL"} {
		if right[title] {
			t.Errorf("%s is aligned right", title)
		}
	}
	type tags struct {
		A int    `json:"a" col:"A,left,drop=x"`
		B string `json:"b" col:"B,right,state"`
	}
	grid, err = NewGrid(tags{}, false, Options{})
	want := []Column{{Name: "a", Title: "A"}, {Name: "b", Title: "B", Right: true, State: true}}
	if diff := cmp.Diff(want, grid.Columns); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestC08_ThirteenDigitsKeepTheColumns(t *testing.T) {
	type lag struct {
		Queue     string `json:"queue" col:"QUEUE"`
		Committed *int64 `json:"committed" col:"COMMIT" unit:"count"`
		Max       int64  `json:"max" col:"MAX" unit:"count"`
		Lag       *int64 `json:"lag" col:"LAG" unit:"count"`
		Status    string `json:"status" col:"STATUS"`
	}
	rows := []lag{
		{"b/0", some[int64](500), 20, some[int64](0), "AHEAD"},
		{"b/1", some[int64](0), 9_000_000_000_000, some[int64](9_000_000_000_000), "LAGGING"},
		{"b/2", nil, 5, nil, "UNKNOWN"},
	}
	const want = "QUEUE  COMMIT                MAX                LAG  STATUS\n" +
		"b/0       500                 20                  0  AHEAD\n" +
		"b/1         0  9,000,000,000,000  9,000,000,000,000  LAGGING\n" +
		"b/2         ?                  5                  ?  UNKNOWN\n"
	if diff := cmp.Diff(want, printed(t, FormatTable, rows, Options{Human: true})); diff != "" {
		t.Error(diff)
	}
	const data = `{"queue":"b/2","committed":null,"max":5,"lag":null,"status":"UNKNOWN"}` + "\n"
	if got := printed(t, FormatJSONL, rows[2:], Options{}); got != data {
		t.Errorf("got %s", got)
	}
}

func TestRowsOfEveryShape(t *testing.T) {
	q := queue{"b", 1}
	type named struct {
		Name string `json:"name" col:"NAME"`
	}
	n := named{"x"}
	const one, two = "NAME\nx\n", "NAME\nx\nx\n"
	for text, shapes := range map[string][]any{
		one: {n, &n, []named{n}, []*named{&n, nil}, [1]named{n}, &[]named{n}, Table(n), &Document{Rows: n}, []any{n}},
		two: {[]any{&n, n}, []named{n, n}},
		"":  {[]any{}, Document{}},
	} {
		for _, v := range shapes {
			if got := printed(t, FormatTable, v, Options{}); got != text {
				t.Errorf("%T: %q, want %q", v, got, text)
			}
		}
	}
	if got := printed(t, FormatCSV, []any{}, Options{}); got != "" {
		t.Errorf("csv of nothing is %q", got)
	}
	if got := printed(t, FormatJSON, nil, Options{}) + printed(t, FormatYAML, map[string]any{"a": []any{}, "b": map[string]int{}, "c": []any{[]int{1, 2}}}, Options{}); got != "null\na: []\nb: {}\nc:\n  -\n    - 1\n    - 2\n" {
		t.Errorf("data of other shapes: %q", got)
	}
	if got := printed(t, FormatTable, []queue{q}, Options{}); got != "" {
		t.Errorf("a type without columns prints %q", got)
	}
}

func TestWhatCannotBeRows(t *testing.T) {
	mixed := []any{queue{}, code(1)}
	for _, v := range []any{5, "x", []int{1}, mixed, map[string]int{}, time.Now(), (*queue)(nil), Fields(5), Fields([]queue{}), Document{Sections: []Section{{Rows: 5}}}} {
		if err := Write(io.Discard, FormatTable, v, Options{}); err == nil {
			t.Errorf("%T was printed as a table", v)
		}
	}
	for _, v := range []any{5, []int{1}} {
		if err := Write(io.Discard, FormatCSV, v, Options{}); err == nil {
			t.Errorf("%T was printed as csv", v)
		}
	}
	if err := Write(io.Discard, "xml", queue{}, Options{}); err == nil {
		t.Error("xml was printed")
	}
}

type brokenWriter struct{ calls int }

var errBroken = errors.New("broken pipe")

func (w *brokenWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errBroken
}

func TestWriteErrorsComeBackAtOnce(t *testing.T) {
	for _, f := range Formats() {
		var w brokenWriter
		if err := Write(&w, f, incident(), Options{}); !errors.Is(err, errBroken) || w.calls != 1 {
			t.Errorf("%s: %v after %d writes", f, err, w.calls)
		}
	}
}

func TestNoTrailingSpaces(t *testing.T) {
	for _, o := range []Options{{}, {Human: true, Width: 30, Indent: 4}, {Indent: 2, NoHeader: true}} {
		for line := range strings.Lines(printed(t, FormatTable, wideRows(), o)) {
			if strings.HasSuffix(line, " \n") || !strings.HasPrefix(line, spaces(o.Indent)) {
				t.Errorf("%+v: %q", o, line)
			}
		}
	}
}

func TestColor(t *testing.T) {
	type row struct {
		Verdict string `json:"verdict" col:"VERDICT,state"`
		N       int    `json:"n" col:"N"`
	}
	rows := []row{{"OK", 1}, {"STALLED", 22}, {"OK\x1b[31m", 3}, {"new", 4}}
	const want = "\x1b[1mVERDICT\x1b[0m      \x1b[1mN\x1b[0m\n" +
		"\x1b[32mOK\x1b[0m           1\n\x1b[31mSTALLED\x1b[0m     22\nOK\\x1b[31m   3\nnew          4\n"
	if got := printed(t, FormatTable, rows, Options{Color: true}); got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if got := printed(t, FormatTable, rows, Options{}); strings.Contains(got, "\x1b") {
		t.Errorf("colour without Color: %q", got)
	}
	if got := (Options{Color: true}).State("PAUSED") + (Options{}).State("PAUSED"); got != "\x1b[33mPAUSED\x1b[0mPAUSED" {
		t.Errorf("State: %q", got)
	}
	page := Document{Head: []string{"g   CRITICAL, 1 OK: fine 5 ?"}}
	if got := printed(t, FormatTable, page, Options{Color: true}); got != "g   \x1b[31mCRITICAL\x1b[0m, 1 \x1b[32mOK\x1b[0m: fine 5 ?\n" {
		t.Errorf("Head: %q", got)
	}
}

func TestHumanNumbers(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0", 1: "<1s", 999 * time.Millisecond: "<1s", time.Second: "1s", 59*time.Second + 999*time.Millisecond: "59s",
		time.Minute: "1m00s", 38*time.Minute + 12*time.Second: "38m12s", time.Hour: "1h00m", 24*time.Hour + 2*time.Minute: "24h02m",
		48 * time.Hour: "2d 0h", 146 * time.Hour: "6d 2h", -time.Millisecond: "<1s", -68 * time.Second: "-1m08s",
		math.MinInt64: "-106751d 23h", math.MaxInt64: "106751d 23h",
	} {
		if got := Duration(d); got != want {
			t.Errorf("Duration(%d) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0 B", 1: "1 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 10 << 10: "10 KiB", 10<<10 + 512: "10 KiB", 6 << 20: "6 MiB",
		5138022: "4.9 MiB", 1<<20 - 1: "1 MiB", 1000 << 20: "1000 MiB", 1 << 30: "1 GiB", math.MaxInt64: "8 EiB", -2048: "-2 KiB", math.MinInt64: "-8 EiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("Bytes(%d) = %q, want %q", n, got, want)
		}
	}
	for n, want := range map[int64]string{
		0: "0", 999: "999", 1000: "1,000", 52984: "52,984", 1252250: "1,252,250", -1: "-1", -100: "-100", -1000: "-1,000",
		math.MaxInt64: "9,223,372,036,854,775,807", math.MinInt64: "-9,223,372,036,854,775,808",
	} {
		if got := Count(n); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
	for f, want := range map[float64]string{0: "0.0", 167.5: "167.5", 21: "21.0", 1234567.25: "1,234,567.2", -0.5: "-0.5", math.Inf(1): "?"} {
		if got := PerSecond(f); got != want {
			t.Errorf("PerSecond(%v) = %q, want %q", f, got, want)
		}
	}
	if PerSecond(math.NaN()) != "?" {
		t.Error("NaN is a rate")
	}
}

func BenchmarkTable(b *testing.B) {
	rows := make([]lagRow, 0, 1000)
	for len(rows) < 1000 {
		rows = append(rows, incident()[0])
	}
	for _, f := range []Format{FormatTable, FormatJSON, FormatCSV} {
		b.Run(string(f), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := Write(io.Discard, f, rows, Options{Human: true}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
