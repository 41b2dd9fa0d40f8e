package sqlfilter

import (
	"strings"

	"pgregory.net/rapid"
)

// build makes random trees that brokers accept, and writes them.
type build struct{ *rapid.T }

func (b build) pick(what string, from ...string) string {
	return rapid.SampledFrom(from).Draw(b.T, what)
}

func (b build) property() *tree {
	return &tree{what: "property", word: b.pick("name", "a", "b", "c", "D_1", "$")}
}

func (b build) number() *tree {
	if rapid.Bool().Draw(b.T, "whole") {
		return &tree{what: "int", word: b.pick("int", "0", "1", "2", "5", "5L", "10", "2147483648", "9223372036854775807")}
	}
	return &tree{what: "decimal", word: b.pick("decimal", "0.5", ".25", "1.0", "5.", "2e1", "5.5")}
}

// operand is something that has an order: a number or a property, with signs.
func (b build) operand() *tree {
	switch rapid.IntRange(0, 5).Draw(b.T, "operand") {
	case 0:
		return &tree{what: b.pick("sign", "+", "-"), parts: []*tree{b.operand()}}
	case 1, 2:
		return b.number()
	}
	return b.property()
}

// any is something of any kind but NULL.
func (b build) any(depth int) *tree {
	switch rapid.IntRange(0, 6).Draw(b.T, "any") {
	case 0:
		return &tree{what: "text", word: b.text()}
	case 1:
		return &tree{what: "word", word: b.pick("word", "TRUE", "FALSE")}
	case 2:
		return b.condition(depth - 1)
	}
	return b.operand()
}

func (b build) text() string { return b.pick("text", "", "a", "ab", "it's", "5", "true", "'", "ä\n") }

func (b build) condition(depth int) *tree {
	if depth <= 0 {
		return &tree{what: "word", word: b.pick("word", "TRUE", "FALSE", "NULL")}
	}
	sub := func() *tree {
		if rapid.IntRange(0, 4).Draw(b.T, "plain") == 0 {
			return b.property()
		}
		return b.condition(depth - 1)
	}
	switch rapid.IntRange(0, 9).Draw(b.T, "kind") {
	case 0, 1:
		return &tree{what: b.pick("op", "AND", "OR"), parts: []*tree{sub(), sub()}}
	case 2:
		return &tree{what: "NOT", parts: []*tree{sub()}}
	case 3, 4:
		l, r := b.any(depth), b.any(depth)
		for _, x := range []*tree{l, r} {
			if x.what == "word" && x.word == "NULL" {
				x.word = "FALSE"
			}
		}
		if l.what == "word" && (r.what == "text" || constantNumber(r)) {
			l, r = r, l
		}
		return &tree{what: b.pick("op", "=", "<>"), parts: []*tree{l, r}}
	case 5:
		return &tree{what: b.pick("op", ">", ">=", "<", "<="), parts: []*tree{b.operand(), b.operand()}}
	case 6:
		return &tree{what: b.pick("op", "IS NULL", "IS NOT NULL"), parts: []*tree{b.any(depth)}}
	case 7:
		x := &tree{what: b.pick("op", "BETWEEN", "NOT BETWEEN"), parts: []*tree{b.operand(), b.operand(), b.operand()}}
		if l, h := x.parts[1], x.parts[2]; x.what == "BETWEEN" && constantNumber(l) && constantNumber(h) && order(l.reference(nil), h.reference(nil)) > 0 {
			x.parts[1], x.parts[2] = h, l
		}
		return x
	case 8:
		n := rapid.IntRange(1, 12).Draw(b.T, "length")
		x := &tree{what: b.pick("op", "IN", "NOT IN"), parts: []*tree{b.property()}}
		for range n {
			x.list = append(x.list, b.text())
		}
		return x
	}
	return &tree{what: b.pick("not", "", "NOT ") + b.pick("op", "CONTAINS", "STARTSWITH", "ENDSWITH"), word: b.text(), parts: []*tree{b.any(depth)}}
}

// constantNumber reports whether x is a literal once plus signs are gone.
func constantNumber(x *tree) bool {
	for x.what == "+" {
		x = x.parts[0]
	}
	return x.what == "int" || x.what == "decimal"
}

var grammar = map[string]int{"OR": 1, "AND": 2, "=": 3, "<>": 3, "IS NULL": 3, "IS NOT NULL": 3, "NOT": 5, "+": 5, "-": 5, "property": 6, "text": 6, "int": 6, "decimal": 6, "word": 6}

func (x *tree) binds() int {
	if n, ok := grammar[x.what]; ok {
		return n
	}
	return 4
}

// write is the tree as a text, with blanks, comments, letters and parentheses that make no difference.
func (b build) write(x *tree, needed int) string {
	if x.binds() < needed || rapid.IntRange(0, 9).Draw(b.T, "parentheses") == 0 {
		return b.words("(", b.write(x, 1), ")")
	}
	part := func(i, needed int) string { return b.write(x.parts[i], needed) }
	switch n := x.binds(); x.what {
	case "property", "int", "decimal":
		return x.word
	case "word":
		return b.keyword(x.word)
	case "text":
		return quoted(x.word)
	case "NOT", "+", "-":
		return b.words(b.keyword(x.what), part(0, 5))
	case "IS NULL", "IS NOT NULL":
		return b.words(part(0, 3), b.keyword(x.what))
	case "BETWEEN", "NOT BETWEEN":
		return b.words(part(0, 4), b.keyword(x.what), part(1, 5), b.keyword("AND"), part(2, 5))
	case "IN", "NOT IN":
		words := []string{part(0, 6), b.keyword(x.what), "("}
		for i, s := range x.list {
			if i > 0 {
				words = append(words, ",")
			}
			words = append(words, quoted(s))
		}
		return b.words(append(words, ")")...)
	case "AND", "OR", "=", "<>", ">", ">=", "<", "<=":
		return b.words(part(0, n), b.keyword(x.what), part(1, n+1))
	}
	return b.words(part(0, 4), b.keyword(x.what), quoted(x.word))
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

func (b build) keyword(s string) string {
	if rapid.Bool().Draw(b.T, "lower") {
		s = strings.ToLower(s)
	}
	return b.words(strings.Fields(s)...)
}

// words puts something between words that is blank for the language.
func (b build) words(words ...string) string {
	return strings.Join(words, b.pick("blank", " ", " ", " ", "\n", "\t ", " /* ' */ ", " --'\n"))
}

func drawMessage(t *rapid.T) map[string]string {
	return rapid.MapOf(
		rapid.SampledFrom([]string{"a", "b", "c", "D_1", "$"}),
		rapid.SampledFrom([]string{"0", "1", "5", "-5", "+5", "5.0", " 5", "005", "-", ".", "10", "2147483648", "9223372036854775807", "a", "ab", "bab", "it's", "'", "true", "TRUE", "ä\n", "0.25", "20"}),
	).Draw(t, "message")
}
