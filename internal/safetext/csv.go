package safetext

import (
	"strings"
	"unicode/utf8"
)

// formulaStarts are the characters that make a spreadsheet read a cell as a
// formula, with the full-width forms that some input methods produce.
const formulaStarts = "=+-@＝＋－＠"

// CSVCell returns s as the text of a CSV cell: Display text, with an apostrophe in
// front where a spreadsheet would take it for a formula. Numbers of our own need no
// guard. Quotes and commas are left to the CSV writer.
func CSVCell(s string) string {
	s = Display(s)
	if first, _ := utf8.DecodeRuneInString(s); s != "" && strings.ContainsRune(formulaStarts, first) {
		return "'" + s
	}
	return s
}
