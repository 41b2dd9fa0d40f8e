package sqlfilter

import "strings"

// Dialect is the language of a range of releases. The zero value is the latest.
type Dialect uint8

const (
	// Latest is the language of 5.1.3 and later.
	Latest Dialect = iota
	// WithoutTextOperators is the language of earlier releases: CONTAINS, STARTSWITH and ENDSWITH are names like others.
	WithoutTextOperators
)

// Result is what a condition is for one message.
type Result uint8

// The results. A message is delivered when the condition is true for it.
const (
	Unknown Result = iota // null in Java, or evaluating it fails there
	False
	True
)

// String is unknown, false or true.
func (r Result) String() string { return [...]string{"unknown", "false", "true"}[r] }

// Filter is a condition that has been read. It never changes and may be used from any goroutine.
type Filter struct {
	root    node
	names   []string
	ignored string
}

// Parse reads a condition of the latest dialect. What is wrong with it is a *[SyntaxError].
func Parse(condition string) (*Filter, error) { return Latest.Parse(condition) }

// Parse reads a condition of the dialect. What is wrong with it is a *[SyntaxError].
func (d Dialect) Parse(condition string) (*Filter, error) {
	p := parser{lexer: newLexer(condition, d)}
	if len(condition) > MaxLength {
		return nil, p.errorf(MaxLength, "the condition has %d bytes, at most %d are read", len(condition), MaxLength)
	}
	return p.filter()
}

// Eval is the condition's result for the message whose properties property finds. The time it takes grows with the
// length of the condition times the length of the properties that it names.
func (f *Filter) Eval(property func(name string) (string, bool)) Result {
	v := f.root.eval(property)
	switch {
	case v.kind != boolean:
		return Unknown
	case v.yes:
		return True
	}
	return False
}

// Names are the properties that the condition names, each once, in the order of the text.
func (f *Filter) Names() []string { return append([]string(nil), f.names...) }

// Ignored is what follows the condition in the text that was read: brokers do not look at it. It is a mistake whenever
// it is not empty.
func (f *Filter) Ignored() string { return f.ignored }

// String is the condition as a text that reads as an equal one.
func (f *Filter) String() string {
	var w strings.Builder
	f.root.print(&w)
	return w.String()
}
