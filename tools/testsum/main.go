// Testsum reads the events of `go test -json` from standard input and keeps a test run's output short: nothing for what
// passes, the whole output of what fails, and at the end one line of counts.
//
//	go test -json ./... | testsum -ring NAME -results FILE
//
// Every result is appended to FILE as one tab-separated line: ring, pass|fail|skip, package, test, reason of a skip. A test
// with subtests is counted by its subtests; the seeds of a fuzz target count as one test. Testsum exits 1 if anything
// failed, if a package did not build, or if no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// event is what test2json and the build write, one a line.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

type result struct {
	pkg, test, action, reason string
}

// summary collects results and the output of what has not ended yet.
type summary struct {
	out      io.Writer
	pending  map[string][]string // output lines by package and test
	results  []result
	failures int
	builds   []string // output of builds, shown when one fails
}

func main() {
	ring := flag.String("ring", "tests", "name of the ring, the first column of the results")
	file := flag.String("results", "", "file to append the results to")
	flag.Parse()
	s := &summary{out: os.Stdout, pending: map[string][]string{}}
	if err := s.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	leaves := s.leaves()
	if *file != "" {
		if err := appendResults(*file, *ring, leaves); err != nil {
			fmt.Fprintln(os.Stderr, "testsum:", err)
			os.Exit(1)
		}
	}
	counts := count(leaves)
	fmt.Fprintf(s.out, "%s: %d passed, %d failed, %d skipped\n", *ring, counts["pass"], counts["fail"], counts["skip"])
	if s.failures > 0 || counts["fail"] > 0 || len(leaves) == 0 {
		os.Exit(1)
	}
}

func (s *summary) read(r io.Reader) error {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var e event
		if err := json.Unmarshal(sc.Bytes(), &e); err != nil {
			// What is not an event is the go command's own word, such as a pattern that matches nothing.
			fmt.Fprintln(s.out, sc.Text())
			s.failures++
			continue
		}
		s.take(e)
	}
	return sc.Err()
}

func (s *summary) take(e event) {
	key := e.Package + "\x00" + e.Test
	switch e.Action {
	case "output":
		s.pending[key] = append(s.pending[key], e.Output)
	case "build-output":
		s.builds = append(s.builds, e.Output)
	case "build-fail":
		fmt.Fprintf(s.out, "--- build failed: %s\n%s", e.ImportPath, strings.Join(s.builds, ""))
		s.builds = nil
		s.failures++
	case "pass", "fail", "skip":
		s.end(e, key)
	}
}

// end records how a test or (with no test name) a package ended.
func (s *summary) end(e event, key string) {
	output := s.pending[key]
	delete(s.pending, key)
	if e.Test == "" {
		if e.Action == "fail" {
			s.endPackage(e.Package, output)
		}
		return
	}
	r := result{pkg: e.Package, test: e.Test, action: e.Action}
	if e.Action == "skip" {
		r.reason = reason(output)
	}
	if e.Action == "fail" && (!s.failedBelow(r) || saysMore(output)) {
		fmt.Fprintf(s.out, "--- %s %s\n%s", e.Package, e.Test, strings.Join(output, ""))
	}
	s.results = append(s.results, r)
}

// endPackage shows a failed package's own output, and what tests of it that never ended had said: a time-out or a crash.
func (s *summary) endPackage(pkg string, output []string) {
	s.failures++
	fmt.Fprintf(s.out, "--- package %s\n%s", pkg, strings.Join(output, ""))
	for key, lines := range s.pending {
		if p, test, _ := strings.Cut(key, "\x00"); p == pkg {
			fmt.Fprintf(s.out, "--- %s %s (did not end)\n%s", pkg, test, strings.Join(lines, ""))
			s.results = append(s.results, result{pkg: pkg, test: test, action: "fail"})
			delete(s.pending, key)
		}
	}
}

// failedBelow reports whether a subtest of r has failed and thus been shown.
func (s *summary) failedBelow(r result) bool {
	return slices.ContainsFunc(s.results, func(o result) bool {
		return o.pkg == r.pkg && o.action == "fail" && strings.HasPrefix(o.test, r.test+"/")
	})
}

// saysMore reports whether a test's output has lines of its own beside those of the test runner.
func saysMore(output []string) bool {
	return slices.ContainsFunc(output, func(line string) bool {
		line = strings.TrimSpace(line)
		return line != "" && !strings.HasPrefix(line, "===") && !strings.HasPrefix(line, "---")
	})
}

// reason is the last line that a skipped test logged, without its position in the source.
func reason(output []string) string {
	for _, line := range slices.Backward(output) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "===") {
			continue
		}
		if _, text, ok := strings.Cut(line, ".go:"); ok {
			if _, after, ok := strings.Cut(text, ": "); ok {
				line = after
			}
		}
		return strings.ReplaceAll(line, "\t", " ")
	}
	return ""
}

// leaves drops tests that have subtests, unless they failed by themselves, and the seeds of fuzz targets.
func (s *summary) leaves() []result {
	parents, failedBelow := map[string]bool{}, map[string]bool{}
	for _, r := range s.results {
		for i, c := range r.test {
			if c == '/' {
				parent := r.pkg + "\x00" + r.test[:i]
				parents[parent] = true
				failedBelow[parent] = failedBelow[parent] || r.action == "fail"
			}
		}
	}
	var leaves []result
	for _, r := range s.results {
		key := r.pkg + "\x00" + r.test
		fuzz := strings.HasPrefix(r.test, "Fuzz")
		switch {
		case fuzz && strings.Contains(r.test, "/"):
		case fuzz, !parents[key], r.action == "fail" && !failedBelow[key]:
			leaves = append(leaves, r)
		}
	}
	return leaves
}

func count(results []result) map[string]int {
	counts := map[string]int{}
	for _, r := range results {
		counts[r.action]++
	}
	return counts
}

func appendResults(name, ring string, results []result) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(f)
	for _, r := range results {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", ring, r.action, r.pkg, r.test, r.reason)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}
