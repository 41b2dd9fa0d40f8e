package sqlfilter

import (
	"math"
	"strconv"
	"strings"
)

// MaxLength bounds a condition in bytes. Brokers have no limit but that of a frame.
const MaxLength = 64 << 10

// maxDepth bounds how deep signs, NOT and parentheses may be nested. Brokers fail at about that depth: their stack ends.
const maxDepth = 500

// How strongly things hold together, from weak to strong.
const (
	strengthNone = iota
	strengthOr
	strengthAnd
	strengthEquality
	strengthComparison
	strengthUnary
	strengthValue
)

// infixStrength is the strength of what a token continues, strengthNone when it continues nothing.
func infixStrength(k kind) int {
	switch k {
	case kwOr:
		return strengthOr
	case kwAnd:
		return strengthAnd
	case signEqual, signNotEqual, kwIs:
		return strengthEquality
	case signGreater, signGreaterEqual, signLess, signLessEqual, kwNot, kwBetween, kwIn, kwContains, kwStartsWith, kwEndsWith:
		return strengthComparison
	}
	return strengthNone
}

// parser reads tokens from left to right and builds nodes by their strength.
type parser struct {
	lexer
	tok   token // the one to be read next
	depth int
	names []string
	known map[string]*property
}

// filter reads one condition and leaves what follows it.
func (p *parser) filter() (*Filter, error) {
	if err := p.advance(); err != nil {
		return nil, err
	}
	start := p.tok.from
	root, err := p.expression(strengthOr)
	if err != nil {
		return nil, err
	}
	if root, err = p.condition(root, start); err != nil {
		return nil, err
	}
	return &Filter{root: root, names: p.names, ignored: strings.TrimRight(p.src[p.tok.from:], " \t\n\r\f")}, nil
}

// advance reads the token.
func (p *parser) advance() (err error) {
	p.tok, err = p.next(p.tok.to)
	return err
}

// expect reads the token if it is of a kind.
func (p *parser) expect(k kind) (token, error) {
	t := p.tok
	if t.kind != k {
		return t, p.unexpected(k.String())
	}
	return t, p.advance()
}

func (p *parser) unexpected(want string) error {
	if p.tok.kind == tokEnd {
		return p.errorf(p.tok.from, "expected %s, found the end", want)
	}
	return p.errorf(p.tok.from, "expected %s, found %q", want, p.src[p.tok.from:p.tok.to])
}

// expression reads what holds together at least as strongly as weakest.
func (p *parser) expression(weakest int) (node, error) {
	start := p.tok.from
	left, err := p.unary()
	// Once something weaker has continued the expression, something stronger cannot: it would have to be inside.
	for strongest := strengthComparison; err == nil; {
		s := infixStrength(p.tok.kind)
		if s < weakest || s > strongest {
			return left, nil
		}
		strongest = s
		left, err = p.infix(left, start)
	}
	return nil, err
}

// unary reads a value with the signs and NOTs in front of it.
func (p *parser) unary() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.errorf(p.tok.from, "nested more than %d levels deep", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.tok
	switch t.kind {
	case signPlus, signMinus, kwNot, signOpen:
	default:
		return p.primary()
	}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if t.kind == signOpen {
		n, err := p.expression(strengthOr)
		if err == nil {
			_, err = p.expect(signClose)
		}
		return n, err
	}
	start := p.tok.from
	n, err := p.unary()
	if err != nil {
		return nil, err
	}
	switch t.kind {
	case signMinus:
		n = &negate{n}
	case kwNot:
		if n, err = p.condition(n, start); err == nil {
			n = &not{n}
		}
	}
	return n, err
}

// primary reads a literal or a property.
func (p *parser) primary() (node, error) {
	t, word := p.tok, p.src[p.tok.from:p.tok.to]
	var n node
	var err error
	switch t.kind {
	case tokName:
		n = p.property(word)
	case tokText:
		n = &constant{value{kind: text, s: unquote(word)}}
	case tokInteger:
		n, err = p.integer(word)
	case tokDecimal:
		n, err = p.decimal(word)
	case kwTrue, kwFalse:
		n = &constant{boolValue(t.kind == kwTrue)}
	case kwNull:
		n = &constant{}
	default:
		return nil, p.unexpected("a property, a text in single quotes, a number, TRUE, FALSE, NOT or (")
	}
	if err != nil {
		return nil, err
	}
	return n, p.advance()
}

// property is the one node for a name.
func (p *parser) property(name string) *property {
	n := p.known[name]
	if n == nil {
		if p.known == nil {
			p.known = map[string]*property{}
		}
		n = &property{name}
		p.known[name] = n
		p.names = append(p.names, name)
	}
	return n
}

func (p *parser) integer(word string) (node, error) {
	i, err := strconv.ParseInt(strings.TrimRight(word, "lL"), 10, 64)
	if err != nil {
		return nil, p.errorf(p.tok.from, "%s does not fit into 64 bits", word)
	}
	return &constant{integer(i)}, nil
}

func (p *parser) decimal(word string) (node, error) {
	f, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil:
		return nil, p.errorf(p.tok.from, "%s is too large for a number, the largest is %g", word, math.MaxFloat64)
	case f == 0:
		return nil, p.errorf(p.tok.from, "brokers refuse %s: a number with a point is at least %g; write 0", word, math.SmallestNonzeroFloat64)
	}
	return &constant{value{kind: doubleValue, f: f}}, nil
}

// literal reads a text in single quotes.
func (p *parser) literal() (string, error) {
	t, err := p.expect(tokText)
	if err != nil {
		return "", err
	}
	return unquote(p.src[t.from:t.to]), nil
}

func unquote(word string) string { return strings.ReplaceAll(word[1:len(word)-1], "''", "'") }

// infix reads the token, which continues left, and what belongs to it. start is where left begins.
func (p *parser) infix(left node, start int) (node, error) {
	op := p.tok.kind
	if err := p.advance(); err != nil {
		return nil, err
	}
	switch op {
	case kwAnd, kwOr:
		return p.logic(left, start, op)
	case signEqual, signNotEqual:
		return p.equality(left, start, op)
	case kwIs:
		return p.isNull(left)
	case signGreater, signGreaterEqual, signLess, signLessEqual:
		return p.order(left, start, op)
	}
	negated := op == kwNot
	if negated {
		op = p.tok.kind
		switch op {
		case kwBetween, kwIn, kwContains, kwStartsWith, kwEndsWith:
		default:
			return nil, p.unexpected("BETWEEN, IN, CONTAINS, STARTSWITH or ENDSWITH after NOT")
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	switch op {
	case kwBetween:
		return p.between(left, start, negated)
	case kwIn:
		return p.in(left, start, negated)
	}
	part, err := p.literal()
	return &match{op: op, operand: left, not: negated, part: part}, err
}

func (p *parser) logic(left node, start int, op kind) (node, error) {
	rightStart := p.tok.from
	right, err := p.expression(infixStrength(op) + 1)
	if err != nil {
		return nil, err
	}
	if left, err = p.condition(left, start); err != nil {
		return nil, err
	}
	if right, err = p.condition(right, rightStart); err != nil {
		return nil, err
	}
	or := op == kwOr
	if l, ok := left.(*logic); ok && l.or == or { // one level for a whole chain
		l.terms = append(l.terms, right)
		return l, nil
	}
	return &logic{or: or, terms: []node{left, right}}, nil
}

func (p *parser) equality(left node, start int, op kind) (node, error) {
	rightStart := p.tok.from
	right, err := p.expression(strengthComparison)
	if err != nil {
		return nil, err
	}
	l, _ := left.(*constant)
	r, _ := right.(*constant)
	switch {
	case l != nil && l.value.kind == null:
		return nil, p.errorf(start, "nothing is compared with NULL; write IS NULL")
	case r != nil && r.value.kind == null:
		return nil, p.errorf(rightStart, "nothing is compared with NULL; write IS NULL or IS NOT NULL")
	case l != nil && r != nil && l.value.kind == boolean && r.value.kind != boolean:
		return nil, p.errorf(rightStart, "%s is not compared with %s", describe(left), describe(right))
	}
	return &comparison{op, left, right}, nil
}

func (p *parser) isNull(left node) (node, error) {
	negated := p.tok.kind == kwNot
	if negated {
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	_, err := p.expect(kwNull)
	return &isNull{left, negated}, err
}

func (p *parser) order(left node, start int, op kind) (node, error) {
	rightStart := p.tok.from
	right, err := p.expression(strengthUnary)
	if err != nil {
		return nil, err
	}
	if err := p.ordered(left, start, op); err != nil {
		return nil, err
	}
	if err := p.ordered(right, rightStart, op); err != nil {
		return nil, err
	}
	return &comparison{op, left, right}, nil
}

func (p *parser) between(left node, start int, negated bool) (node, error) {
	lowStart := p.tok.from
	low, err := p.expression(strengthUnary)
	if err != nil {
		return nil, err
	}
	if _, err := p.expect(kwAnd); err != nil {
		return nil, err
	}
	highStart := p.tok.from
	high, err := p.expression(strengthUnary)
	if err != nil {
		return nil, err
	}
	for _, x := range []struct {
		n  node
		at int
	}{{left, start}, {low, lowStart}, {high, highStart}} {
		if err := p.ordered(x.n, x.at, kwBetween); err != nil {
			return nil, err
		}
	}
	l, _ := low.(*constant)
	h, _ := high.(*constant)
	if !negated && l != nil && h != nil {
		if c, _ := compare(h.value, l.value); c < 0 {
			return nil, p.errorf(highStart, "the second number after BETWEEN must not be below the first")
		}
	}
	return newBetween(left, low, high, negated), nil
}

func (p *parser) in(left node, start int, negated bool) (node, error) {
	prop, ok := left.(*property)
	if _, err := p.expect(signOpen); err != nil {
		return nil, err
	}
	var list []string
	for {
		s, err := p.literal()
		if err != nil {
			return nil, err
		}
		list = append(list, s)
		if p.tok.kind != signComma {
			break
		}
		if err := p.advance(); err != nil {
			return nil, err
		}
	}
	if _, err := p.expect(signClose); err != nil {
		return nil, err
	}
	if !ok {
		return nil, p.errorf(start, "IN looks at a property, not at %s", describe(left))
	}
	return newIn(prop, list, negated), nil
}
