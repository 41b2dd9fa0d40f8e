package sandbox

import (
	"fmt"
	"slices"
	"strings"

	"mqctl/internal/protocol"
	"mqctl/internal/sqlfilter"
)

// maxFilters bounds the conditions that are kept parsed.
const maxFilters = 1000

// filter is what a broker makes of a subscription. By tags it compares hashes: messages of other tags with the same hash
// pass. By SQL92 it evaluates a condition over the properties.
type filter struct {
	all   bool
	codes []int32
	sql   *sqlfilter.Filter // nil: by tags
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

// parseSQL reads a condition in the language of the sandbox's release. Pulls bring the same ones over and over.
func (s *Sandbox) parseSQL(condition string) (*sqlfilter.Filter, error) {
	if p, ok := s.conditions[condition]; ok {
		return p.filter, p.err
	}
	dialect := sqlfilter.Latest
	if !s.since(version513) {
		dialect = sqlfilter.WithoutTextOperators
	}
	f, err := dialect.Parse(condition)
	if len(s.conditions) >= maxFilters {
		clear(s.conditions)
	}
	s.conditions[condition] = parsedSQL{f, err}
	return f, err
}

// match reports whether a pull gets the message.
func (f *filter) match(e *entry, b *broker) bool {
	if f.sql != nil {
		m := b.message(e.offset)
		return m != nil && f.sql.Eval(func(name string) (string, bool) {
			v, ok := m.PropertyBytes(name)
			return string(v), ok
		}) == sqlfilter.True
	}
	return f.all || slices.ContainsFunc(f.codes, func(c int32) bool { return int64(c) == e.tags })
}
