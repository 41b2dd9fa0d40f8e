package safetext

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
)

// checkJSON compares with what encoding/json makes of s, value by value.
func checkJSON(t testing.TB, s string) {
	t.Helper()
	standard, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var want string
	if err := json.Unmarshal(standard, &want); err != nil {
		t.Fatal(err)
	}
	for how, text := range map[string]string{"JSON": JSON(s), "EscapeJSON": string(EscapeJSON(standard))} {
		var got string
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatalf("%s(%q) = %s: %v", how, s, text, err)
		}
		if got != want {
			t.Fatalf("%s(%q) means %q, want %q", how, s, got, want)
		}
		checkSafe(t, text)
	}
}

func TestJSONOfHostileStrings(t *testing.T) {
	for _, h := range hostileStrings(t) {
		checkJSON(t, h.input)
	}
}

func TestC28_JSONText(t *testing.T) {
	cases := map[string]string{
		"":                       `""`,
		"订单 <a>&":                `"订单 <a>&"`,
		`say "hi" \o/`:           `"say \"hi\" \\o/"`,
		"line\nline\r\n\tindent": `"line\nline\r\n\tindent"`,
		"\x00\x1b\x7f":           `"\u0000\u001b\u007f"`,
		"\u009b\u202e\u2028":     `"\u009b\u202e\u2028"`,
		"\U000e0041":             `"\udb40\udc41"`,
		"\xff\xfe\x00A":          `"\ufffd\ufffd\u0000A"`,
		"👨‍👩‍👧‍👦":                `"👨‍👩‍👧‍👦"`,
	}
	for in, want := range cases {
		if got := JSON(in); got != want {
			t.Errorf("JSON(%q) = %s, want %s", in, got, want)
		}
	}
	if got := string(AppendJSONString([]byte("x:"), "y")); got != `x:"y"` {
		t.Errorf("AppendJSONString = %s", got)
	}
}

func TestYAMLText(t *testing.T) {
	const in, want = "订单\n\x1b\u202e\U000e0041\xff\"", `"订单\n\u001b\u202e\U000e0041\ufffd\""`
	if got := string(AppendYAMLString(nil, in)); got != want {
		t.Errorf("AppendYAMLString = %s, want %s", got, want)
	}
}

func TestEscapeJSONKeepsTheDocument(t *testing.T) {
	clean := []byte("{\r\n\t\"k\": \"订单\\u202e\"\n}")
	if got := EscapeJSON(clean); &got[0] != &clean[0] {
		t.Error("a clean document was copied")
	}
	in := "{\n\t\"a\x7f\": [1, \"b\u202ec\"],\r\n \"\U000e0041\": \"\u009b\xff\"}"
	want := "{\n\t\"a\\u007f\": [1, \"b\\u202ec\"],\r\n \"\\udb40\\udc41\": \"\\u009b\\ufffd\"}"
	if got := string(EscapeJSON([]byte(in))); got != want {
		t.Errorf("EscapeJSON\n got %s\nwant %s", got, want)
	}
}

func FuzzEscapeJSON(f *testing.F) {
	f.Add([]byte(`{"a":["b\u202e",1.5e3,null]}`))
	f.Add([]byte("[\"\u202e\x7f\u009b\"]"))
	f.Fuzz(func(t *testing.T, doc []byte) {
		escaped := EscapeJSON(doc)
		checkSafe(t, strings.NewReplacer("\n", "", "\t", "", "\r", "").Replace(string(escaped)))
		if !json.Valid(doc) {
			return
		}
		var before, after any
		if json.Unmarshal(doc, &before) != nil {
			return // a number beyond float64
		}
		if err := json.Unmarshal(escaped, &after); err != nil {
			t.Fatalf("%q became %q: %v", doc, escaped, err)
		}
		a, _ := json.Marshal(before)
		b, _ := json.Marshal(after)
		if string(a) != string(b) {
			t.Fatalf("%q became %q", doc, escaped)
		}
	})
}

func checkCSV(t testing.TB, cell string) {
	t.Helper()
	checkSafe(t, cell)
	if strings.HasPrefix(cell, "=") || strings.HasPrefix(cell, "+") || strings.HasPrefix(cell, "-") || strings.HasPrefix(cell, "@") {
		t.Fatalf("cell %q is a formula", cell)
	}
}

func TestCSVCell(t *testing.T) {
	cases := map[string]string{
		"":                  "",
		"order-service":     "order-service",
		"=1+1":              "'=1+1",
		"+1":                "'+1",
		"-5":                "'-5",
		"@SUM(A1)":          "'@SUM(A1)",
		"＝HYPERLINK(\"x\")": "'＝HYPERLINK(\"x\")",
		"\t=1":              `\t=1`,
		"\r=1":              `\r=1`,
		"a=b":               "a=b",
		"'=1":               "'=1",
		"\x1b[31m":          `\x1b[31m`,
	}
	for in, want := range cases {
		got := CSVCell(in)
		if got != want {
			t.Errorf("CSVCell(%q) = %q, want %q", in, got, want)
		}
		checkCSV(t, got)
		var text strings.Builder
		w := csv.NewWriter(&text)
		if err := w.Write([]string{"x", got}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		back, err := csv.NewReader(strings.NewReader(text.String())).Read()
		if err != nil || back[1] != got {
			t.Errorf("CSV round trip of %q: %q, %v", got, back, err)
		}
	}
}
