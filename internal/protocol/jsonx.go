package protocol

import (
	"errors"
	"fmt"
	"strings"
)

// Java servers and clients write bodies with fastjson, and those are not always JSON: maps with integer keys have bare
// keys ({0:"ip:port"}), maps keyed by an object have the object as the key ({{"queueId":0,…}:1}). No JSON library reads
// that, so the files jsonx*.go hold a reader of their own: jsonScanner walks the text, StrictJSON rewrites it, and
// bodyCodec[T] decodes it into structs and writes them as Java expects. Text inside strings is never looked into.

// ErrBadBody is wrapped when a body cannot be read, with its name and what was wrong.
var ErrBadBody = errors.New("malformed body")

const (
	// maxBodyDepth bounds nesting, so that no body can exhaust the stack; Java's own bodies have five levels.
	maxBodyDepth = 64
	// maxKeyFields bounds an object that is a key; MessageQueue has three fields.
	maxKeyFields = 16
)

// jsonScanner walks a body. On top of strict JSON it accepts keys that are numbers or flat objects, a comma before a
// closing bracket, NaN and the infinities, and control bytes inside strings.
type jsonScanner struct {
	jsonReader
	keys keyEntries // of the key object passed last
}

func newScanner(text string) jsonScanner { return jsonScanner{jsonReader: jsonReader{s: text}} }

// scalarKind tells what a scalar's text was.
type scalarKind uint8

const (
	scalarString scalarKind = iota
	scalarNumber
	scalarBool
	scalarNull // also NaN and the infinities, which Java itself reads back as null
)

// finish reports text after the value.
func (s *jsonScanner) finish() error {
	if s.peek() != 0 || s.i < len(s.s) {
		return fmt.Errorf("text after the end at byte %d", s.i)
	}
	return nil
}

// items calls each for every element or entry up to the closing bracket; the opening one has been passed.
func (s *jsonScanner) items(closing byte, each func() error) error {
	for {
		if s.peek() == closing {
			s.i++
			return nil
		}
		if err := each(); err != nil {
			return err
		}
		switch b := s.peek(); b {
		case ',':
			s.i++
		case closing:
		default:
			return fmt.Errorf("want , or %c at byte %d", closing, s.i)
		}
	}
}

// open passes the bracket of an object or array and says which one closes it.
func (s *jsonScanner) open(depth int) (closing byte, err error) {
	if depth >= maxBodyDepth {
		return 0, fmt.Errorf("nested more than %d deep at byte %d", maxBodyDepth, s.i)
	}
	closing = ']'
	if s.s[s.i] == '{' {
		closing = '}'
	}
	s.i++
	return closing, nil
}

// skip passes over one value of any kind without taking memory for it.
func (s *jsonScanner) skip(depth int) error {
	if b := s.peek(); b != '{' && b != '[' {
		_, _, err := s.rawScalar()
		return err
	}
	closing, err := s.open(depth)
	if err != nil {
		return err
	}
	return s.items(closing, func() error {
		if closing == '}' {
			if err := s.skipKey(); err != nil {
				return err
			}
		}
		return s.skip(depth + 1)
	})
}

// skipKey passes over a key of any form and its colon.
func (s *jsonScanner) skipKey() error {
	var err error
	if s.peek() == '{' {
		_, err = s.keyObject()
	} else {
		_, err = s.keyText()
	}
	if err != nil {
		return err
	}
	return s.expect(':')
}

// keyText passes over a key that is a string or a number and returns its source text.
func (s *jsonScanner) keyText() (string, error) {
	start := s.i
	raw, kind, err := s.rawScalar()
	if err != nil {
		return "", err
	}
	if kind != scalarString && kind != scalarNumber {
		return "", fmt.Errorf("want a key at byte %d", start)
	}
	return raw, nil
}

// keyEntry is one field of an object that is a key: source texts of a key and a scalar.
type keyEntry struct {
	key, value string
}

// keyEntries are the fields of a key object in the order of their names, which makes equal keys equal text.
type keyEntries struct {
	entries [maxKeyFields]keyEntry
	n       int
}

// keyObject passes over an object that is a key. Its values are scalars: nothing else has been seen, and deeper nesting
// would let quoted text grow beyond all bounds.
func (s *jsonScanner) keyObject() (*keyEntries, error) {
	s.i++
	s.keys.n = 0
	err := s.items('}', func() error {
		s.peek()
		key, err := s.keyText()
		if err != nil {
			return err
		}
		if err := s.expect(':'); err != nil {
			return err
		}
		if b := s.peek(); b == '{' || b == '[' {
			return fmt.Errorf("nested key object at byte %d", s.i)
		}
		value, _, err := s.rawScalar()
		if err != nil {
			return err
		}
		return s.keys.insert(keyEntry{key, value})
	})
	return &s.keys, err
}

func (k *keyEntries) insert(e keyEntry) error {
	if k.n == maxKeyFields {
		return fmt.Errorf("key object of more than %d fields", maxKeyFields)
	}
	i := k.n
	for ; i > 0 && k.entries[i-1].key > e.key; i-- {
		k.entries[i] = k.entries[i-1]
	}
	k.entries[i] = e
	k.n++
	return nil
}

// rawScalar passes over a string, number or literal and returns its source text, a string's with its quotes.
func (s *jsonScanner) rawScalar() (raw string, kind scalarKind, err error) {
	b := s.peek()
	start := s.i
	switch {
	case b == '"':
		kind, err = scalarString, s.skipString()
	case b == '-' && strings.HasPrefix(s.s[s.i:], "-Infinity"):
		kind = scalarNull
		s.i += len("-Infinity")
	case b == '-' || b >= '0' && b <= '9':
		kind, err = scalarNumber, s.skipNumber()
	case b == 't':
		kind, err = scalarBool, s.literal("true")
	case b == 'f':
		kind, err = scalarBool, s.literal("false")
	case b == 'n':
		kind, err = scalarNull, s.literal("null")
	case b == 'N':
		kind, err = scalarNull, s.literal("NaN")
	case b == 'I':
		kind, err = scalarNull, s.literal("Infinity")
	default:
		err = fmt.Errorf("no value at byte %d", s.i)
	}
	if err != nil {
		return "", 0, err
	}
	return s.s[start:s.i], kind, nil
}

// skipString passes over a string, checking its escapes.
func (s *jsonScanner) skipString() error {
	start := s.i
	for s.i++; s.i < len(s.s); s.i++ {
		switch s.s[s.i] {
		case '"':
			s.i++
			return nil
		case '\\':
			s.i++
			if s.i >= len(s.s) {
				return fmt.Errorf("string at byte %d not closed", start)
			}
			switch b := s.s[s.i]; b {
			case '"', '\\', '/', '\'', 'b', 'f', 'n', 'r', 't':
			case 'u':
				s.i++
				if _, err := s.hex4(); err != nil {
					return err
				}
				s.i--
			default:
				return fmt.Errorf("unknown escape %q at byte %d", b, s.i)
			}
		}
	}
	return fmt.Errorf("string at byte %d not closed", start)
}

// skipNumber passes over a number of JSON's grammar.
func (s *jsonScanner) skipNumber() error {
	start := s.i
	if s.s[s.i] == '-' {
		s.i++
	}
	whole := s.i
	ok := s.skipDigits() && (s.s[whole] != '0' || s.i == whole+1)
	if ok && s.at('.') {
		s.i++
		ok = s.skipDigits()
	}
	if ok && (s.at('e') || s.at('E')) {
		s.i++
		if s.at('+') || s.at('-') {
			s.i++
		}
		ok = s.skipDigits()
	}
	if !ok {
		return fmt.Errorf("malformed number at byte %d", start)
	}
	return nil
}

func (s *jsonScanner) at(b byte) bool { return s.i < len(s.s) && s.s[s.i] == b }

// skipDigits passes over digits and reports whether there was one.
func (s *jsonScanner) skipDigits() bool {
	start := s.i
	for s.i < len(s.s) && s.s[s.i] >= '0' && s.s[s.i] <= '9' {
		s.i++
	}
	return s.i > start
}
