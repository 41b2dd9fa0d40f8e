package render

import "strings"

// style is a colour of the terminal's own palette: the sequence that starts it.
type style string

const (
	bold   style = "\x1b[1m"
	dim    style = "\x1b[2m"
	red    style = "\x1b[31m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	reset        = "\x1b[0m"
)

// states is the colour of each word that says how something is. The word always
// stands there too: colour is never the only sign.
var states = map[string]style{
	"OK": green, "PASS": green, "pass": green, "fine": green, "moved": green,
	"LAGGING": yellow, "WARNING": yellow, "PAUSED": yellow, "PENDING": yellow, "REWOUND": yellow, "AHEAD": yellow,
	"STALLED": red, "UNOWNED": red, "CRITICAL": red, "FAIL": red, "FAILED": red,
	"UNKNOWN": dim, unknown: dim,
}

// State colours a word that says how something is, such as a verdict, where there
// is colour. Other words come back as they are.
func (o Options) State(word string) string { return o.paint(states[word], word) }

func (o Options) paint(s style, text string) string {
	if !o.Color || s == "" || text == "" {
		return text
	}
	return string(s) + text + reset
}

// paintWords colours the states in capitals that stand in a line of text.
func (o Options) paintWords(line string) string {
	if !o.Color {
		return line
	}
	words := strings.Split(line, " ")
	for i, word := range words {
		bare := strings.TrimRight(word, ",.:;")
		if bare == strings.ToUpper(bare) && bare != unknown {
			words[i] = o.State(bare) + word[len(bare):]
		}
	}
	return strings.Join(words, " ")
}

// cut makes a line fit the terminal.
func (o Options) cut(line string) string {
	if !o.Human || o.Width <= 0 {
		return line
	}
	return Truncate(line, o.Width)
}
