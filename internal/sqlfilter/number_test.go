package sqlfilter

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDouble(t *testing.T) {
	for s, want := range map[string]float64{
		"5": 5, " \t5\n": 5, "+5": 5, "-5.": -5, ".5": .5, "5.5e-1": .55, "5E+1": 50, "1d": 1, "1.5F": 1.5, "1e1D": 10, "00": 0, "-0.0": math.Copysign(0, -1),
		"1e999": math.Inf(1), "-1e999": math.Inf(-1), "1e-999": 0, "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "+Infinity": math.Inf(1),
		"0x1p3": 8, "0X1.8P-1f": .75, "0x.8p1": 1, "0x1.p0": 1, "-0x1P1d": -2, "0x1p9999": math.Inf(1), "0x1p-9999": 0, "\x005\x1f": 5,
	} {
		if got, ok := parseDouble(s); !ok || got != want || math.Signbit(got) != math.Signbit(want) {
			t.Errorf("%q: %v, %v, want %v", s, got, ok, want)
		}
	}
	for _, s := range []string{"NaN", "-NaN", "+NaN", " NaN "} {
		if got, ok := parseDouble(s); !ok || !math.IsNaN(got) {
			t.Errorf("%q: %v, %v, want NaN", s, got, ok)
		}
	}
	for _, s := range []string{
		"", " ", "+", "-", ".", "e1", "1e", "1e+", "--5", "+-5", "5 5", "5x", "5ff", "5fd", "inf", "Inf", "nan", "infinity", "INFINITY", "1_0", "0x1", "0x1_0p1", "0xp1",
		"0x1p", "0xd", "1e1.5", "٣", "\u00a05", "5L", "1,5", "NaNf", "0b1", "0x1p1_0", "- 5",
	} {
		if got, ok := parseDouble(s); ok {
			t.Errorf("%q: %v, want none", s, got)
		}
	}
}

func TestParseInteger(t *testing.T) {
	for s, want := range map[string]int64{
		"0": 0, "-0": 0, "+7": 7, "007": 7, "٣": 3, "५0": 50, "９": 9, "-৪": -4, "9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
		"000000000000000000000000000000001": 1,
	} {
		if got, ok := parseInteger(s); !ok || got != want {
			t.Errorf("%q: %d, %v, want %d", s, got, ok, want)
		}
	}
	for _, s := range []string{
		"", "+", "-", "+-1", "1.0", " 1", "1 ", "1e1", "0x1", "1L", "9223372036854775808", "-9223372036854775809", "18446744073709551617", "x", "²", "\xff1", "𝟗", "Ⅷ",
		"99999999999999999999999999",
	} {
		if got, ok := parseInteger(s); ok {
			t.Errorf("%q: %d, want none", s, got)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[+-]?[0-9]{1,21}`).Draw(t, "s")
		want, _ := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10)
		got, ok := parseInteger(s)
		if ok != want.IsInt64() || ok && got != want.Int64() {
			t.Fatalf("%s: %d, %v", s, got, ok)
		}
	})
}

func TestCompareDoubles(t *testing.T) {
	inOrder := []float64{math.Inf(-1), -math.MaxFloat64, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0, math.SmallestNonzeroFloat64, 1, math.MaxFloat64, math.Inf(1), math.NaN()}
	for i, l := range inOrder {
		for j, r := range inOrder {
			got := compareDoubles(l, r)
			if i < j && got >= 0 || i == j && got != 0 || i > j && got <= 0 {
				t.Errorf("%v against %v: %d", l, r, got)
			}
		}
	}
	if compareDoubles(math.Float64frombits(math.Float64bits(math.NaN())|1<<63), math.NaN()) != 0 {
		t.Error("two kinds of NaN differ")
	}
}
