package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqctl/internal/safetext"
)

// foreign is a row whose every text comes from outside.
type foreign struct {
	Topic string            `json:"topic" col:"TOPIC"`
	Keys  []string          `json:"keys" col:"KEYS"`
	Props map[string]string `json:"properties" col:"PROPERTIES"`
	Any   any               `json:"any" col:"ANY"`
	N     int64             `json:"n" col:"N" unit:"count"`
	F     float64           `json:"f" col:"F"`
}

func hostile(t testing.TB) (all []string) {
	t.Helper()
	file, err := os.ReadFile("../safetext/testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		part := strings.Split(line, "\t")
		if len(part) != 3 {
			continue
		}
		s, err := strconv.Unquote(part[1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	if len(all) < 60 {
		t.Fatalf("only %d hostile strings", len(all))
	}
	return all
}

func foreignRow(s string) foreign {
	return foreign{Topic: s, Keys: []string{s, s}, Props: map[string]string{s: s, "k": s}, Any: s, N: -5, F: 0.5}
}

func TestHostileTextInEveryFormat(t *testing.T) {
	for _, s := range hostile(t) {
		row := foreignRow(s)
		doc := Document{
			Data: row, Rows: []foreign{row}, Head: []string{s}, Foot: []string{s},
			Sections: []Section{{Title: s, Rows: Grid{Columns: []Column{{Name: s, Title: s}}, Rows: [][]string{{s, s}}}, Lines: []string{s}}},
		}
		for _, f := range Formats() {
			for _, v := range []any{row, doc, Fields(row), Grid{Columns: []Column{{Name: s, Title: s}}, Rows: [][]string{{s}}}} {
				text := printed(t, f, v, Options{Human: true, Width: 60})
				if !safetext.IsSafeMultiline(text) || strings.ContainsRune(text, '\t') {
					t.Errorf("%s of %q is not safe: %q", f, s, text)
				}
			}
		}
	}
}

// TestSameDataInEveryFormat reads back what was written and compares.
func TestSameDataInEveryFormat(t *testing.T) {
	pieces := append(hostile(t), wideNames...)
	pieces = append(pieces, "", "true", "null", "~", "1e3", "0x1F", "2026-11-30", "a: b", "- a", "#", "x #y", " lead", "trail ", "a\"b", `\`, "=1+1", "'")
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.SampledFrom(pieces), rapid.String(), rapid.StringMatching(`[-+=@\w:#'" ]{0,6}`))
		rows := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) foreign {
			return foreign{
				Topic: text.Draw(rt, "topic"), Keys: rapid.SliceOf(text).Draw(rt, "keys"), Props: rapid.MapOf(text, text).Draw(rt, "props"),
				Any: text.Draw(rt, "any"), N: rapid.Int64().Draw(rt, "n"), F: rapid.Float64Range(-1e9, 1e9).Draw(rt, "f"),
			}
		})).Draw(rt, "rows")
		standard, err := json.Marshal(toPlain(rows))
		if err != nil {
			rt.Fatal(err)
		}
		var want, got any
		mustDecode(rt, standard, &want)
		mustDecode(rt, []byte(printed(t, FormatJSON, rows, Options{})), &got)
		if diff := cmp.Diff(want, got, cmp.Comparer(sameNumber)); diff != "" {
			rt.Fatalf("json: %s", diff)
		}
		lines := "[" + strings.ReplaceAll(strings.TrimSpace(printed(t, FormatJSONL, rows, Options{})), "\n", ",") + "]"
		mustDecode(rt, []byte(lines), &got)
		if diff := cmp.Diff(want, got, cmp.Comparer(sameNumber)); diff != "" {
			rt.Fatalf("jsonl: %s", diff)
		}
		compareYAML(rt, rows, want)
		compareCSV(rt, rows, printed(t, FormatCSV, rows, Options{}))
	})
}

// toPlain gives nil lists and maps the form they have here: empty.
func toPlain(rows []foreign) []foreign {
	out := []foreign{}
	for _, r := range rows {
		if r.Keys == nil {
			r.Keys = []string{}
		}
		// encoding/json would write keys twice that differ in invalid bytes only.
		props := map[string]string{}
		for k, v := range r.Props {
			props[string([]rune(k))] = v
		}
		r.Props = props
		out = append(out, r)
	}
	return out
}

func mustDecode(rt *rapid.T, text []byte, v *any) {
	*v = nil
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		rt.Fatalf("%s: %v", text, err)
	}
}

func compareYAML(rt *rapid.T, rows []foreign, want any) {
	var out bytes.Buffer
	if err := Write(&out, FormatYAML, rows, Options{}); err != nil {
		rt.Fatal(err)
	}
	var back any
	if err := yaml.Unmarshal(out.Bytes(), &back); err != nil {
		rt.Fatalf("%s: %v", out.String(), err)
	}
	text, err := json.Marshal(back)
	if err != nil {
		rt.Fatal(err)
	}
	var got any
	mustDecode(rt, text, &got)
	if diff := cmp.Diff(want, got, cmp.Comparer(sameNumber)); diff != "" {
		rt.Fatalf("yaml: %s\n%s", diff, out.String())
	}
}

func sameNumber(a, b json.Number) bool {
	x, errX := a.Float64()
	y, errY := b.Float64()
	return errX == nil && errY == nil && x == y
}

func compareCSV(rt *rapid.T, rows []foreign, text string) {
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(lines) != len(rows)+1 {
		rt.Fatalf("%q: %d lines, %v", text, len(lines), err)
	}
	for i, r := range rows {
		cells := lines[i+1]
		if cells[0] != safetext.CSVCell(r.Topic) || cells[4] != strconv.FormatInt(r.N, 10) {
			rt.Fatalf("row %+v is %q", r, cells)
		}
		for _, cell := range append(cells[:4:4], cells[0]) {
			if cell != "" && strings.ContainsRune("=+-@", rune(cell[0])) {
				rt.Fatalf("cell %q is a formula", cell)
			}
		}
	}
}
