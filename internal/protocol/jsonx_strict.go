package protocol

import (
	"fmt"
	"slices"
)

// StrictJSON rewrites a fastjson body as strict JSON: a bare integer key is quoted, an object that is a key becomes the
// quoted text of that object (compact, fields by name), a comma before a closing bracket goes, NaN and the infinities
// become null, control bytes in strings are escaped. Numbers keep their digits and strings their text. It takes linear
// time and at most eight times the memory of body.
func StrictJSON(body []byte) ([]byte, error) {
	size := 2 * len(body)
	for _, b := range body {
		if b < 0x20 {
			size += 5 // \u0001, and one more backslash inside a key
		}
	}
	w := strictWriter{jsonScanner: newScanner(string(body)), dst: make([]byte, 0, size)}
	err := w.value(0)
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrBadBody, err)
	}
	return w.dst, nil
}

type strictWriter struct {
	jsonScanner
	dst []byte
}

func (w *strictWriter) value(depth int) error {
	b := w.peek()
	if b != '{' && b != '[' {
		return w.scalar()
	}
	closing, err := w.open(depth)
	if err != nil {
		return err
	}
	w.dst = append(w.dst, b)
	first := true
	err = w.items(closing, func() error {
		if !first {
			w.dst = append(w.dst, ',')
		}
		first = false
		if closing == '}' {
			if err := w.key(); err != nil {
				return err
			}
			if err := w.expect(':'); err != nil {
				return err
			}
			w.dst = append(w.dst, ':')
		}
		return w.value(depth + 1)
	})
	w.dst = append(w.dst, closing)
	return err
}

func (w *strictWriter) scalar() error {
	raw, kind, err := w.rawScalar()
	if err == nil {
		w.dst = appendStrictScalar(w.dst, raw, kind)
	}
	return err
}

func (w *strictWriter) key() error {
	if w.peek() != '{' {
		raw, err := w.keyText()
		w.dst = appendStrictKey(w.dst, raw)
		return err
	}
	keys, err := w.keyObject()
	if err != nil {
		return err
	}
	w.dst = append(w.dst, '"')
	start := len(w.dst)
	w.dst = append(w.dst, '{')
	for i, e := range keys.entries[:keys.n] {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = appendStrictKey(w.dst, e.key)
		w.dst = append(w.dst, ':')
		w.dst = appendStrictScalar(w.dst, e.value, kindOfScalar(e.value))
	}
	w.dst = append(w.dst, '}')
	w.dst = append(escapeTail(w.dst, start), '"')
	return nil
}

// kindOfScalar is the kind of a source text that rawScalar returned.
func kindOfScalar(raw string) scalarKind {
	switch raw[0] {
	case '"':
		return scalarString
	case 't', 'f':
		return scalarBool
	case 'n', 'N', 'I':
		return scalarNull
	}
	if raw == "-Infinity" {
		return scalarNull
	}
	return scalarNumber
}

func appendStrictKey(dst []byte, raw string) []byte {
	if raw == "" || raw[0] == '"' {
		return appendStrictString(dst, raw)
	}
	dst = append(dst, '"')
	dst = append(dst, raw...)
	return append(dst, '"')
}

func appendStrictScalar(dst []byte, raw string, kind scalarKind) []byte {
	switch kind {
	case scalarString:
		return appendStrictString(dst, raw)
	case scalarNull:
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}

// appendStrictString copies a string with its quotes, changing only what strict JSON lacks: raw control bytes and \'.
func appendStrictString(dst []byte, raw string) []byte {
	start := 0
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case b == '\\':
			i++
			if raw[i] == '\'' {
				dst = append(dst, raw[start:i-1]...)
				start = i
			}
		case b < 0x20:
			dst = append(dst, raw[start:i]...)
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
			start = i + 1
		}
	}
	return append(dst, raw[start:]...)
}

// escapeTail puts a backslash before each quote and backslash of dst[start:], in place.
func escapeTail(dst []byte, start int) []byte {
	extra := 0
	for _, b := range dst[start:] {
		if b == '"' || b == '\\' {
			extra++
		}
	}
	n := len(dst)
	dst = slices.Grow(dst, extra)[:n+extra]
	for i, j := n-1, n+extra-1; i >= start; i, j = i-1, j-1 {
		b := dst[i]
		dst[j] = b
		if b == '"' || b == '\\' {
			j--
			dst[j] = '\\'
		}
	}
	return dst
}
