package sqlfilter

import "fmt"

// ordered refuses what cannot be more or less than something: all but numbers and properties.
func (p *parser) ordered(n node, at int, op kind) error {
	if _, ok := n.(*not); ok {
		return p.errorf(at, "NOT belongs to what directly follows it; write NOT (… %s …)", op)
	}
	if c, ok := n.(*constant); ok && !c.value.isNumber() || !ok && isCondition(n) {
		return p.errorf(at, "%s compares numbers, and %s is none", op, describe(n))
	}
	return nil
}

// condition makes sure that n is true, false or unknown.
func (p *parser) condition(n node, at int) (node, error) {
	if prop, ok := n.(*property); ok {
		return &cast{prop}, nil
	}
	if !isCondition(n) {
		return nil, p.errorf(at, "expected a condition, found %s alone", describe(n))
	}
	return n, nil
}

// isCondition reports whether a node is a BooleanExpression in Java, NULL included.
func isCondition(n node) bool {
	switch n := n.(type) {
	case *constant:
		return n.value.kind == boolean || n.value.kind == null
	case *property, *negate:
		return false
	}
	return true
}

func describe(n node) string {
	switch n := n.(type) {
	case *constant:
		switch n.value.kind {
		case text:
			return "a text"
		case boolean, null:
			return fmt.Sprint(&Filter{root: n})
		}
		return "a number"
	case *negate:
		return "a number"
	case *property:
		return "a property"
	}
	return "a condition"
}
