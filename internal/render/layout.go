package render

import "slices"

const (
	// gutter is the space between two columns.
	gutter = 2
	// narrowest is the width below which a text column is not cut.
	narrowest = 8
)

// fit leaves out and narrows columns until a line of the grid takes at most limit
// cells, if that can be; limit 0 is none. It returns the width of each column.
// Numbers are never narrowed: a number that was cut would be another number.
func (g *Grid) fit(limit int) []int {
	widths := g.widths()
	if limit <= 0 {
		return widths
	}
	for total(widths) > limit {
		i := g.leastWanted()
		if i < 0 {
			break
		}
		g.remove(i)
		widths = slices.Delete(widths, i, i+1)
	}
	for excess := total(widths) - limit; excess > 0; excess = total(widths) - limit {
		i, next := g.widestText(widths)
		if i < 0 {
			break
		}
		widths[i] = max(widths[i]-excess, next)
	}
	return widths
}

func (g *Grid) widths() []int {
	widths := make([]int, len(g.Columns))
	for i, c := range g.Columns {
		widths[i] = Width(c.Title)
		for _, row := range g.Rows {
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	return widths
}

func total(widths []int) int {
	sum := gutter * max(len(widths)-1, 0)
	for _, w := range widths {
		sum += w
	}
	return sum
}

// leastWanted is the column to leave out next, the rightmost of equals; -1 for none.
func (g *Grid) leastWanted() int {
	found := -1
	for i, c := range g.Columns {
		if c.Drop > 0 && (found < 0 || c.Drop >= g.Columns[found].Drop) {
			found = i
		}
	}
	return found
}

func (g *Grid) remove(i int) {
	g.Columns = slices.Delete(slices.Clone(g.Columns), i, i+1)
	for r, row := range g.Rows {
		g.Rows[r] = slices.Delete(slices.Clone(row), i, i+1)
	}
}

// widestText is the widest text column that may be narrowed, and the width down to
// which it is the one to narrow; -1 for none.
func (g *Grid) widestText(widths []int) (index, next int) {
	index, next = -1, narrowest
	for i, c := range g.Columns {
		switch {
		case c.Right || widths[i] <= narrowest:
		case index < 0 || widths[i] > widths[index]:
			if index >= 0 {
				next = max(next, widths[index])
			}
			index = i
		default:
			next = max(next, widths[i])
		}
	}
	if index >= 0 && next == widths[index] {
		next-- // equals are narrowed in turn
	}
	return index, next
}
