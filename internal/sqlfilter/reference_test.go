package sqlfilter

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The reference is a second reading of what the language means, as slow and as literal as can be: trees of plain data,
// exceptions as panics like in Java, values of any type, and numbers as fractions of unlimited size.

// tree is a condition or a value: what it is in words, and its parts.
type tree struct {
	what  string // "property", "text", "int", "decimal", "word", or an operator
	word  string // name, text or digits
	parts []*tree
	list  []string
}

// throw is what Java throws.
type throw struct{ error }

var errClass, errNumber = errors.New("ClassCastException"), errors.New("NumberFormatException")

// number is a number with its Java class.
type number struct {
	class string
	value *big.Rat
}

// reference is the tree's value: nil, bool, string or number.
func (x *tree) reference(m map[string]string) any {
	part := func(i int) any { return x.parts[i].reference(m) }
	switch x.what {
	case "property":
		if s, ok := m[x.word]; ok {
			return s
		}
		return nil
	case "text":
		return x.word
	case "int", "decimal":
		return literal(x.what, x.word)
	case "word":
		return map[string]any{"TRUE": true, "FALSE": false, "NULL": nil}[x.word]
	case "+":
		return part(0)
	case "-":
		if n, ok := part(0).(number); ok {
			return number{n.class, new(big.Rat).Neg(n.value)}
		}
		return nil
	case "NOT":
		if b, ok := truth(part(0)).(bool); ok {
			return !b
		}
		return nil
	case "AND", "OR":
		decides := x.what == "OR"
		l := truth(part(0))
		if l == decides {
			return decides
		}
		r := truth(part(1))
		if r == decides {
			return decides
		}
		if l == nil || r == nil {
			return nil
		}
		return !decides
	case "=":
		return same(part(0), part(1))
	case "<>":
		return (&tree{what: "NOT", parts: []*tree{{what: "=", parts: x.parts}}}).reference(m)
	case ">", ">=", "<", "<=":
		l := part(0)
		if l == nil {
			return nil
		}
		r := part(1)
		if r == nil {
			return nil
		}
		return map[string]bool{">": order(l, r) > 0, ">=": order(l, r) >= 0, "<": order(l, r) < 0, "<=": order(l, r) <= 0}[x.what]
	case "IS NULL":
		return part(0) == nil
	case "IS NOT NULL":
		return part(0) != nil
	case "BETWEEN":
		return (&tree{what: "AND", parts: []*tree{{what: ">=", parts: x.parts[:2]}, {what: "<=", parts: []*tree{x.parts[0], x.parts[2]}}}}).reference(m)
	case "NOT BETWEEN":
		return (&tree{what: "OR", parts: []*tree{{what: "<", parts: x.parts[:2]}, {what: ">", parts: []*tree{x.parts[0], x.parts[2]}}}}).reference(m)
	case "IN", "NOT IN":
		v := part(0)
		if v == nil {
			return nil
		}
		found := false
		for _, s := range x.list {
			found = found || s == v
		}
		return found == (x.what == "IN")
	}
	op, negated := strings.CutPrefix(x.what, "NOT ")
	if x.word == "" {
		return false
	}
	s, ok := part(0).(string)
	if !ok {
		return false
	}
	at := strings.Index(s, x.word)
	switch op {
	case "STARTSWITH":
		ok = at == 0
	case "ENDSWITH":
		ok = at >= 0 && strings.LastIndex(s, x.word)+len(x.word) == len(s)
	default:
		ok = at >= 0
	}
	return ok != negated
}

// truth is a value as a condition: a property that is there is false.
func truth(v any) any {
	if _, ok := v.(string); ok {
		return false
	}
	return v
}

func same(l, r any) any {
	switch {
	case l == nil && r == nil:
		return true
	case l == nil:
		return nil
	case r == nil:
		return false
	}
	if s, ok := l.(string); ok {
		if t, ok := r.(string); ok {
			return s == t
		}
	}
	return order(l, r) == 0
}

// order compares two values that are not nil.
func order(l, r any) int {
	switch l := l.(type) {
	case bool:
		switch r := r.(type) {
		case string:
			panic(throw{errClass})
		case bool:
			if l == r {
				return 0
			} else if l {
				return 1
			}
		}
		return -1
	case string:
		switch r := r.(type) {
		case bool:
			return order(strings.ToLower(l) == "true", r)
		case number:
			return convert(l, r.class).value.Cmp(r.value)
		}
		return convert(l, "decimal").value.Cmp(convert(r.(string), "decimal").value)
	case number:
		switch r := r.(type) {
		case string:
			return l.value.Cmp(convert(r, l.class).value)
		case number:
			return l.value.Cmp(r.value)
		}
		return -1
	}
	panic("a value of another kind")
}

// literal is a number as it stands in a condition: an int that needs more than 32 bits is a long.
func literal(what, word string) number {
	v, ok := new(big.Rat).SetString(strings.TrimRight(word, "lL"))
	if !ok {
		panic("no number: " + word)
	}
	if what == "int" && (v.Cmp(big.NewRat(-1<<31, 1)) < 0 || v.Cmp(big.NewRat(1<<31-1, 1)) > 0) {
		what = "long"
	}
	return number{what, v}
}

// convert reads a property as a number of a class. The properties of these tests have no exponents and few digits.
func convert(s, class string) number {
	digits := s
	if class == "decimal" {
		digits = strings.Replace(strings.Trim(s, " \t"), ".", "", 1)
	}
	if len(digits) > 1 {
		digits = strings.TrimPrefix(strings.TrimPrefix(digits, "+"), "-")
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		panic(throw{errNumber})
	}
	n := literal(class, strings.TrimLeft(strings.Trim(s, " \t"), "+"))
	if class == "int" && n.class == "long" {
		panic(throw{errNumber})
	}
	return number{class, n.value}
}

// result is the tree's value as a result.
func (x *tree) result(m map[string]string) (r Result) {
	defer func() {
		if p := recover(); p != nil {
			if _, ok := p.(throw); !ok {
				panic(p)
			}
			r = Unknown
		}
	}()
	switch v := truth(x.reference(m)); v {
	case true:
		return True
	case false:
		return False
	}
	return Unknown
}

func TestAgreesWithReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := build{t}
		x := b.condition(rapid.IntRange(1, 5).Draw(t, "depth"))
		condition := b.write(x, 1)
		f, err := Parse(condition)
		if err != nil {
			t.Fatalf("%s: %v", condition, err)
		}
		if f.Ignored() != "" {
			t.Fatalf("%s: ignores %q", condition, f.Ignored())
		}
		again, err := Parse(f.String())
		if err != nil || again.String() != f.String() {
			t.Fatalf("%s prints as %s, which reads as %v, %v", condition, f, again, err)
		}
		for range 4 {
			m := drawMessage(t)
			want := x.result(m)
			if got := f.on(m); got != want {
				t.Fatalf("%s on %q: %v, want %v", condition, m, got, want)
			}
			if got := again.on(m); got != want {
				t.Fatalf("%s on %q: %v, want %v", again, m, got, want)
			}
		}
	})
}

// What stands behind a complete condition changes nothing unless its first word cannot be read.
func TestIgnoresWhatFollows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := build{t}
		condition := b.write(b.condition(3), 1)
		f, err := Parse(condition)
		if err != nil {
			t.Fatal(err)
		}
		rest := b.pick("rest", "zz", ")", "5", "'x'", ",", "LIKE 'x'", "TRUE", "+", "- 1 -", "( @") + b.pick("more", "", " AND", " @#", " 'x", " = 1")
		g, err := Parse(condition + " " + rest)
		if err != nil {
			t.Fatalf("%s %s: %v", condition, rest, err)
		}
		if g.String() != f.String() || g.Ignored() != strings.TrimRight(rest, " ") {
			t.Fatalf("%s %s: reads as %s and ignores %q", condition, rest, g, g.Ignored())
		}
		if _, err := Parse(condition + " " + b.pick("bad", "@", "'x", "!=", "/*", "\"")); err == nil {
			t.Fatalf("%s: the next word cannot be read, yet there is no error", condition)
		}
	})
}
