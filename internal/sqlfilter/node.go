package sqlfilter

import (
	"slices"
	"strings"
)

// lookup finds a property of the message.
type lookup = func(name string) (string, bool)

// node is a piece of a condition. Nodes never change.
type node interface {
	// eval is the node's value for a message.
	eval(get lookup) value
	// print writes the node so that reading it yields an equal one.
	print(w *strings.Builder)
	// strength is how strongly the node holds together, of the kinds in parser.go.
	strength() int
}

// constant is a literal.
type constant struct{ value value }

func (n *constant) eval(lookup) value { return n.value }

// property is a message's property. As a condition it stands in a cast.
type property struct{ name string }

func (n *property) eval(get lookup) value {
	if s, ok := get(n.name); ok {
		return value{kind: text, s: s}
	}
	return value{}
}

// cast is a property as a condition. Properties are texts, and a text is never true: Java's BOOLEANCAST.
type cast struct{ *property }

func (n *cast) eval(get lookup) value {
	if _, ok := get(n.name); ok {
		return boolValue(false)
	}
	return value{}
}

// negate is a minus sign. Of what is no number it makes null.
type negate struct{ operand node }

func (n *negate) eval(get lookup) value {
	v := n.operand.eval(get)
	switch {
	case v.kind == aborted:
		return v
	case !v.isNumber():
		return value{}
	}
	v.i, v.f = -v.i, -v.f
	return v
}

// not turns true into false and false into true.
type not struct{ operand node }

func (n *not) eval(get lookup) value { return inverse(n.operand.eval(get)) }

func inverse(v value) value {
	if v.kind == boolean {
		v.yes = !v.yes
	}
	return v
}

// logic is two or more conditions with AND or OR between them. Conditions behind the one that decides are not evaluated.
type logic struct {
	or    bool
	terms []node
}

func (n *logic) eval(get lookup) value {
	result := boolValue(!n.or)
	for _, term := range n.terms {
		v := term.eval(get)
		switch {
		case v.kind == aborted:
			return v
		case v.kind == null:
			result = v
		case v.yes == n.or:
			return v
		}
	}
	return result
}

// comparison is one of = <> > >= < <=.
type comparison struct {
	op          kind
	left, right node
}

func (n *comparison) eval(get lookup) value {
	l := n.left.eval(get)
	if n.op == signEqual || n.op == signNotEqual {
		v := equality(l, n.right.eval(get))
		if n.op == signNotEqual {
			return inverse(v)
		}
		return v
	}
	if l.kind == null || l.kind == aborted {
		return l // the right side is not evaluated: it may abort
	}
	r := n.right.eval(get)
	if r.kind == null || r.kind == aborted {
		return r
	}
	if l.kind == text && r.kind == text { // texts have no order
		l, r = l.as(doubleValue), r.as(doubleValue)
	}
	c, ok := compare(l, r)
	if !ok {
		return value{kind: aborted}
	}
	return boolValue(n.holds(c))
}

// holds reports whether the sign fits a comparison's outcome.
func (n *comparison) holds(c int) bool {
	switch n.op {
	case signGreater:
		return c > 0
	case signGreaterEqual:
		return c >= 0
	case signLess:
		return c < 0
	}
	return c <= 0
}

func equality(l, r value) value {
	switch {
	case l.kind == aborted || r.kind == aborted:
		return value{kind: aborted}
	case l.kind == null && r.kind == null:
		return boolValue(true)
	case l.kind == null:
		return l
	case r.kind == null:
		return boolValue(false)
	}
	c, ok := compare(l, r)
	if !ok {
		return value{kind: aborted}
	}
	return boolValue(c == 0)
}

// isNull is IS NULL and IS NOT NULL. It is never unknown.
type isNull struct {
	operand node
	not     bool
}

func (n *isNull) eval(get lookup) value {
	v := n.operand.eval(get)
	if v.kind == aborted {
		return v
	}
	return boolValue((v.kind == null) != n.not)
}

// between is BETWEEN and NOT BETWEEN, which mean two comparisons.
type between struct {
	operand, low, high node
	not                bool
	meaning            logic
}

func newBetween(operand, low, high node, not bool) *between {
	n := &between{operand: operand, low: low, high: high, not: not}
	if not {
		n.meaning = logic{or: true, terms: []node{&comparison{signLess, operand, low}, &comparison{signGreater, operand, high}}}
	} else {
		n.meaning = logic{terms: []node{&comparison{signGreaterEqual, operand, low}, &comparison{signLessEqual, operand, high}}}
	}
	return n
}

func (n *between) eval(get lookup) value { return n.meaning.eval(get) }

// in is IN and NOT IN.
type in struct {
	*property
	not  bool
	list []string            // in the order of the text
	set  map[string]struct{} // nil: the list is short enough to be searched
}

func newIn(prop *property, list []string, not bool) *in {
	const short = 8
	n := &in{property: prop, not: not, list: list}
	if len(list) > short {
		n.set = make(map[string]struct{}, len(list))
		for _, s := range list {
			n.set[s] = struct{}{}
		}
	}
	return n
}

func (n *in) eval(get lookup) value {
	s, ok := get(n.name)
	if !ok {
		return value{}
	}
	if n.set == nil {
		return boolValue(slices.Contains(n.list, s) != n.not)
	}
	_, found := n.set[s]
	return boolValue(found != n.not)
}

// match is [NOT] CONTAINS, STARTSWITH and ENDSWITH. It is never unknown: what is no text does not match, with NOT neither.
type match struct {
	op      kind
	operand node
	not     bool
	part    string
}

func (n *match) eval(get lookup) value {
	if n.part == "" {
		return boolValue(false)
	}
	v := n.operand.eval(get)
	if v.kind == aborted {
		return v
	}
	if v.kind != text {
		return boolValue(false)
	}
	var found bool
	switch n.op {
	case kwContains:
		found = strings.Contains(v.s, n.part)
	case kwStartsWith:
		found = strings.HasPrefix(v.s, n.part)
	default:
		found = strings.HasSuffix(v.s, n.part)
	}
	return boolValue(found != n.not)
}
