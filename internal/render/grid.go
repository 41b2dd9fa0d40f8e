package render

import (
	"fmt"
	"reflect"

	"mqctl/internal/safetext"
)

// Column is one column of a table.
type Column struct {
	Name  string // in data
	Title string // in tables
	Right bool   // aligned right
	Wide  bool   // in the wide table only
	State bool   // coloured by its word
	Drop  int    // may be left out on a narrow terminal, the highest first; 0 stays
}

// Grid is a table of texts, for columns that are known only at run time. A row may
// have fewer cells than there are columns, or more: those get a column without a
// title, named column_N in data.
type Grid struct {
	Columns []Column
	Rows    [][]string
}

// NewGrid makes the cells of a table from a slice of structs, one struct, a Grid or
// the rows of Fields. Cells are safe to show; wide says whether the columns of the
// wide table are in. The live view draws the result itself.
func NewGrid(rows any, wide bool, o Options) (Grid, error) {
	switch rows := rows.(type) {
	case Grid:
		return rows.safe(wide), nil
	case fieldList:
		return listFields(rows.value, wide, o)
	}
	elem, values, ok := rowsOf(rows)
	if !ok {
		return Grid{}, noRows(rows)
	}
	if elem.Kind() != reflect.Struct {
		return Grid{}, nil // an empty list of unknown things
	}
	var grid Grid
	var fields []field
	for _, f := range fieldsOf(elem) {
		if f.hasColumn && (wide || !f.Wide) {
			fields = append(fields, f)
			grid.Columns = append(grid.Columns, f.Column)
		}
	}
	for _, row := range values {
		cells := make([]string, len(fields))
		for i := range fields {
			cells[i] = o.cell(fields[i].get(row), &fields[i])
		}
		grid.Rows = append(grid.Rows, cells)
	}
	return grid, nil
}

// listFields is a struct as a table of title and value.
func listFields(v any, wide bool, o Options) (Grid, error) {
	one, err := NewGrid(v, wide, o)
	if err != nil {
		return Grid{}, err
	}
	if len(one.Rows) != 1 {
		return Grid{}, fmt.Errorf("%T is not one struct", v)
	}
	list := Grid{Columns: []Column{{}, {}}}
	for i, c := range one.Columns {
		list.Rows = append(list.Rows, []string{c.Title, one.Rows[0][i]})
	}
	return list, nil
}

// safe gives every row as many cells as there are columns, all of them safe to show,
// and takes out the columns of the wide table unless they are wanted.
func (g Grid) safe(wide bool) Grid {
	columns := g.columns()
	var out Grid
	for _, c := range columns {
		c.Title = safetext.Display(c.Title)
		if wide || !c.Wide {
			out.Columns = append(out.Columns, c)
		}
	}
	for _, row := range g.Rows {
		cells := make([]string, 0, len(out.Columns))
		for i, c := range columns {
			switch {
			case c.Wide && !wide:
			case i < len(row):
				cells = append(cells, safetext.Display(row[i]))
			default:
				cells = append(cells, "")
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// columns are the columns of the grid, and some for the cells beyond them.
func (g Grid) columns() []Column {
	columns := g.Columns[:len(g.Columns):len(g.Columns)]
	for _, row := range g.Rows {
		for len(row) > len(columns) {
			columns = append(columns, Column{Name: fmt.Sprintf("column_%d", len(columns)+1)})
		}
	}
	return columns
}

// data is the grid as a list of objects. A cell that is not there is null.
func (g Grid) data() any {
	names, lines := g.flat()
	all := list{}
	for _, line := range lines {
		row := object{}
		for i, v := range line {
			row = append(row, member{names[i], v})
		}
		all = append(all, row)
	}
	return all
}

// flat is the grid as names and values; a column without a name goes by its title.
func (g Grid) flat() (names []string, lines [][]any) {
	columns := g.columns()
	for _, c := range columns {
		if c.Name == "" {
			c.Name = c.Title
		}
		names = append(names, c.Name)
	}
	for _, row := range g.Rows {
		line := make([]any, len(columns))
		for i := range min(len(row), len(columns)) {
			line[i] = row[i]
		}
		lines = append(lines, line)
	}
	return names, lines
}
