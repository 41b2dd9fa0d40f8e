package sqlfilter

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// kind is what a token is. Keywords and signs are kinds of their own.
type kind uint8

const (
	tokEnd kind = iota
	tokName
	tokText
	tokInteger
	tokDecimal
	kwNot
	kwAnd
	kwOr
	kwBetween
	kwIn
	kwTrue
	kwFalse
	kwNull
	kwIs
	kwContains
	kwStartsWith
	kwEndsWith
	signEqual
	signNotEqual
	signGreater
	signGreaterEqual
	signLess
	signLessEqual
	signOpen
	signComma
	signClose
	signPlus
	signMinus
)

// kindNames are the kinds as error texts call them.
var kindNames = [...]string{
	tokEnd: "the end", tokName: "a property", tokText: "a text in single quotes", tokInteger: "a number", tokDecimal: "a number",
	kwNot: "NOT", kwAnd: "AND", kwOr: "OR", kwBetween: "BETWEEN", kwIn: "IN", kwTrue: "TRUE", kwFalse: "FALSE", kwNull: "NULL",
	kwIs: "IS", kwContains: "CONTAINS", kwStartsWith: "STARTSWITH", kwEndsWith: "ENDSWITH", signEqual: "=", signNotEqual: "<>",
	signGreater: ">", signGreaterEqual: ">=", signLess: "<", signLessEqual: "<=", signOpen: "(", signComma: ",", signClose: ")", signPlus: "+", signMinus: "-",
}

func (k kind) String() string { return kindNames[k] }

// keyword finds the kind of a word, in any case.
func (d Dialect) keyword(word string) kind {
	const shortest, longest = 2, 10
	if len(word) < shortest || len(word) > longest {
		return tokName
	}
	upper := strings.ToUpper(word)
	last := kwEndsWith
	if d == WithoutTextOperators {
		last = kwIs
	}
	for k := kwNot; k <= last; k++ {
		if kindNames[k] == upper {
			return k
		}
	}
	return tokName
}

// token is one piece of the text, from one byte offset to another.
type token struct {
	kind     kind
	from, to int
}

// lexer cuts a text into tokens, each when it is asked for: what nobody asks for may be anything.
type lexer struct {
	src       string
	dialect   Dialect
	lastBreak int // where the last line break is, so that looking for one never runs in vain
}

func newLexer(src string, d Dialect) lexer {
	return lexer{src: src, dialect: d, lastBreak: strings.LastIndexAny(src, "\r\n")}
}

// next is the first token at or behind offset i.
func (l *lexer) next(i int) (token, error) {
	i = l.skip(i)
	if i == len(l.src) {
		return token{tokEnd, i, i}, nil
	}
	switch c := l.src[i]; {
	case c == '\'':
		return l.text(i)
	case isDigit(c), c == '.' && l.digits(i+1) > i+1:
		return l.number(i), nil
	case isNameStart(c):
		end := i + 1
		for end < len(l.src) && (isNameStart(l.src[end]) || isDigit(l.src[end])) {
			end++
		}
		return token{l.dialect.keyword(l.src[i:end]), i, end}, nil
	}
	for _, k := range signs {
		if s := kindNames[k]; strings.HasPrefix(l.src[i:], s) {
			return token{k, i, i + len(s)}, nil
		}
	}
	return token{}, l.unknown(i)
}

// signs are in an order that finds the longest first.
var signs = [...]kind{signNotEqual, signGreaterEqual, signLessEqual, signEqual, signGreater, signLess, signOpen, signComma, signClose, signPlus, signMinus}

// skip is the offset of the first byte at or behind i that is neither blank nor in a comment.
func (l *lexer) skip(i int) int {
	for i < len(l.src) {
		rest := l.src[i:]
		switch {
		case strings.IndexByte(" \t\n\r\f", rest[0]) >= 0:
			i++
		case strings.HasPrefix(rest, "--") && i < l.lastBreak:
			i += strings.IndexAny(rest, "\r\n") + 1
		case strings.HasPrefix(rest, "/*"):
			n := strings.Index(rest[2:], "*/")
			if n < 0 {
				return i
			}
			i += n + 4
		default:
			return i
		}
	}
	return i
}

// text is the token of a text that begins at i. A text that does not end has ended at its last pair of quotes, if it has
// one: what comes of that is an error if anyone looks further.
func (l *lexer) text(i int) (token, error) {
	pair := 0
	for end := i + 1; ; end = pair + 2 {
		n := strings.IndexByte(l.src[end:], '\'')
		switch {
		case n >= 0 && strings.HasPrefix(l.src[end+n+1:], "'"):
			pair = end + n
		case n >= 0:
			return token{tokText, i, end + n + 1}, nil
		case pair > 0:
			return token{tokText, i, pair + 1}, nil
		default:
			return token{}, l.errorf(i, "the text in single quotes does not end")
		}
	}
}

// number is the longest number at i. Before a point or an exponent an integer may begin with zeros, else it ends there.
func (l *lexer) number(i int) token {
	end := l.digits(i)
	t := token{tokInteger, i, end}
	if end < len(l.src) && l.src[end] == '.' {
		end = l.digits(end + 1)
		t = token{tokDecimal, i, end}
	}
	if e := l.exponent(end); e > end {
		return token{tokDecimal, i, e}
	}
	if t.kind == tokDecimal {
		return t
	}
	if l.src[i] == '0' {
		t.to = i + 1
	} else if end < len(l.src) && (l.src[end] == 'l' || l.src[end] == 'L') {
		t.to = end + 1
	}
	return t
}

// digits is the offset behind the digits at i.
func (l *lexer) digits(i int) int {
	for i < len(l.src) && isDigit(l.src[i]) {
		i++
	}
	return i
}

// exponent is the offset behind the exponent at i, i itself when there is no whole one.
func (l *lexer) exponent(i int) int {
	if i == len(l.src) || l.src[i]|0x20 != 'e' {
		return i
	}
	start := i + 1
	if start < len(l.src) && (l.src[start] == '+' || l.src[start] == '-') {
		start++
	}
	if end := l.digits(start); end > start {
		return end
	}
	return i
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isNameStart(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '$' }

// unknown is the error for a character that begins no token, with what may have been meant.
func (l *lexer) unknown(i int) error {
	rest := l.src[i:]
	switch {
	case strings.HasPrefix(rest, "!="):
		return l.errorf(i, "!= is not in the language; write <>")
	case rest[0] == '"':
		return l.errorf(i, "double quotes are not in the language; texts stand in single quotes")
	case strings.HasPrefix(rest, "/*"):
		return l.errorf(i, "the comment does not end")
	case strings.HasPrefix(rest, "&&"), strings.HasPrefix(rest, "||"):
		return l.errorf(i, "%s is not in the language; write AND or OR", rest[:2])
	}
	r, _ := utf8.DecodeRuneInString(rest)
	return l.errorf(i, "the character %q is not in the language", r)
}

// SyntaxError says why a text is no condition.
type SyntaxError struct {
	// Offset is where the text is wrong, in bytes from 0.
	Offset int
	// Line and Column are the same place, both from 1; columns count characters.
	Line, Column int
	// Reason is what is wrong there.
	Reason string
}

// Error is the place and the reason, in one line.
func (e *SyntaxError) Error() string {
	if e.Line == 1 {
		return fmt.Sprintf("column %d: %s", e.Column, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

func (l *lexer) errorf(offset int, format string, args ...any) error {
	before := l.src[:offset]
	start := strings.LastIndexByte(before, '\n') + 1
	return &SyntaxError{
		Offset: offset, Line: strings.Count(before, "\n") + 1, Column: utf8.RuneCountInString(before[start:]) + 1,
		Reason: fmt.Sprintf(format, args...),
	}
}
