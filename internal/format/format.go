// Package format is how messages are written for people and scripts, and read back: the %-verb language of `-f` and
// `--in`, and the JSONL envelope.
//
// The verbs, in both directions:
//
//	%t topic          %b broker        %q queue         %o offset       %i counter, from 1
//	%k keys           %g tags          %v body          %V body length  %r reconsume times
//	%m message id     %M offset id     %d born time     %s store time
//	%h{…} every property, with %k its name and %v its value
//	%% a percent sign, %{ and %} braces, \n \t \r \\ \xNN
//
// %k %g %v and %t %b %m %M take {hex}, {base64} or {json}, the times take {ms}. Nothing is added: a format that should
// end lines says \n.
package format

import (
	"errors"
	"fmt"
	"strings"
)

// ErrFormat is wrapped by Parse and ParseInput with what is wrong with a format and where.
var ErrFormat = errors.New("message format")

// modifier is how a value is written.
type modifier uint8

const (
	plain modifier = iota
	hexDigits
	base64Text
	jsonString
	epochMillis
)

var modifiers = map[string]modifier{"hex": hexDigits, "base64": base64Text, "json": jsonString, "ms": epochMillis}

// part is a literal (verb 0) or a verb of a format.
type part struct {
	verb    byte
	mod     modifier
	literal string
	inner   []part // of %h
}

// Format is a parsed format for printing. It may be used by several goroutines at once.
type Format struct {
	parts []part
}

const (
	textVerbs   = "tbkgvmM"
	timeVerbs   = "ds"
	numberVerbs = "qorVi"
	innerVerbs  = "kv"
)

// Parse reads a format for printing.
func Parse(spec string) (*Format, error) {
	p := parser{spec: spec}
	parts, err := p.parse(false)
	if err != nil {
		return nil, err
	}
	return &Format{parts: parts}, nil
}

type parser struct {
	spec string
	pos  int
}

func (p *parser) fail(at int, format string, args ...any) error {
	return fmt.Errorf("%w %q: at character %d: %s", ErrFormat, p.spec, at+1, fmt.Sprintf(format, args...))
}

// parse reads parts up to the end, or inside %h up to its closing brace.
func (p *parser) parse(inside bool) (parts []part, err error) {
	var literal strings.Builder
	flush := func() {
		if literal.Len() > 0 {
			parts = append(parts, part{literal: literal.String()})
			literal.Reset()
		}
	}
	start := p.pos
	for p.pos < len(p.spec) {
		switch c := p.spec[p.pos]; {
		case c == '}' && inside:
			p.pos++
			flush()
			return parts, nil
		case c == '\\':
			b, err := p.escape()
			if err != nil {
				return nil, err
			}
			literal.WriteByte(b)
		case c == '%' && p.pos+1 < len(p.spec) && strings.IndexByte("%{}", p.spec[p.pos+1]) >= 0:
			literal.WriteByte(p.spec[p.pos+1])
			p.pos += 2
		case c == '%':
			flush()
			v, err := p.verb(inside)
			if err != nil {
				return nil, err
			}
			parts = append(parts, v)
		default:
			literal.WriteByte(c)
			p.pos++
		}
	}
	if inside {
		return nil, p.fail(start-1, "%%h{ is not closed by }")
	}
	flush()
	return parts, nil
}

func (p *parser) escape() (byte, error) {
	at := p.pos
	rest := p.spec[p.pos+1:]
	if rest == "" {
		return 0, p.fail(at, `a single \ at the end; write \\`)
	}
	p.pos += 2
	switch rest[0] {
	case 'n':
		return '\n', nil
	case 't':
		return '\t', nil
	case 'r':
		return '\r', nil
	case '\\':
		return '\\', nil
	case 'x':
		if len(rest) >= 3 && unhex(rest[1]) >= 0 && unhex(rest[2]) >= 0 {
			p.pos += 2
			return byte(unhex(rest[1])<<4 | unhex(rest[2])), nil
		}
		return 0, p.fail(at, `\x wants two hex digits, such as \x1e`)
	}
	return 0, p.fail(at, `unknown escape; known are \n \t \r \\ \xNN`)
}

func unhex(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// verb reads one %-verb with its modifier.
func (p *parser) verb(inside bool) (part, error) {
	at := p.pos
	p.pos++
	if p.pos == len(p.spec) {
		return part{}, p.fail(at, "a single %% at the end; write %%%%")
	}
	v := part{verb: p.spec[p.pos]}
	p.pos++
	switch {
	case inside && strings.IndexByte(innerVerbs, v.verb) < 0:
		return part{}, p.fail(at, "%%%c inside %%h{…}; known there are %%k (name) and %%v (value)", v.verb)
	case v.verb == 'h':
		return p.properties(at, v)
	case strings.IndexByte(textVerbs+timeVerbs+numberVerbs, v.verb) < 0:
		return part{}, p.fail(at, "unknown verb %%%c; known are %%t %%b %%q %%o %%k %%g %%v %%h{…} %%m %%M %%d %%s %%r %%V %%i %%%%", v.verb)
	}
	if p.pos == len(p.spec) || p.spec[p.pos] != '{' {
		return v, nil
	}
	name, _, ok := strings.Cut(p.spec[p.pos+1:], "}")
	if !ok {
		return part{}, p.fail(p.pos, "{ is not closed; a plain brace is written %%{")
	}
	mod, known := modifiers[name]
	switch {
	case !known:
		return part{}, p.fail(p.pos, "unknown modifier {%s}; known are {hex} {base64} {json}, and {ms} for times; a plain brace is written %%{", name)
	case (mod == epochMillis) != (strings.IndexByte(timeVerbs, v.verb) >= 0) || strings.IndexByte(numberVerbs, v.verb) >= 0:
		return part{}, p.fail(p.pos, "%%%c does not take {%s}", v.verb, name)
	}
	p.pos += len(name) + 2
	v.mod = mod
	return v, nil
}

func (p *parser) properties(at int, v part) (part, error) {
	if p.pos == len(p.spec) || p.spec[p.pos] != '{' {
		return part{}, p.fail(at, "%%h wants what to print of each property: %%h{%%k=%%v }")
	}
	p.pos++
	var err error
	v.inner, err = p.parse(true)
	return v, err
}
