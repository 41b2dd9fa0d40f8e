package format

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"mqctl/internal/protocol"
)

// input is a format for reading.
type input struct {
	parts []part
}

// parseInput reads a format for reading: what ends each value must be clear.
func parseInput(spec string) (*input, error) {
	p := parser{spec: spec}
	parts, err := p.parse(false)
	if err != nil {
		return nil, err
	}
	refuse := func(format string, args ...any) (*input, error) {
		return nil, fmt.Errorf("%w %q for reading: %s", ErrFormat, spec, fmt.Sprintf(format, args...))
	}
	body, sized := false, false
	for i, v := range parts {
		literalNext := i+1 < len(parts) && parts[i+1].verb == 0
		last := i+1 == len(parts)
		switch v.verb {
		case 0:
			continue
		case 'V':
			sized = true
		case 'v':
			body = true
			if sized && v.mod == plain {
				continue // its length was read
			}
		case 'h':
			if !endsItself(v.inner) {
				return refuse("inside %%h{…} a text must follow %%k and %%v each, such as %%h{%%k=%%v;}")
			}
			if !literalNext {
				return refuse("a text must follow %%h{…} to show where the properties end")
			}
		}
		if !literalNext && !last && v.mod != jsonString {
			return refuse("a text must follow %%%c to show where it ends", v.verb)
		}
	}
	if !body {
		return refuse("without %%v there is no body to send")
	}
	return &input{parts: parts}, nil
}

// endsItself reports whether each verb inside %h is followed by a literal, and whether there are a name and a value.
func endsItself(inner []part) bool {
	seen := map[byte]bool{}
	for i, v := range inner {
		if v.verb == 0 {
			continue
		}
		seen[v.verb] = true
		if i+1 == len(inner) || inner[i+1].verb != 0 {
			return false
		}
	}
	return seen['k'] && seen['v']
}

// record is the state of reading one message.
type record struct {
	rd   *Reader
	m    protocol.Message
	size int // from %V, -1 before it
	left int // bytes that this record may still take
}

func (in *input) next(rd *Reader) (*protocol.Message, error) {
	if _, err := rd.r.Peek(1); err != nil {
		rd.count--
		return nil, err
	}
	rec := &record{rd: rd, size: -1, left: maxRecord}
	for i := range in.parts {
		last := i+1 == len(in.parts)
		var err error
		switch p := &in.parts[i]; p.verb {
		case 0:
			err = rec.literal(p.literal, last)
		case 'h':
			err = rec.properties(p.inner, in.parts[i+1].literal)
		default:
			err = rec.verb(p, delimiter(in.parts, i))
		}
		if err != nil {
			return nil, err
		}
	}
	return &rec.m, nil
}

// delimiter is the literal behind part i, "" at the end of the format.
func delimiter(parts []part, i int) string {
	if i+1 < len(parts) {
		return parts[i+1].literal
	}
	return ""
}

// literal reads a text that must be there. The last one of the last record may be missing, like a last line's end.
func (rec *record) literal(want string, last bool) error {
	got, err := rec.rd.r.Peek(len(want))
	switch {
	case string(got) == want:
		_, err := rec.rd.r.Discard(len(want))
		return err
	case last && len(got) == 0 && err == io.EOF:
		return nil
	case err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull):
		return err
	}
	return rec.rd.fail("want %q, got %q", want, got)
}

// verb reads one value up to, and without, the delimiter.
func (rec *record) verb(p *part, end string) error {
	text, err := rec.value(p, end)
	if err != nil {
		return err
	}
	switch p.verb {
	case 't':
		rec.m.Topic = string(text)
	case 'k':
		rec.set(protocol.PropertyKeys, text)
	case 'g':
		rec.set(protocol.PropertyTags, text)
	case 'v':
		rec.m.Body = text
	case 'V':
		n, err := strconv.Atoi(string(text))
		if err != nil || n < 0 || n > maxRecord {
			return rec.rd.fail("%%V: %q is not a length of at most %d", text, maxRecord)
		}
		rec.size = n
	}
	return nil
}

func (rec *record) set(name string, value []byte) {
	if len(value) > 0 {
		rec.m.Properties.Set(name, string(value))
	}
}

func (rec *record) value(p *part, end string) ([]byte, error) {
	if p.verb == 'v' && p.mod == plain && rec.size >= 0 {
		return rec.sized()
	}
	if p.mod == jsonString {
		return rec.json()
	}
	text, err := rec.until(end)
	if err != nil {
		return nil, err
	}
	switch p.mod {
	case hexDigits:
		text, err = hex.AppendDecode(nil, text)
	case base64Text:
		text, err = base64.StdEncoding.AppendDecode(nil, text)
	}
	if err != nil {
		return nil, rec.rd.fail("%%%c: %v", p.verb, err)
	}
	return text, nil
}

// sized reads as many bytes as %V said; memory grows with what arrives.
func (rec *record) sized() ([]byte, error) {
	var body bytes.Buffer
	n, err := io.CopyN(&body, rec.rd.r, int64(rec.size))
	if err == io.EOF {
		return nil, rec.rd.fail("the input ends after %d of the %d bytes that %%V promised", n, rec.size)
	}
	return append([]byte{}, body.Bytes()...), err
}

// until reads up to end, which stays unread; "" means everything that is left.
func (rec *record) until(end string) ([]byte, error) {
	text := []byte{}
	for {
		var err error
		had := len(text)
		if end == "" {
			var chunk []byte
			chunk, err = rec.rd.r.ReadSlice('\n')
			text = append(text, chunk...)
		} else {
			text, err = rec.upTo(text, end)
		}
		if rec.left -= len(text) - had; rec.left < 0 {
			return nil, rec.rd.fail("longer than %d MiB", maxRecord>>20)
		}
		switch {
		case err == errFound || end == "" && err == io.EOF:
			return text, nil
		case err == io.EOF && isLineEnd(end):
			return text, nil // a last line without its end
		case err == io.EOF:
			return nil, rec.rd.fail("the input ends before %q", end)
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
	}
}

func isLineEnd(s string) bool { return s == "\n" || s == "\r\n" }

var errFound = errors.New("found")

// upTo appends bytes of the buffer before end and consumes them: all with errFound, or some when end is not in sight yet.
func (rec *record) upTo(text []byte, end string) ([]byte, error) {
	r := rec.rd.r
	buf, err := r.Peek(max(len(end), r.Buffered()))
	n := bytes.Index(buf, []byte(end))
	found := n >= 0
	if !found {
		n = len(buf)
		if err == nil {
			n = len(buf) - len(end) + 1 // the delimiter may have begun
		}
	}
	text = append(text, buf[:n]...)
	if _, err := r.Discard(n); err != nil {
		return text, err
	}
	if found {
		return text, errFound
	}
	return text, err
}

// json reads a JSON string.
func (rec *record) json() ([]byte, error) {
	quoted := []byte{}
	for {
		b, err := rec.rd.r.ReadByte()
		if err == io.EOF {
			return nil, rec.rd.fail("the input ends inside a JSON string")
		}
		if err != nil {
			return nil, err
		}
		if len(quoted) == 0 && b != '"' {
			return nil, rec.rd.fail("want a JSON string, got %q", b)
		}
		quoted = append(quoted, b)
		if rec.left--; rec.left < 0 {
			return nil, rec.rd.fail("longer than %d MiB", maxRecord>>20)
		}
		if b == '"' && len(quoted) > 1 && !oddBackslashes(quoted[:len(quoted)-1]) {
			break
		}
	}
	var s string
	if err := json.Unmarshal(quoted, &s); err != nil {
		return nil, rec.rd.fail("%s", jsonReason(err))
	}
	return []byte(s), nil
}

func oddBackslashes(b []byte) bool {
	return (len(b)-len(bytes.TrimRight(b, `\`)))%2 == 1
}

// properties reads repetitions of inner until the text that follows %h{…}.
func (rec *record) properties(inner []part, end string) error {
	for {
		ahead, err := rec.rd.r.Peek(len(end))
		if string(ahead) == end || len(ahead) == 0 && err == io.EOF && isLineEnd(end) {
			return nil
		}
		var name, value []byte
		for i := range inner {
			p := &inner[i]
			var err error
			switch p.verb {
			case 0:
				err = rec.literal(p.literal, false)
			case 'k':
				name, err = rec.value(p, delimiter(inner, i))
			case 'v':
				value, err = rec.value(p, delimiter(inner, i))
			}
			if err != nil {
				return err
			}
		}
		if len(name) == 0 {
			return rec.rd.fail("a property without a name")
		}
		if text := string(name); !Reserved(text) {
			rec.set(text, value)
		}
	}
}
