package main

import (
	"cmp"
	"maps"
	"slices"

	"mqctl/internal/render"
)

// countOf is a number of things in words: 1 queue, 8 queues.
func countOf[N int | int32 | int64](n N, thing string) string {
	text := render.Count(int64(n)) + " " + thing
	if n != 1 {
		text += "s"
	}
	return text
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// joinFirst is the first error that is not nil: what follows from a failure is no news.
func joinFirst(errs ...error) error { return cmp.Or(errs...) }
