package sqlfilter

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"
)

// valueKind is the Java class of a value. The order does not matter.
type valueKind uint8

const (
	null    valueKind = iota
	aborted           // Java throws: nothing that needs this value can be known
	boolean
	text
	int32Value // java.lang.Integer
	int64Value // java.lang.Long: a literal that an Integer cannot hold
	doubleValue
)

// value is what a node is for one message.
type value struct {
	kind valueKind
	yes  bool
	i    int64
	f    float64
	s    string
}

func boolValue(yes bool) value { return value{kind: boolean, yes: yes} }

// integer is a literal's value, in the smaller class that holds it.
func integer(i int64) value {
	if int64(int32(i)) == i {
		return value{kind: int32Value, i: i}
	}
	return value{kind: int64Value, i: i}
}

func (v value) isNumber() bool { return v.kind >= int32Value }

// number is v as a float.
func (v value) number() float64 {
	if v.kind == doubleValue {
		return v.f
	}
	return float64(v.i)
}

// as turns a text into a number of the given kind, aborted when it is none.
func (v value) as(k valueKind) value {
	switch k {
	case int32Value, int64Value:
		if i, ok := parseInteger(v.s); ok && (k == int64Value || int64(int32(i)) == i) {
			return value{kind: k, i: i}
		}
	case doubleValue:
		if f, ok := parseDouble(v.s); ok {
			return value{kind: k, f: f}
		}
	}
	return value{kind: aborted}
}

// compare is ComparisonExpression.__compare: below, at or above 0; !ok when Java throws, or has
// thrown. Neither value is null.
func compare(l, r value) (c int, ok bool) {
	switch {
	case l.kind == aborted || r.kind == aborted:
		return 0, false
	case l.kind == r.kind:
	case l.kind == boolean:
		return -1, r.kind != text // Java casts the Boolean to a String and fails
	case r.kind == boolean && l.kind == text:
		l = boolValue(strings.EqualFold(l.s, "true"))
	case r.kind == boolean:
		return -1, true
	case l.kind == text:
		l = l.as(r.kind)
	case r.kind == text:
		r = r.as(l.kind)
	case l.kind == doubleValue || r.kind == doubleValue:
		return compareDoubles(l.number(), r.number()), true
	}
	switch {
	case l.kind == aborted || r.kind == aborted:
		return 0, false
	case l.kind == boolean:
		return compareBools(l.yes, r.yes), true
	case l.kind == text:
		return strings.Compare(l.s, r.s), true
	case l.kind == doubleValue:
		return compareDoubles(l.f, r.f), true
	}
	return cmp.Compare(l.i, r.i), true
}

func compareBools(l, r bool) int {
	switch {
	case l == r:
		return 0
	case l:
		return 1
	}
	return -1
}

// compareDoubles is Double.compareTo: -0 is below 0, and NaN is above everything and equal to itself.
func compareDoubles(l, r float64) int {
	switch {
	case l < r:
		return -1
	case l > r:
		return 1
	}
	return cmp.Compare(doubleBits(l), doubleBits(r))
}

func doubleBits(f float64) int64 {
	if math.IsNaN(f) {
		return math.MaxInt64
	}
	return int64(math.Float64bits(f))
}

// parseInteger is Long.valueOf: an optional sign and decimal digits of any script, nothing else.
func parseInteger(s string) (int64, bool) {
	digits := strings.TrimPrefix(s, "-")
	negative := len(digits) < len(s)
	if !negative {
		digits = strings.TrimPrefix(s, "+")
	}
	if digits == "" {
		return 0, false
	}
	var n uint64 // of the negative number, which may be larger by one
	for _, r := range digits {
		d, ok := digitValue(r)
		if !ok || n > (1<<63-uint64(d))/10 {
			return 0, false
		}
		n = 10*n + uint64(d)
	}
	if negative {
		return -int64(n), true
	}
	return int64(n), n < 1<<63
}

// digitValue is Character.digit to the base of ten for one UTF-16 unit.
func digitValue(r rune) (int, bool) {
	switch {
	case r >= '0' && r <= '9':
		return int(r - '0'), true
	case r < unicode.MaxLatin1:
		return 0, false
	}
	for _, run := range unicode.Nd.R16 { // each is one or more whole sets of ten
		if r >= rune(run.Lo) && r <= rune(run.Hi) {
			return int(r-rune(run.Lo)) % 10, true
		}
	}
	return 0, false
}

// parseDouble is Double.valueOf: blanks around, a decimal or hexadecimal number with an optional suffix, NaN, Infinity.
func parseDouble(s string) (float64, bool) {
	s = strings.TrimFunc(s, func(r rune) bool { return r <= ' ' })
	unsigned := strings.TrimLeft(s, "+-")
	if len(s)-len(unsigned) > 1 || unsigned == "" {
		return 0, false
	}
	negative := s[0] == '-'
	var f float64
	switch {
	case unsigned == "NaN":
		f = math.NaN()
	case unsigned == "Infinity":
		f = math.Inf(1)
	case isDigit(unsigned[0]) || unsigned[0] == '.': // neither inf nor nan, which strconv takes in any case
		number := strings.TrimRight(unsigned, "dDfF")
		hex := len(unsigned) > 1 && unsigned[1]|0x20 == 'x'
		if hex && !strings.ContainsAny(unsigned, "pP") || strings.Contains(number, "_") || len(unsigned)-len(number) > 1 {
			return 0, false
		}
		var err error
		// A number beyond the range is infinite, for strconv as for Java.
		if f, err = strconv.ParseFloat(number, 64); err != nil && !math.IsInf(f, 0) {
			return 0, false
		}
	default:
		return 0, false
	}
	if negative {
		f = -f
	}
	return f, true
}
