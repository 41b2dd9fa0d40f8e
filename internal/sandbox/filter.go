package sandbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"mqctl/internal/protocol"
	"mqctl/internal/sqlfilter"
)

const (
	// maxConditions bounds the conditions that are kept parsed, and keptCondition the length of one in bytes: parsed they
	// take some fifty times that.
	maxConditions = 100
	keptCondition = 8 << 10
)

// errExpressionType is wrapped for an expression that is neither tags nor SQL92.
var errExpressionType = errors.New("unknown expression type")

// filter is what a broker makes of a subscription. By tags it compares hashes: messages of other tags with the same hash
// pass. By SQL92 it evaluates a condition over the properties.
type filter struct {
	all   bool
	codes []int32
	sql   *sqlfilter.Filter // nil: by tags
	// values are the properties of the message that sql is evaluated on.
	values map[string]string
}

// filterOf is the filter of a heartbeat's subscription by tags. Only its hashes count: an expression that came without
// them takes nothing.
func filterOf(s *protocol.SubscriptionData) filter {
	return filter{all: s.SubString == protocol.SubscribeAll, codes: s.CodeSet}
}

// parseTags is the filter of a pull that brings its own expression. Java's way of splitting drops empty parts at the end, and
// refuses an expression of nothing else; parts that are blank are no tags, and without any tag nothing matches.
func parseTags(expression string) (filter, error) {
	if expression == "" || expression == protocol.SubscribeAll {
		return filter{all: true}, nil
	}
	parts := strings.Split(expression, "||")
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return filter{}, fmt.Errorf("no tag in %q", expression)
	}
	var f filter
	for _, tag := range parts {
		if tag = strings.TrimSpace(tag); tag != "" {
			f.codes = append(f.codes, protocol.HashString(tag))
		}
	}
	return f, nil
}

// parsedSQL is a condition and what was wrong with it.
type parsedSQL struct {
	filter *sqlfilter.Filter
	err    error
}

// parseSQL reads a condition of an expression type in the language of the sandbox's release. Pulls bring the same ones over
// and over.
func (s *Sandbox) parseSQL(kind, condition string) (*sqlfilter.Filter, error) {
	if kind != protocol.ExpressionSQL92 {
		return nil, fmt.Errorf("%w %q", errExpressionType, kind)
	}
	if p, ok := s.conditions[condition]; ok {
		return p.filter, p.err
	}
	dialect := sqlfilter.Latest
	if !s.since(version513) {
		dialect = sqlfilter.WithoutTextOperators
	}
	f, err := dialect.Parse(condition)
	if len(condition) > keptCondition {
		return f, err
	}
	if len(s.conditions) >= maxConditions {
		clear(s.conditions)
	}
	s.conditions[condition] = parsedSQL{f, err}
	return f, err
}

// match reports whether a pull gets the message.
func (f *filter) match(e *entry, b *broker) bool {
	if f.sql != nil {
		return f.matchSQL(e, b)
	}
	return f.all || slices.ContainsFunc(f.codes, func(c int32) bool { return int64(c) == e.tags })
}

// matchSQL evaluates the condition. The properties are put into a map first: a condition may look at them many times.
func (f *filter) matchSQL(e *entry, b *broker) bool {
	m := b.message(e.offset)
	if m == nil {
		return false
	}
	if f.values == nil {
		f.values = map[string]string{}
	}
	clear(f.values)
	for _, p := range m.Properties() {
		f.values[p.Name] = p.Value
	}
	return f.sql.Eval(func(name string) (string, bool) { v, ok := f.values[name]; return v, ok }) == sqlfilter.True
}
