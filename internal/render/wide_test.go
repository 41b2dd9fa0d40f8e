package render

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// name is a row with foreign text in the middle, where a wrong width shows.
type name struct {
	Broker string `json:"broker" col:"BROKER"`
	Queue  int    `json:"queue" col:"QUEUE"`
	Group  string `json:"group" col:"组"`
	Note   string `json:"note" col:"NOTE"`
}

var wideNames = []string{
	"broker-a", "broker-中文", "订单主题", "ＡＢＣ１２３", "전각 이름", "e\u0301te\u0301", "नि", "👨‍👩‍👧‍👦", "family 👨‍👩‍👧‍👦 x",
	"🇩🇪🇨🇳", "❤️", "1️⃣", "👍🏽", "ｱｲｳ", "…–", "ไทย", "", "\u0301", "\u202eabc", "a\u200db", "\x1b[31m",
}

func wideRows() (rows []name) {
	for i, s := range wideNames {
		rows = append(rows, name{s, i * i, wideNames[len(wideNames)-1-i], s})
	}
	return rows
}

func TestC31_WidthOfClusters(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "订单": 4, "ＡＢ": 4, "ｱ": 1, "e\u0301": 1, "👨‍👩‍👧‍👦": 2, "👍🏽": 2, "🏳️‍🌈": 2, "❤️": 2, "❤": 1,
		"🇩🇪": 2, "🇩🇪🇨🇳": 4, "1️⃣": 2, "한글": 4, "…": 1, "▁█": 2, "\x1b[31mred\x1b[0m": 3,
	} {
		if got := Width(s); got != want {
			t.Errorf("Width(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestC31_TruncateNeverSplits(t *testing.T) {
	cases := []struct {
		in    string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"abcd", 1, "…"}, {"abcd", 0, ""}, {"abcd", -1, ""},
		{"订单主题", 8, "订单主题"}, {"订单主题", 7, "订单主…"}, {"订单主题", 6, "订单…"}, {"订单主题", 2, "…"},
		{"a👨‍👩‍👧‍👦b", 3, "a…"}, {"a👨‍👩‍👧‍👦b", 4, "a👨‍👩‍👧‍👦b"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"🇩🇪🇨🇳", 3, "🇩🇪…"},
		{"1️⃣broker-a", 2, "…"}, {"1️⃣broker-a", 3, "1️⃣…"}, {"\x1b[31mabcd\x1b[0m", 3, "\x1b[31mab…\x1b[0m"},
	}
	for _, c := range cases {
		if got := Truncate(c.in, c.width); got != c.want {
			t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.SampledFrom(wideNames[:16])).Draw(rt, "s"), "")
		width := rapid.IntRange(0, 40).Draw(rt, "width")
		got := Truncate(s, width)
		if Width(got) > width || !strings.HasPrefix(s, strings.TrimSuffix(got, ellipsis)) {
			rt.Fatalf("Truncate(%q, %d) = %q of width %d", s, width, got, Width(got))
		}
	})
}

func TestPad(t *testing.T) {
	if got := PadRight("订单", 6) + "|" + PadLeft("订单", 6) + "|" + PadLeft("订单", 3) + "|" + PadRight("x", 0); got != "订单  |  订单|订单|x" {
		t.Errorf("padded: %q", got)
	}
}

func TestC31_ColumnsLineUp(t *testing.T) {
	for _, width := range []int{0, 60, 40, 30} {
		text := printed(t, FormatTable, wideRows(), Options{Human: true, Width: width})
		grid, err := NewGrid(wideRows(), false, Options{Human: true})
		if err != nil {
			t.Fatal(err)
		}
		widths := grid.fit(width)
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if len(lines) != len(wideNames)+1 {
			t.Fatalf("%d lines", len(lines))
		}
		for i, row := range grid.Rows {
			want := strings.TrimRight(PadRight(Truncate(row[0], widths[0]), widths[0])+"  "+PadLeft(row[1], widths[1])+"  "+
				PadRight(Truncate(row[2], widths[2]), widths[2])+"  "+Truncate(row[3], widths[3]), " ")
			if width > 0 {
				want = Truncate(want, width)
			}
			if lines[i+1] != want {
				t.Errorf("width %d:\n got %q\nwant %q", width, lines[i+1], want)
			}
			// The second column ends at the same cell in every row.
			end := strings.Index(lines[i+1], "  "+PadLeft(row[1], widths[1]))
			if got := Width(lines[i+1][:end]); got != widths[0] {
				t.Errorf("width %d: the first column of %q takes %d cells, want %d", width, lines[i+1], got, widths[0])
			}
		}
	}
}

func TestC31_JSONIsUnaffected(t *testing.T) {
	for _, width := range []int{0, 10} {
		var back []name
		text := printed(t, FormatJSON, wideRows(), Options{Human: true, Width: width})
		if err := json.Unmarshal([]byte(text), &back); err != nil {
			t.Fatal(err)
		}
		for i, s := range wideNames {
			if back[i].Broker != s || back[i].Note != s {
				t.Errorf("%q came back as %q", s, back[i].Broker)
			}
		}
	}
}

func TestC31_RowsOfOtherLengths(t *testing.T) {
	grid := Grid{
		Columns: []Column{{Name: "a", Title: "A"}, {Name: "b", Title: "B", Right: true}, {Title: "WIDE", Wide: true}},
		Rows:    [][]string{{"1"}, {}, {"x", "22", "w", "more\x1b", "yet"}, nil, {"中文", "3"}},
	}
	want := map[Format]string{
		FormatTable: "A      B\n1\n\nx     22  more\\x1b  yet\n\n中文   3\n",
		FormatWide:  "A      B  WIDE\n1\n\nx     22  w     more\\x1b  yet\n\n中文   3\n",
		FormatJSONL: `{"a":"1","b":null,"WIDE":null,"column_4":null,"column_5":null}` + "\n" +
			`{"a":null,"b":null,"WIDE":null,"column_4":null,"column_5":null}` + "\n" +
			`{"a":"x","b":"22","WIDE":"w","column_4":"more\u001b","column_5":"yet"}` + "\n" +
			`{"a":null,"b":null,"WIDE":null,"column_4":null,"column_5":null}` + "\n" +
			`{"a":"中文","b":"3","WIDE":null,"column_4":null,"column_5":null}` + "\n",
		FormatCSV: "a,b,WIDE,column_4,column_5\n1,,,,\n,,,,\nx,22,w,more\\x1b,yet\n,,,,\n中文,3,,,\n",
	}
	for f, text := range want {
		if got := printed(t, f, grid, Options{}); got != text {
			t.Errorf("%s:\n got %q\nwant %q", f, got, text)
		}
	}
	for width := range 20 {
		printed(t, FormatTable, grid, Options{Human: true, Width: width})
	}
	if got := printed(t, FormatTable, Grid{}, Options{}) + printed(t, FormatTable, Grid{Rows: [][]string{nil}}, Options{}); got != "" {
		t.Errorf("grids without columns print %q", got)
	}
}

func TestFitNarrowsTheWidestTextFirst(t *testing.T) {
	grid := Grid{Columns: []Column{{Title: "A"}, {Title: "B"}, {Title: "N", Right: true}, {Title: "C"}}}
	row := func(a, b, n, c int) []string {
		return []string{strings.Repeat("a", a), strings.Repeat("b", b), strings.Repeat("1", n), strings.Repeat("c", c)}
	}
	for _, c := range []struct {
		row   []string
		limit int
		want  [4]int
	}{
		{row(30, 20, 10, 5), 100, [4]int{30, 20, 10, 5}},
		{row(30, 20, 10, 5), 71, [4]int{30, 20, 10, 5}},
		{row(30, 20, 10, 5), 66, [4]int{25, 20, 10, 5}},
		{row(30, 20, 10, 5), 59, [4]int{19, 19, 10, 5}},
		{row(30, 20, 10, 5), 20, [4]int{8, 8, 10, 5}},
		{row(20, 20, 10, 20), 66, [4]int{16, 17, 10, 17}},
	} {
		g := grid
		g.Rows = [][]string{c.row}
		if got := [4]int(g.fit(c.limit)); got != c.want {
			t.Errorf("limit %d: %v, want %v", c.limit, got, c.want)
		}
	}
}
