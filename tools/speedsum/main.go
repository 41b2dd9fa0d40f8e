// Speedsum makes the report of scripts/compare-clients: it reads what the drivers printed, takes medians over the rounds,
// and holds mqctl's against the other sides' and against the goals.
//
//	speedsum [-json FILE] RESULTS
//
// RESULTS has tab-separated lines of three kinds:
//
//	run       ROUND  WORK  SIDE  what the driver printed: a JSON object, or words with name=value among them
//	settings  SIDE   text
//	about     NAME   text
//
// Works are consume, produce (synchronous), async and batch; sides are mqctl, go-client, java and floor. A run whose text
// begins with "error:" failed and counts for nothing but that. Speedsum exits 1 when a run failed or a goal was missed.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

func main() {
	file := flag.String("json", "", "file for the report as JSON")
	flag.Parse()
	ok, err := run(flag.Args(), *file)
	if err != nil {
		fmt.Fprintln(os.Stderr, "speedsum:", err)
	}
	if !ok {
		os.Exit(1)
	}
}

func run(args []string, file string) (ok bool, err error) {
	if len(args) != 1 {
		return false, fmt.Errorf("want one file of results, not %d", len(args))
	}
	f, err := os.Open(args[0])
	if err != nil {
		return false, err
	}
	defer f.Close()
	r, err := read(f)
	if err != nil {
		return false, fmt.Errorf("%s: %w", args[0], err)
	}
	r.judge()
	if err := r.print(os.Stdout); err != nil {
		return false, err
	}
	if file != "" {
		b, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return false, err
		}
		if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil {
			return false, err
		}
	}
	return r.reached(), nil
}
