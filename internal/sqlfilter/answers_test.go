package sqlfilter

import (
	"encoding/json"
	"os"
	"testing"
)

// TestAnswersOfTheOfficialFilter holds the package against testdata/answers.jsonl: what the filter of RocketMQ 5.5.0 made
// of conditions made at random. The first line has the messages; then a letter for each message: t(rue), f(alse),
// u(nknown), x for an exception while evaluating.
func TestAnswersOfTheOfficialFilter(t *testing.T) {
	file, err := os.Open("testdata/answers.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dec := json.NewDecoder(file)
	var head struct{ Messages []map[string]string }
	if err := dec.Decode(&head); err != nil || len(head.Messages) == 0 {
		t.Fatalf("%v, %d messages", err, len(head.Messages))
	}
	meaning := map[byte]Result{'t': True, 'f': False, 'u': Unknown, 'x': Unknown}
	count := 0
	for ; dec.More(); count++ {
		var line struct{ Condition, Results string }
		if err := dec.Decode(&line); err != nil {
			t.Fatal(err)
		}
		f, err := Parse(line.Condition)
		if refused := line.Results == "refused"; refused || err != nil {
			if refused != (err != nil) {
				t.Errorf("%q: %v, want %s", line.Condition, err, line.Results)
			}
			continue
		}
		again, err := Parse(f.String())
		if err != nil {
			t.Errorf("%q: printed as %q: %v", line.Condition, f, err)
			continue
		}
		for i, m := range head.Messages {
			if got, want := f.on(m), meaning[line.Results[i]]; got != want {
				t.Errorf("%q on %q: %v, want %v", line.Condition, m, got, want)
			}
			if got, want := again.on(m), f.on(m); got != want {
				t.Errorf("%q printed as %q on %q: %v, want %v", line.Condition, f, m, got, want)
			}
		}
	}
	if count < 1000 {
		t.Errorf("only %d conditions", count)
	}
}
