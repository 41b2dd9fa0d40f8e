package render

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// draw prints the grid: titles, then a line a row, columns two spaces apart and no
// spaces at the end of lines.
func (g Grid) draw(out *bytes.Buffer, o Options) error {
	limit := 0
	if o.Human && o.Width > 0 {
		limit = max(o.Width-o.Indent, 1)
	}
	widths := g.fit(limit)
	if len(g.Columns) == 0 {
		return nil
	}
	table := tablewriter.NewTable(out,
		tablewriter.WithRenderer(newPlain(g.Columns, widths, o)),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimTab(tw.Off))
	if titles := g.titles(); !o.NoHeader && titles != nil {
		table.Header(titles)
	}
	if err := table.Bulk(g.Rows); err != nil {
		return err
	}
	return table.Render()
}

// titles are those of the columns; nil if none has one.
func (g Grid) titles() []string {
	titles, some := make([]string, len(g.Columns)), false
	for i, c := range g.Columns {
		titles[i] = c.Title
		some = some || c.Title != ""
	}
	if !some {
		return nil
	}
	return titles
}

// plainRenderer is the renderer of tablewriter that draws cells and nothing else. It
// measures them itself: tablewriter adds up code points, so a line with a joined
// emoji would come out short.
type plainRenderer struct {
	*renderer.Blueprint // what a renderer needs besides: configuration and a logger
	out                 io.Writer
	columns             []Column
	widths              []int
	o                   Options
}

func newPlain(columns []Column, widths []int, o Options) *plainRenderer {
	none := tw.Rendition{
		Borders:  tw.BorderNone,
		Settings: tw.Settings{Lines: tw.LinesNone, Separators: tw.SeparatorsNone},
	}
	return &plainRenderer{Blueprint: renderer.NewBlueprint(none), columns: columns, widths: widths, o: o}
}

// Start is called once, with the writer of the table.
func (p *plainRenderer) Start(w io.Writer) error {
	p.out = w
	return p.Blueprint.Start(w)
}

// Header draws the titles.
func (p *plainRenderer) Header(lines [][]string, _ tw.Formatting) {
	for _, titles := range lines {
		p.line(titles, func(_ Column, text string) string { return p.o.paint(bold, text) })
	}
}

// Row draws one row.
func (p *plainRenderer) Row(cells []string, _ tw.Formatting) {
	p.line(cells, func(c Column, text string) string {
		if c.State {
			return p.o.State(text)
		}
		return text
	})
}

// line draws cells; dress adds the colours, after everything was measured.
func (p *plainRenderer) line(cells []string, dress func(Column, string) string) {
	room := len(p.columns)
	for room > 1 && (room > len(cells) || cells[room-1] == "") {
		room-- // nothing more on this line: no spaces at its end
	}
	var text strings.Builder
	text.WriteString(spaces(p.o.Indent))
	for i, c := range p.columns[:min(room, len(cells))] {
		cell := Truncate(cells[i], p.widths[i])
		pad := spaces(p.widths[i] - Width(cell))
		last := i == room-1
		switch {
		case c.Right:
			text.WriteString(pad + dress(c, cell))
		case last:
			text.WriteString(dress(c, cell))
		default:
			text.WriteString(dress(c, cell) + pad)
		}
		if !last {
			text.WriteString(spaces(gutter))
		}
	}
	// The writer is memory: it does not fail.
	_, _ = io.WriteString(p.out, strings.TrimRight(p.o.cut(text.String()), " ")+"\n")
}
