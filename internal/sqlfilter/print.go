package sqlfilter

import (
	"strconv"
	"strings"
)

// printAt writes n, in parentheses when it would fall apart where the given strength is needed.
func printAt(w *strings.Builder, n node, needed int) {
	if n.strength() >= needed {
		n.print(w)
		return
	}
	w.WriteByte('(')
	n.print(w)
	w.WriteByte(')')
}

func printText(w *strings.Builder, s string) {
	w.WriteByte('\'')
	w.WriteString(strings.ReplaceAll(s, "'", "''"))
	w.WriteByte('\'')
}

func printNot(w *strings.Builder, not bool) {
	if not {
		w.WriteString("NOT ")
	}
}

func (n *constant) strength() int { return strengthValue }

func (n *constant) print(w *strings.Builder) {
	switch v := n.value; v.kind {
	case text:
		printText(w, v.s)
	case boolean:
		w.WriteString(strings.ToUpper(strconv.FormatBool(v.yes)))
	case int32Value, int64Value:
		w.WriteString(strconv.FormatInt(v.i, 10))
	case doubleValue:
		s := strconv.FormatFloat(v.f, 'g', -1, 64)
		if !strings.ContainsAny(s, ".e") {
			s += ".0"
		}
		w.WriteString(s)
	default:
		w.WriteString("NULL")
	}
}

func (n *property) strength() int { return strengthValue }

func (n *property) print(w *strings.Builder) { w.WriteString(n.name) }

func (n *negate) strength() int { return strengthUnary }

func (n *negate) print(w *strings.Builder) {
	w.WriteByte('-')
	if _, ok := n.operand.(*negate); ok {
		w.WriteByte(' ') // two signs side by side would begin a comment
	}
	printAt(w, n.operand, strengthUnary)
}

func (n *not) strength() int { return strengthUnary }

func (n *not) print(w *strings.Builder) {
	w.WriteString("NOT ")
	printAt(w, n.operand, strengthUnary)
}

func (n *logic) strength() int {
	if n.or {
		return strengthOr
	}
	return strengthAnd
}

func (n *logic) print(w *strings.Builder) {
	for i, term := range n.terms {
		switch {
		case i == 0:
		case n.or:
			w.WriteString(" OR ")
		default:
			w.WriteString(" AND ")
		}
		printAt(w, term, n.strength()+1)
	}
}

func (n *comparison) strength() int { return infixStrength(n.op) }

func (n *comparison) print(w *strings.Builder) {
	printAt(w, n.left, n.strength())
	w.WriteByte(' ')
	w.WriteString(n.op.String())
	w.WriteByte(' ')
	printAt(w, n.right, n.strength()+1)
}

func (n *isNull) strength() int { return strengthEquality }

func (n *isNull) print(w *strings.Builder) {
	printAt(w, n.operand, strengthEquality)
	w.WriteString(" IS ")
	printNot(w, n.not)
	w.WriteString("NULL")
}

func (n *between) strength() int { return strengthComparison }

func (n *between) print(w *strings.Builder) {
	printAt(w, n.operand, strengthComparison)
	w.WriteByte(' ')
	printNot(w, n.not)
	w.WriteString("BETWEEN ")
	printAt(w, n.low, strengthUnary)
	w.WriteString(" AND ")
	printAt(w, n.high, strengthUnary)
}

func (n *in) strength() int { return strengthComparison }

func (n *in) print(w *strings.Builder) {
	n.property.print(w)
	w.WriteByte(' ')
	printNot(w, n.not)
	w.WriteString("IN (")
	for i, s := range n.list {
		if i > 0 {
			w.WriteString(", ")
		}
		printText(w, s)
	}
	w.WriteByte(')')
}

func (n *match) strength() int { return strengthComparison }

func (n *match) print(w *strings.Builder) {
	printAt(w, n.operand, strengthComparison)
	w.WriteByte(' ')
	printNot(w, n.not)
	w.WriteString(n.op.String())
	w.WriteByte(' ')
	printText(w, n.part)
}
