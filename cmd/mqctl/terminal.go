package main

import (
	"io"
	"os"
	"strconv"

	"github.com/mattn/go-isatty"
	"golang.org/x/term"
)

const (
	usualWidth  = 80
	usualHeight = 24
)

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// wantsColor reports whether a terminal may be coloured.
func wantsColor() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// terminalHeight is the height of a terminal in lines.
func terminalHeight(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
	}
	return usualHeight
}

// terminalWidth is the width of a terminal in cells.
func terminalWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	return usualWidth
}
