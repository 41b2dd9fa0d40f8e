package safetext

import (
	"unicode"
	"unicode/utf8"
)

const (
	zeroWidthJoiner = '\u200D'
	textStyle       = '\uFE0E' // variation selector 15
	emojiStyle      = '\uFE0F' // variation selector 16
	// maxMarks is how many combining marks may follow each other: scripts need up
	// to four, a stack of dozens paints over the lines above and below.
	maxMarks = 8
)

// visible reports whether the rune r of the given size at s[i:] may be shown as it
// is. r is not ASCII. Its neighbours decide for joiners, selectors and marks.
func visible(s string, i int, r rune, size int) bool {
	switch {
	case r == utf8.RuneError && size == 1:
		return false
	case r >= 0x3041 && r <= 0x3096, r >= 0x4E00 && r <= 0x9FFF, r >= 0xAC00 && r <= 0xD7A3:
		return true // kana, Han, Hangul: by far the commonest, no tables needed
	case r == zeroWidthJoiner:
		return joinsEmoji(s, i, size)
	case unicode.Is(unicode.Variation_Selector, r):
		return selects(s[:i], r)
	case !unicode.IsGraphic(r), unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return false
	case unicode.In(r, unicode.Mn, unicode.Me):
		return marksBefore(s[:i]) < maxMarks
	}
	return true
}

// joinsEmoji reports whether a joiner at s[i:] stands between two emoji.
func joinsEmoji(s string, i, size int) bool {
	before := s[:i]
	left, n := utf8.DecodeLastRuneInString(before)
	if left == emojiStyle {
		left, _ = utf8.DecodeLastRuneInString(before[:len(before)-n])
	}
	right, _ := utf8.DecodeRuneInString(s[i+size:])
	return isEmoji(left) && isEmoji(right)
}

// selects reports whether a variation selector may follow before: the emoji and
// text styles an emoji or a keycap, the others a Han character, each only once.
func selects(before string, selector rune) bool {
	base, _ := utf8.DecodeLastRuneInString(before)
	if selector == textStyle || selector == emojiStyle {
		return isEmoji(base) || base >= '0' && base <= '9' || base == '#' || base == '*'
	}
	return unicode.Is(unicode.Han, base)
}

// marksBefore counts the combining marks at the end of s, up to maxMarks.
func marksBefore(s string) int {
	for n := range maxMarks {
		r, size := utf8.DecodeLastRuneInString(s)
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			return n
		}
		s = s[:len(s)-size]
	}
	return maxMarks
}

// isEmoji reports whether r may take part in an emoji sequence.
func isEmoji(r rune) bool { return unicode.Is(emoji, r) && unicode.IsGraphic(r) }

// emoji covers the blocks that hold pictographs, a little more than Unicode's
// Extended_Pictographic, which the standard library does not have.
var emoji = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00A9, Hi: 0x00AE, Stride: 5},
		{Lo: 0x203C, Hi: 0x2049, Stride: 13},
		{Lo: 0x2122, Hi: 0x2139, Stride: 23},
		{Lo: 0x2194, Hi: 0x21AA, Stride: 1},
		{Lo: 0x231A, Hi: 0x23FF, Stride: 1},
		{Lo: 0x24C2, Hi: 0x24C2, Stride: 1},
		{Lo: 0x25AA, Hi: 0x25FE, Stride: 1},
		{Lo: 0x2600, Hi: 0x27BF, Stride: 1},
		{Lo: 0x2934, Hi: 0x2935, Stride: 1},
		{Lo: 0x2B05, Hi: 0x2B55, Stride: 1},
		{Lo: 0x3030, Hi: 0x303D, Stride: 13},
		{Lo: 0x3297, Hi: 0x3299, Stride: 2},
	},
	R32: []unicode.Range32{{Lo: 0x1F000, Hi: 0x1FAFF, Stride: 1}},
	// LatinOffset counts the R16 ranges that end below U+0100.
	LatinOffset: 1,
}
