// Package arch holds the rules about the program's structure that a compiler does not check.
package arch

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// mayImport is the import graph of DESIGN.md: what each package may import of this module, and which third-party modules.
// A package that is not listed may not exist.
var mayImport = map[string]struct{ own, others []string }{
	"internal/protocol":    {nil, []string{"github.com/klauspost/compress", "github.com/pierrec/lz4/v4"}},
	"internal/safetext":    {nil, nil},
	"internal/sqlfilter":   {nil, nil},
	"internal/faultnet":    {nil, nil},
	"internal/history":     {nil, nil},
	"internal/position":    {nil, nil},
	"internal/format":      {[]string{"protocol", "safetext"}, nil},
	"internal/stats":       {nil, []string{"github.com/prometheus/client_golang"}},
	"internal/config":      {nil, []string{"github.com/goccy/go-yaml", "github.com/adrg/xdg", "github.com/google/renameio/v2"}},
	"internal/remoting":    {[]string{"protocol"}, nil},
	"internal/client":      {[]string{"remoting", "protocol", "stats"}, []string{"golang.org/x/sync"}},
	"internal/admin":       {[]string{"client", "protocol", "stats", "position"}, []string{"golang.org/x/sync"}},
	"internal/bench":       {[]string{"client", "admin", "stats", "history", "position", "render"}, []string{"github.com/HdrHistogram/hdrhistogram-go"}},
	"internal/demo":        {[]string{"sandbox", "client", "stats", "protocol"}, nil},
	"internal/sandbox":     {[]string{"remoting", "protocol", "sqlfilter", "faultnet"}, nil},
	"internal/render":      {[]string{"safetext"}, []string{"github.com/olekukonko/tablewriter", "github.com/goccy/go-yaml", "github.com/charmbracelet/x/ansi"}},
	"internal/control":     {[]string{"stats", "position"}, nil},
	"internal/doctor":      {[]string{"admin", "protocol", "stats", "safetext"}, nil},
	"internal/tui":         {[]string{"stats", "render", "safetext"}, []string{"github.com/charmbracelet", "github.com/NimbleMarkets/ntcharts"}},
	"internal/testcluster": {[]string{"sandbox", "admin", "client", "remoting", "protocol", "faultnet"}, nil},
	"internal/arch":        {nil, nil},
}

const (
	testOnly = "internal/testcluster"
	module   = "mqctl"
)

// programs may use everything but the test's own package.
var programs = []string{"cmd/mqctl", "scripts/drive"}

type goPackage struct {
	ImportPath string
	Standard   bool
	Imports    []string
}

func list(t *testing.T) []goPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-deps=false", "-json=ImportPath,Standard,Imports", module+"/...")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var pkgs []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		pkgs = append(pkgs, p)
	}
}

func TestImports(t *testing.T) {
	pkgs := list(t)
	if len(pkgs) < 5 {
		t.Fatalf("only %d packages were listed", len(pkgs))
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module+"/")
		rule, listed := mayImport[name]
		if slices.Contains(programs, name) {
			if slices.Contains(p.Imports, module+"/"+testOnly) {
				t.Errorf("%s imports %s, which is for tests", name, testOnly)
			}
			continue
		}
		if !listed {
			t.Errorf("%s is not in the import graph: place it there and in DESIGN.md", name)
			continue
		}
		for _, imp := range p.Imports {
			checkImport(t, name, imp, rule.own, rule.others)
		}
	}
}

func checkImport(t *testing.T, name, imp string, own, others []string) {
	t.Helper()
	if rest, ok := strings.CutPrefix(imp, module+"/internal/"); ok {
		if !slices.Contains(own, rest) {
			t.Errorf("%s imports internal/%s, which the import graph does not allow", name, rest)
		}
		return
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") {
		return // the standard library
	}
	if !slices.ContainsFunc(others, func(o string) bool { return imp == o || strings.HasPrefix(imp, o+"/") }) {
		t.Errorf("%s imports %s, which it has no business with", name, imp)
	}
}
