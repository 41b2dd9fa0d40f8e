package safetext

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// hostile is one line of testdata/hostile.txt.
type hostile struct{ name, input, want string }

func hostileStrings(t testing.TB) (all []hostile) {
	t.Helper()
	file, err := os.ReadFile("testdata/hostile.txt")
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(file)) {
		if strings.HasPrefix(text, "#") {
			continue
		}
		part := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
		if len(part) != 3 {
			t.Fatalf("line %q", text)
		}
		input, err := strconv.Unquote(part[1])
		if err != nil {
			t.Fatalf("%s: %v", part[1], err)
		}
		all = append(all, hostile{part[0], input, part[2]})
	}
	if len(all) < 60 {
		t.Fatalf("only %d hostile strings", len(all))
	}
	return all
}

func TestDisplayOfHostileStrings(t *testing.T) {
	for _, h := range hostileStrings(t) {
		t.Run(h.name, func(t *testing.T) {
			if got := Display(h.input); got != h.want {
				t.Errorf("Display(%q)\n got %q\nwant %q", h.input, got, h.want)
			}
			if got := DisplayBytes([]byte(h.input)); got != h.want {
				t.Errorf("DisplayBytes = %q", got)
			}
			if IsSafe(h.input) {
				t.Error("IsSafe says that it may be shown")
			}
			checkSafe(t, Display(h.input))
			checkSafe(t, strings.NewReplacer("\n", "", "\t", "").Replace(Multiline(h.input)))
		})
	}
}

func TestCleanTextIsUntouched(t *testing.T) {
	clean := []string{
		"", "order-service", `C:\path\new`, "100 % <b>&</b> \"quoted\"",
		"订单主题", "注文 サービス", "주문", "ＡＢＣ１２３", "전각　공백", "é", "e\u0301", "Ελληνικά", "עברית", "العربية", "हिन्दी", "ไทย",
		"👍", "👍🏽", "👨‍👩‍👧‍👦", "👩🏽‍💻", "🏳️‍🌈", "❤️", "❤︎", "🇩🇪🇨🇳", "1️⃣", "#️⃣", "©️", "❤️‍🔥",
		"葛󠄀城", "▁▂▃█ │ … – «»", "a\u00a0b", "\ufffd",
	}
	for _, s := range clean {
		if got := Display(s); got != s {
			t.Errorf("Display(%q) = %q", s, got)
		}
		if !IsSafe(s) || !IsSafeMultiline(s) {
			t.Errorf("%q is said to be unsafe", s)
		}
	}
}

func TestMultilineKeepsLinesAndTabsOnly(t *testing.T) {
	const in, want = "a\tb\r\nc\x1b[2J\u202e\nd\x85", "a\tb\\r\nc\\x1b[2J\\u{202e}\nd\\x85"
	if got := Multiline(in); got != want {
		t.Errorf("Multiline = %q, want %q", got, want)
	}
	if IsSafeMultiline(in) || !IsSafeMultiline("a\tb\nc") || IsSafe("a\tb") {
		t.Error("IsSafe and IsSafeMultiline mix up line feeds and tabs")
	}
}

func TestLongLine(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	if Display(long) != long {
		t.Error("a long clean line changed")
	}
	if got := Display(long + "\x1b" + long); got != long+`\x1b`+long {
		t.Errorf("a long line with an escape has %d bytes", len(got))
	}
}

func TestCleanTextCostsNoAllocation(t *testing.T) {
	for _, s := range []string{"order-service", "订单主题 👨‍👩‍👧‍👦"} {
		if n := testing.AllocsPerRun(100, func() { Display(s) }); n != 0 {
			t.Errorf("Display(%q): %v allocations", s, n)
		}
	}
}

// checkSafe looks for forbidden runes in its own way, knowing nothing of the
// package's tables.
func checkSafe(t testing.TB, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("%q is not UTF-8", s)
	}
	before := rune(0)
	for _, r := range s {
		switch {
		case r == '\u200D':
			if before < 0xA9 {
				t.Fatalf("%q: a joiner after %q", s, before)
			}
		case unicode.Is(unicode.Variation_Selector, r):
			if unicode.Is(unicode.Variation_Selector, before) || before < ' ' {
				t.Fatalf("%q: a variation selector after %q", s, before)
			}
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp), !unicode.IsGraphic(r):
			t.Fatalf("%q holds %U", s, r)
		}
		before = r
	}
}

func FuzzDisplay(f *testing.F) {
	for _, h := range hostileStrings(f) {
		f.Add(h.input)
	}
	f.Fuzz(func(t *testing.T, s string) {
		shown := Display(s)
		checkSafe(t, shown)
		if Display(shown) != shown || !IsSafe(shown) {
			t.Fatalf("%q is not stable: %q", shown, Display(shown))
		}
		if IsSafe(s) != (shown == s) {
			t.Fatalf("IsSafe(%q) = %v, shown as %q", s, IsSafe(s), shown)
		}
		checkSafe(t, strings.NewReplacer("\n", "", "\t", "").Replace(Multiline(s)))
		checkJSON(t, s)
		checkCSV(t, CSVCell(s))
	})
}

// TestDisplayProperty mixes hostile pieces with arbitrary text.
func TestDisplayProperty(t *testing.T) {
	pieces := []string{"👨", "\u200d", "\ufe0f", "\U000e0100", "葛", "\u0301", "1", "\x9b", "\u009b", "\x1b]0;", "\u202e", "\n", "\t", "x"}
	rapid.Check(t, func(rt *rapid.T) {
		s := strings.Join(rapid.SliceOf(rapid.OneOf(rapid.SampledFrom(pieces), rapid.String())).Draw(rt, "s"), "")
		shown := Display(s)
		checkSafe(t, shown)
		if again := Display(shown); again != shown {
			rt.Fatalf("Display(%q) = %q, and that %q", s, shown, again)
		}
	})
}

func BenchmarkDisplay(b *testing.B) {
	for name, s := range map[string]string{"ascii": "order-service@10.4.2.17@8817", "han": "订单主题订单主题", "hostile": "a\x1b[31mb\u202ec"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Display(s)
			}
		})
	}
}
