package protocol

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// appendJSONHeader writes the JSON header by hand: a map and encoding/json would cost more than the rest of a send.
func appendJSONHeader(dst []byte, c *Command) ([]byte, error) {
	dst = append(dst, `{"code":`...)
	dst = strconv.AppendInt(dst, int64(c.Code), 10)
	extStart := len(dst)
	dst = append(dst, `,"extFields":{`...)
	first := len(dst)
	dst, err := appendExt(dst, c, &jsonExt)
	if err != nil {
		return dst, err
	}
	if len(dst) > first {
		dst = append(dst[:len(dst)-1], '}') // the last field's comma
	} else if c.IsResponse() && c.Header != nil {
		dst = append(dst, '}') // Java reads fields of a send answer from this map and fails on a missing one
	} else {
		dst = dst[:extStart]
	}
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(c.Flag), 10)
	dst = append(dst, `,"language":"`...)
	dst = append(dst, c.Language.String()...)
	dst = append(dst, `","opaque":`...)
	dst = strconv.AppendInt(dst, int64(c.Opaque), 10)
	if c.Remark != "" {
		dst = append(dst, `,"remark":`...)
		dst = appendJSONString(dst, c.Remark)
	}
	dst = append(dst, `,"serializeTypeCurrentRPC":"JSON","version":`...)
	dst = strconv.AppendInt(dst, int64(c.Version), 10)
	return append(dst, '}'), nil
}

const hexDigits = "0123456789abcdef"

// appendJSONString quotes s. Bytes that are not UTF-8 pass as they are: the reader's replacement is the reader's choice.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		b := s[i]
		if b >= 0x20 && b != '"' && b != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch b {
		case '"', '\\':
			dst = append(dst, '\\', b)
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
		}
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// jsonReader walks the JSON header of one frame. Strings without escapes are slices of s.
type jsonReader struct {
	s string
	i int
}

// maxHeaderDepth bounds the nesting of values that are skipped; real headers have one level.
const maxHeaderDepth = 16

func (c *Command) decodeJSONHeader(h string) error {
	c.Code, c.Language, c.Version, c.Opaque, c.Flag, c.Remark, c.Ext = 0, LanguageOther, 0, 0, 0, "", c.Ext[:0]
	r := jsonReader{s: h}
	seen := false
	err := r.object(func(key string) error {
		switch key {
		case "code":
			seen = true
			return r.int32(&c.Code)
		case "version":
			return r.int32(&c.Version)
		case "opaque":
			return r.int32(&c.Opaque)
		case "flag":
			return r.int32(&c.Flag)
		case "remark":
			return r.nullableString(&c.Remark)
		case "language":
			var name string
			err := r.nullableString(&name)
			c.Language = ParseLanguage(name)
			return err
		case "extFields":
			return r.extFields(&c.Ext)
		}
		return r.skip(0)
	})
	if err == nil && !seen {
		err = fmt.Errorf("no code")
	}
	if err == nil && r.peek() != 0 {
		err = fmt.Errorf("text after the object at byte %d", r.i)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadHeader, err)
	}
	return nil
}

func (r *jsonReader) extFields(ext *ExtFields) error {
	if r.peek() == 'n' {
		return r.literal("null")
	}
	return r.object(func(key string) error {
		f := ExtField{Key: key}
		var err error
		switch b := r.peek(); {
		case b == '"':
			f.Value, err = r.string()
		case b == 'n':
			return r.literal("null") // a null field is an absent one
		default: // a number or boolean from a careless writer
			start := r.i
			err = r.skip(0)
			f.Value = r.s[start:r.i]
		}
		if err != nil {
			return err
		}
		return ext.addReceived(f)
	})
}

// peek skips blanks and returns the next byte, 0 at the end.
func (r *jsonReader) peek() byte {
	for r.i < len(r.s) {
		switch b := r.s[r.i]; b {
		case ' ', '\t', '\n', '\r':
			r.i++
		default:
			return b
		}
	}
	return 0
}

func (r *jsonReader) expect(b byte) error {
	if got := r.peek(); got != b {
		return fmt.Errorf("%q at byte %d, want %q", got, r.i, b)
	}
	r.i++
	return nil
}

// object calls value for each key, with the reader placed before its value.
func (r *jsonReader) object(value func(key string) error) error {
	if err := r.expect('{'); err != nil {
		return err
	}
	if r.peek() == '}' {
		r.i++
		return nil
	}
	for {
		key, err := r.string()
		if err != nil {
			return err
		}
		if err := r.expect(':'); err != nil {
			return err
		}
		if err := value(key); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.i++
		case '}':
			r.i++
			return nil
		default:
			return fmt.Errorf("object not closed at byte %d", r.i)
		}
	}
}

func (r *jsonReader) int32(v *int32) error {
	r.peek()
	start := r.i
	for r.i < len(r.s) && (r.s[r.i] == '-' || r.s[r.i] >= '0' && r.s[r.i] <= '9') {
		r.i++
	}
	n, err := strconv.ParseInt(r.s[start:r.i], 10, 32)
	if err != nil {
		return fmt.Errorf("number at byte %d: %w", start, err)
	}
	*v = int32(n)
	return nil
}

func (r *jsonReader) nullableString(v *string) (err error) {
	if r.peek() == 'n' {
		return r.literal("null")
	}
	*v, err = r.string()
	return err
}

func (r *jsonReader) literal(word string) error {
	if !strings.HasPrefix(r.s[r.i:], word) {
		return fmt.Errorf("want %s at byte %d", word, r.i)
	}
	r.i += len(word)
	return nil
}

func (r *jsonReader) string() (string, error) {
	if err := r.expect('"'); err != nil {
		return "", err
	}
	start := r.i
	for r.i < len(r.s) {
		switch r.s[r.i] {
		case '"':
			s := r.s[start:r.i]
			r.i++
			return s, nil
		case '\\':
			return r.escapedString(start)
		}
		r.i++
	}
	return "", fmt.Errorf("string at byte %d not closed", start)
}

func (r *jsonReader) escapedString(start int) (string, error) {
	buf := append(make([]byte, 0, r.i-start+32), r.s[start:r.i]...)
	for r.i < len(r.s) {
		b := r.s[r.i]
		r.i++
		switch b {
		case '"':
			return string(buf), nil
		case '\\':
			var err error
			if buf, err = r.escape(buf); err != nil {
				return "", err
			}
		default:
			buf = append(buf, b)
		}
	}
	return "", fmt.Errorf("string at byte %d not closed", start)
}

func (r *jsonReader) escape(buf []byte) ([]byte, error) {
	if r.i >= len(r.s) {
		return nil, fmt.Errorf("escape cut short")
	}
	b := r.s[r.i]
	r.i++
	switch b {
	case '"', '\\', '/', '\'':
		return append(buf, b), nil
	case 'b':
		return append(buf, '\b'), nil
	case 'f':
		return append(buf, '\f'), nil
	case 'n':
		return append(buf, '\n'), nil
	case 'r':
		return append(buf, '\r'), nil
	case 't':
		return append(buf, '\t'), nil
	case 'u':
		u, err := r.hex4()
		if err != nil {
			return nil, err
		}
		if utf16.IsSurrogate(u) && strings.HasPrefix(r.s[r.i:], `\u`) {
			save := r.i
			r.i += 2
			low, err := r.hex4()
			if err != nil {
				return nil, err
			}
			if pair := utf16.DecodeRune(u, low); pair != utf8.RuneError {
				return utf8.AppendRune(buf, pair), nil
			}
			r.i = save
		}
		return utf8.AppendRune(buf, u), nil
	}
	return nil, fmt.Errorf("unknown escape %q at byte %d", b, r.i-1)
}

func (r *jsonReader) hex4() (rune, error) {
	if len(r.s)-r.i < 4 {
		return 0, fmt.Errorf("escape cut short")
	}
	n, err := strconv.ParseUint(r.s[r.i:r.i+4], 16, 16)
	if err != nil {
		return 0, fmt.Errorf("escape at byte %d: %w", r.i, err)
	}
	r.i += 4
	return rune(n), nil
}

// skip passes over one value of any kind.
func (r *jsonReader) skip(depth int) error {
	if depth > maxHeaderDepth {
		return fmt.Errorf("nested more than %d deep", maxHeaderDepth)
	}
	switch b := r.peek(); {
	case b == '"':
		_, err := r.string()
		return err
	case b == '{':
		return r.object(func(string) error { return r.skip(depth + 1) })
	case b == '[':
		return r.skipArray(depth)
	case b == 't':
		return r.literal("true")
	case b == 'f':
		return r.literal("false")
	case b == 'n':
		return r.literal("null")
	case b == '-' || b >= '0' && b <= '9':
		for r.i < len(r.s) && strings.IndexByte("+-.eE0123456789", r.s[r.i]) >= 0 {
			r.i++
		}
		return nil
	}
	return fmt.Errorf("no value at byte %d", r.i)
}

func (r *jsonReader) skipArray(depth int) error {
	r.i++
	if r.peek() == ']' {
		r.i++
		return nil
	}
	for {
		if err := r.skip(depth + 1); err != nil {
			return err
		}
		switch r.peek() {
		case ',':
			r.i++
		case ']':
			r.i++
			return nil
		default:
			return fmt.Errorf("array not closed at byte %d", r.i)
		}
	}
}
