package render

import (
	"bytes"
	"strings"

	"mqctl/internal/safetext"
)

// Document is a value whose table differs from its data: json and yaml print Data
// as one document; table and wide print the lines of Head, the table of Rows, the
// Sections and the lines of Foot, with a blank line between these; csv and jsonl
// print Rows alone.
type Document struct {
	Data     any
	Rows     any // a slice of structs, one struct, a Grid, or nil for none
	Head     []string
	Sections []Section
	Foot     []string
}

// Section is a titled table in the middle of a page, indented by two.
type Section struct {
	Title string
	Rows  any      // as in Document
	Lines []string // below the table
}

// Table is a document whose data are its rows, for lists. A list without elements
// keeps its titles in tables and csv, and is [] in json.
func Table(rows any) Document { return Document{Data: rows, Rows: rows} }

// Fields is a document of one struct, printed as a table with a line for each field
// that has a column: title, value.
func Fields(v any) Document { return Document{Data: v, Rows: fieldList{v}} }

// fieldList is a struct whose columns are printed below each other.
type fieldList struct{ value any }

// asDocument gives every value the form of a Document.
func asDocument(v any) Document {
	switch v := v.(type) {
	case Document:
		return v
	case *Document:
		return *v
	}
	return Table(v)
}

func (d Document) writeTable(out *bytes.Buffer, wide bool, o Options) error {
	if wide {
		o.Width = 0
	}
	page := page{out: out, o: o}
	page.lines(d.Head)
	if err := page.table(d.Rows, wide); err != nil {
		return err
	}
	for _, s := range d.Sections {
		if err := page.section(s, wide); err != nil {
			return err
		}
	}
	page.lines(d.Foot)
	return nil
}

// page puts blank lines between its parts.
type page struct {
	out *bytes.Buffer
	o   Options
}

func (p *page) gap() {
	if p.out.Len() > 0 {
		p.out.WriteByte('\n')
	}
}

// lines prints free text, which may name foreign things.
func (p *page) lines(lines []string) {
	if len(lines) == 0 {
		return
	}
	p.gap()
	p.text(lines, p.o.Indent)
}

func (p *page) text(lines []string, indent int) {
	for _, line := range lines {
		text := strings.TrimRight(strings.Repeat(" ", indent)+safetext.Display(line), " ")
		p.out.WriteString(p.o.paintWords(p.o.cut(text)))
		p.out.WriteByte('\n')
	}
}

func (p *page) table(rows any, wide bool) error {
	if rows == nil {
		return nil
	}
	grid, err := NewGrid(rows, wide, p.o)
	if err != nil {
		return err
	}
	p.gap()
	return grid.draw(p.out, p.o)
}

func (p *page) section(s Section, wide bool) error {
	p.gap()
	inner := p.o
	inner.Indent += 2
	p.text([]string{s.Title}, p.o.Indent)
	if s.Rows != nil {
		grid, err := NewGrid(s.Rows, wide, inner)
		if err != nil {
			return err
		}
		if err := grid.draw(p.out, inner); err != nil {
			return err
		}
	}
	p.text(s.Lines, inner.Indent)
	return nil
}
