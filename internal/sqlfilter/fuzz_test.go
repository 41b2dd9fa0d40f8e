package sqlfilter

import (
	"errors"
	"runtime/metrics"
	"strings"
	"testing"
)

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"a > 5 AND (b = 'x' OR c IS NOT NULL)", "a NOT BETWEEN -1 AND 5.5e3", "TAGS IN ('a','it''s') OR NOT d CONTAINS 'x'", "- - 5 = a -- x\n", "/**/TRUE/*/*/",
		"a = 1 'it''s", "((((a", "a=a=a=a IS NULL IS NULL", "s STARTSWITH '' AND s NOT ENDSWITH 'e'", "0.0 = 00 OR 9999999999999999999L", "NOT NOT NULL", "1.e5>.5", "a\x00", "ä='ä'",
	} {
		f.Add(s, "a=5;b=x;s=text")
	}
	f.Fuzz(func(t *testing.T, condition, properties string) {
		checkFilter(t, condition, message(properties))
	})
}

// checkFilter fails unless everything holds that holds for any text.
func checkFilter(t *testing.T, condition string, m map[string]string) {
	for _, d := range []Dialect{Latest, WithoutTextOperators} {
		f, err := d.Parse(condition)
		if err != nil {
			var e *SyntaxError
			if !errors.As(err, &e) || e.Offset < 0 || e.Offset > len(condition) || e.Line < 1 || e.Column < 1 || e.Reason == "" {
				t.Fatalf("%q: %#v", condition, err)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n\r\x00") {
				t.Fatalf("%q: the error has control characters: %q", condition, err)
			}
			continue
		}
		got := f.on(m)
		printed := f.String()
		if len(printed) > MaxLength { // blanks and digits may have been added
			continue
		}
		again, err := d.Parse(printed)
		if err != nil || again.String() != printed || again.Ignored() != "" {
			t.Fatalf("%q prints as %q, which reads as %v, %v", condition, printed, again, err)
		}
		if r := again.on(m); r != got {
			t.Fatalf("%q is %v, printed %v", condition, got, r)
		}
		if len(again.Names()) != len(f.Names()) {
			t.Fatalf("%q names %q, printed %q", condition, f.Names(), again.Names())
		}
	}
}

// TestMemory bounds what hostile conditions take: a tree has up to one node for each byte or two.
func TestMemory(t *testing.T) {
	const factor = 96
	for _, unit := range []string{"a=", "1=", "-", "(", "a or ", "a=1 and ", "'',", "''", "a IS NULL ", "IN('", "/**/", "--\n", "NOT ", "1.5=", "$1<", "\xff", "((a)or "} {
		for _, tail := range []string{"", "1", "a", "a)"} {
			condition := (strings.Repeat(unit, MaxLength/len(unit)) + tail)
			condition = condition[:min(len(condition), MaxLength)]
			before := allocated()
			f, err := Parse(condition)
			if err == nil {
				f.on(map[string]string{"a": "1"})
			}
			if got, limit := allocated()-before, uint64(factor*len(condition)+64<<10); got > limit {
				t.Errorf("%q…: %d bytes of memory for %d", unit, got, len(condition))
			}
			checkFilter(t, condition, map[string]string{"a": "1"})
		}
	}
}

func allocated() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func BenchmarkEval(b *testing.B) {
	f := mustParse(b, "region = 'eu' AND (amount > 100 OR priority IN ('high', 'urgent')) AND note IS NOT NULL")
	m := message("region=eu;amount=99;priority=urgent;note=x")
	get := func(name string) (string, bool) { v, ok := m[name]; return v, ok }
	b.ReportAllocs()
	for b.Loop() {
		if f.Eval(get) != True {
			b.Fatal("not true")
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		mustParse(b, "region = 'eu' AND (amount > 100 OR priority IN ('high', 'urgent')) AND note IS NOT NULL")
	}
}
