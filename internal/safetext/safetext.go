// Package safetext turns text from outside into text that a terminal may show.
//
// Bodies, keys, tags, properties, names, client ids, remarks and error texts were
// written by someone else. Shown as they are, they could move the cursor, set the
// window's title, write to the clipboard, reorder a line (bidi) or hide in it.
// This package is the only place where such text becomes display text: whatever
// is not plainly visible is replaced by an escape that is. Every output but
// `-o raw` goes through it.
//
// What is escaped: bytes that are not UTF-8 (\xNN); C0 controls and DEL (\n, \t,
// \r, else \xNN); and as \u{NN} C1 controls, format characters (bidi controls,
// soft hyphens, zero-width characters), U+2028 and U+2029, private, unassigned and
// invisible characters, stray variation selectors, and combining marks beyond
// eight in a row. A zero-width joiner stays between two emoji. A backslash is not
// doubled: display text is for eyes, JSON and raw output are exact.
package safetext

import (
	"unicode/utf8"
)

// Display returns s as one line of safe text. A clean s comes back as it is,
// without allocation.
func Display(s string) string { return escape(s, line, appendEscape) }

// DisplayBytes is Display for bytes.
func DisplayBytes(b []byte) string { return Display(string(b)) }

// Multiline is Display, but line feeds and tabs stay as they are.
func Multiline(s string) string { return escape(s, lines, appendEscape) }

// IsSafe reports whether Display would return s unchanged.
func IsSafe(s string) bool { return firstUnsafe(s, line) == len(s) }

// IsSafeMultiline reports whether Multiline would return s unchanged.
func IsSafeMultiline(s string) bool { return firstUnsafe(s, lines) == len(s) }

// mode says which ASCII controls may stay.
type mode int

const (
	line     mode = iota // none
	lines                // \n and \t
	document             // JSON's white space: \n, \t and \r
)

// keeps reports whether an ASCII byte stays as it is.
func (m mode) keeps(b byte) bool {
	switch b {
	case '\n', '\t':
		return m != line
	case '\r':
		return m == document
	}
	return b >= ' ' && b != 0x7F
}

// firstUnsafe returns the index of the first byte that must be escaped, or len(s).
func firstUnsafe(s string, m mode) int {
	for i := 0; i < len(s); {
		if b := s[i]; b < utf8.RuneSelf {
			if !m.keeps(b) {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if !visible(s, i, r, size) {
			return i
		}
		i += size
	}
	return len(s)
}

// escape replaces what may not be shown through write, which gets the rune, or
// utf8.RuneError and the byte where there is none.
func escape(s string, m mode, write func(dst []byte, r rune, invalid byte) []byte) string {
	i := firstUnsafe(s, m)
	if i == len(s) {
		return s
	}
	return string(appendEscaped(make([]byte, 0, len(s)+len(s)/4+16), s, i, m, write))
}

// appendEscaped appends s, which is safe up to index i.
func appendEscaped(dst []byte, s string, i int, m mode, write func([]byte, rune, byte) []byte) []byte {
	dst = append(dst, s[:i]...)
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r < utf8.RuneSelf && m.keeps(byte(r)), r >= utf8.RuneSelf && visible(s, i, r, size):
			dst = append(dst, s[i:i+size]...)
		case r == utf8.RuneError && size == 1:
			dst = write(dst, r, s[i])
		default:
			dst = write(dst, r, 0)
		}
		i += size
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// appendEscape writes the display form of a rune or of an invalid byte.
func appendEscape(dst []byte, r rune, invalid byte) []byte {
	switch {
	case invalid != 0:
		return append(dst, '\\', 'x', hexDigits[invalid>>4], hexDigits[invalid&15])
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r == '\r':
		return append(dst, `\r`...)
	case r < utf8.RuneSelf:
		return append(dst, '\\', 'x', hexDigits[r>>4], hexDigits[r&15])
	}
	dst = append(dst, `\u{`...)
	shift := 28
	for shift > 0 && r>>shift == 0 {
		shift -= 4
	}
	for ; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[r>>shift&15])
	}
	return append(dst, '}')
}
