package main

import "testing"

// A name from a server becomes a word for a shell only if neither shell nor terminal can take it for more.
func TestOfferedNames(t *testing.T) {
	for name, want := range map[string]bool{
		"orders": true, "%RETRY%group-1": true, "a|b": true, "ns/Orders_2.x:1@eu=2": true,
		"": false, "-y": false, "--yes": false, "a b": false, "$(touch x)": false, "`x`": false, "a;b": false, "*": false, "a?b": false,
		"a\x1b[2Jb": false, "a\nb": false, "a\rb": false, "a'b": false, `a"b`: false, `a\b`: false, "a&b": false, "a>b": false, "~a": false,
		"a\xffb": false, "a\u202eb": false, "ü": false,
	} {
		if got := offered(name); got != want {
			t.Errorf("%q offered: %v, want %v", name, got, want)
		}
	}
}
