// Realtests names the tests that can run against a real cluster: those that call testcluster.New, themselves or through
// functions of their package's test files. All others use the sandbox whatever the environment says.
//
//	realtests DIR...
//
// It prints a line per package that has such tests: its folder and a pattern for go test -run. Functions are followed by
// name alone, so a method's name counts wherever it is mentioned: a test too many, never one too few.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	for _, dir := range os.Args[1:] {
		tests, err := realTests(dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, "realtests:", err)
			os.Exit(1)
		}
		if len(tests) > 0 {
			fmt.Printf("%s ^(%s)$\n", dir, strings.Join(tests, "|"))
		}
	}
}

// realTests returns the names of a folder's tests that reach testcluster.New, sorted.
func realTests(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	mentions := map[string]map[string]bool{} // function → names in its body
	reaches := map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			collect(d, mentions, reaches)
		}
	}
	for grown := true; grown; {
		grown = false
		for name, names := range mentions {
			if reaches[name] {
				continue
			}
			for other := range names {
				if reaches[other] {
					reaches[name], grown = true, true
					break
				}
			}
		}
	}
	var tests []string
	for name := range reaches {
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	slices.Sort(tests)
	return tests, nil
}

// collect notes which names a declaration's functions mention, and those that call testcluster.New.
func collect(d ast.Decl, mentions map[string]map[string]bool, reaches map[string]bool) {
	for name, body := range functions(d) {
		if mentions[name] == nil {
			mentions[name] = map[string]bool{}
		}
		ast.Inspect(body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && x.Name == "testcluster" {
					if n.Sel.Name == "New" {
						reaches[name] = true
					}
					return false
				}
			case *ast.Ident:
				mentions[name][n.Name] = true
			}
			return true
		})
	}
}

// functions are a function's name and body, or a package variable's name and value: a table may hold functions.
func functions(d ast.Decl) map[string]ast.Node {
	out := map[string]ast.Node{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Body != nil {
			out[d.Name.Name] = d.Body
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				for i, value := range v.Values {
					out[v.Names[min(i, len(v.Names)-1)].Name] = value
				}
			}
		}
	}
	return out
}
