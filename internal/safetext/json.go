package safetext

import (
	"unicode/utf8"
)

// AppendJSONString appends s to dst as a JSON string in quotes. Unlike encoding/json
// it also escapes DEL, C1 controls, bidi controls and everything else that Display
// does not show, so JSON may be printed on a terminal; <, > and & stay readable.
// The value is exact, but for bytes that are not UTF-8: each becomes U+FFFD, as in
// encoding/json. Bytes that must survive need base64.
func AppendJSONString(dst []byte, s string) []byte { return appendQuoted(dst, s, appendJSONEscape) }

// AppendYAMLString appends s to dst as a double-quoted YAML string, which differs
// from JSON only beyond U+FFFF: YAML has no surrogate pairs.
func AppendYAMLString(dst []byte, s string) []byte { return appendQuoted(dst, s, appendYAMLEscape) }

func appendQuoted(dst []byte, s string, escape func([]byte, rune, byte) []byte) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		r, size := rune(s[i]), 1
		ok := r < utf8.RuneSelf && r != '"' && r != '\\' && line.keeps(s[i])
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s[i:])
			ok = visible(s, i, r, size)
		}
		if !ok {
			dst = append(dst, s[start:i]...)
			dst = escape(dst, r, 0)
			start = i + size
		}
		i += size
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

// JSON returns s as a JSON string in quotes; see AppendJSONString.
func JSON(s string) string { return string(AppendJSONString(nil, s)) }

// EscapeJSON makes an encoded JSON document safe to print: characters that
// AppendJSONString would escape are escaped inside its strings. The document means
// the same afterwards; one without such characters comes back as it is.
func EscapeJSON(doc []byte) []byte {
	s := string(doc)
	i := firstUnsafe(s, document)
	if i == len(s) {
		return doc
	}
	return appendEscaped(make([]byte, 0, len(s)+len(s)/4+16), s, i, document, appendJSONEscape)
}

// appendJSONEscape writes a rune as JSON escapes it; an invalid byte is U+FFFD.
func appendJSONEscape(dst []byte, r rune, _ byte) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, `\n`...)
	case '\t':
		return append(dst, `\t`...)
	case '\r':
		return append(dst, `\r`...)
	}
	if r < 0x10000 {
		return appendUnit(dst, r)
	}
	r -= 0x10000
	return appendUnit(appendUnit(dst, 0xD800+r>>10), 0xDC00+r&0x3FF)
}

// appendYAMLEscape writes a rune as YAML escapes it.
func appendYAMLEscape(dst []byte, r rune, invalid byte) []byte {
	if r < 0x10000 {
		return appendJSONEscape(dst, r, invalid)
	}
	dst = append(dst, '\\', 'U')
	for shift := 28; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[r>>shift&15])
	}
	return dst
}

// appendUnit writes one UTF-16 unit.
func appendUnit(dst []byte, u rune) []byte {
	return append(dst, '\\', 'u', hexDigits[u>>12&15], hexDigits[u>>8&15], hexDigits[u>>4&15], hexDigits[u&15])
}
