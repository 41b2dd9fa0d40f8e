package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"reflect"
	"strings"

	"mqctl/internal/safetext"
)

// writeCSV prints a header of data names and a line a row; parts of parts are named
// like a.b, and lists are compact JSON.
func writeCSV(out *bytes.Buffer, rows any, o Options) error {
	if one, ok := rows.(fieldList); ok {
		rows = one.value
	}
	w := csv.NewWriter(out)
	names, lines := []string(nil), [][]any(nil)
	if grid, ok := rows.(Grid); ok {
		names, lines = grid.flat()
	} else if rows != nil {
		elem, values, ok := rowsOf(rows)
		if !ok {
			return noRows(rows)
		}
		names, lines = flatRows(elem, values)
	}
	if !o.NoHeader && len(names) > 0 {
		cells := make([]string, len(names))
		for i, name := range names {
			cells[i] = safetext.CSVCell(name)
		}
		_ = w.Write(cells) // the errors of out are none
	}
	for _, line := range lines {
		cells := make([]string, len(line))
		for i, v := range line {
			cells[i] = csvCell(v)
		}
		_ = w.Write(cells)
	}
	w.Flush()
	return w.Error()
}

func csvCell(v any) string {
	text := scalarText(v)
	switch v.(type) {
	case int64, uint64, float64: // -5 is no formula
		return text
	}
	return safetext.CSVCell(text)
}

func noRows(v any) error { return fmt.Errorf("%T cannot be printed as rows", v) }

// flatRows lists the leaves of a struct type and their values in each row.
func flatRows(elem reflect.Type, rows []reflect.Value) (names []string, lines [][]any) {
	if elem.Kind() != reflect.Struct {
		return nil, nil
	}
	var c converter
	paths := leaves(elem, nil)
	for _, path := range paths {
		names = append(names, strings.Join(path, "."))
	}
	for _, row := range rows {
		data, line := c.structData(row), make([]any, len(paths))
		for i, path := range paths {
			line[i] = lookup(data, path)
		}
		lines = append(lines, line)
	}
	return names, lines
}

func leaves(t reflect.Type, path []string) (all [][]string) {
	for _, f := range fieldsOf(t) {
		if f.hidden {
			continue
		}
		here := append(path[:len(path):len(path)], f.name)
		if inner := plainType(f.typ); inner.Kind() == reflect.Struct && !isLeaf(inner) && len(here) < maxDepth {
			all = append(all, leaves(inner, here)...)
			continue
		}
		all = append(all, here)
	}
	return all
}

// maxDepth ends the columns of a type that contains itself.
const maxDepth = 8

func lookup(v any, path []string) any {
	for _, name := range path {
		all, ok := v.(object)
		if !ok {
			return nil
		}
		v = nil
		for _, m := range all {
			if m.name == name {
				v = m.value
			}
		}
	}
	return v
}
