package render

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// ellipsis stands for what was cut off.
const ellipsis = "…"

// Width is the number of terminal cells that s takes: two for a wide character or an
// emoji, however many code points it is joined from, none for a combining mark.
// Colours take none.
func Width(s string) int { return ansi.StringWidth(s) }

// Truncate cuts s to at most width cells. A cut text ends in …, and no wide character
// is split: the result may be a cell shorter than width. Colours stay, so that one
// which began is also ended.
func Truncate(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	var out strings.Builder
	room, full := width-Width(ellipsis), false
	for s != "" {
		if n := colour(s); n > 0 {
			out.WriteString(s[:n])
			s = s[n:]
			continue
		}
		cluster, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
		s = s[len(cluster):]
		switch {
		case full:
		case cells > room:
			out.WriteString(ellipsis)
			full = true
		default:
			out.WriteString(cluster)
			room -= cells
		}
	}
	return out.String()
}

// colour is the length of the colour sequence at the start of s, if there is one.
func colour(s string) int {
	if !strings.HasPrefix(s, "\x1b[") {
		return 0
	}
	return strings.IndexByte(s, 'm') + 1
}

// PadRight adds spaces behind s up to width cells; a longer s stays as it is.
func PadRight(s string, width int) string { return s + spaces(width-Width(s)) }

// PadLeft adds spaces in front of s up to width cells; a longer s stays as it is.
func PadLeft(s string, width int) string { return spaces(width-Width(s)) + s }

func spaces(n int) string { return strings.Repeat(" ", max(n, 0)) }
