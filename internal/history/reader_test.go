package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

const (
	lineA = `{"at":10,"type":"send","producer":"p","seq":1}` + "\n"
	lineB = `{"at":20,"type":"send","producer":"p","seq":2}` + "\n"
)

func TestReaderOfACutFile(t *testing.T) {
	for cut := range len(lineB) {
		r := NewReader("h", strings.NewReader(lineA+lineB[:cut]))
		events := readAll(t, r)
		want, truncated := 1, cut > 0
		if cut == len(lineB)-1 { // only the end of the line is missing
			want, truncated = 2, false
		}
		if len(events) != want || r.Truncated() != truncated {
			t.Errorf("cut after %d bytes: %d events, truncated %v", cut, len(events), r.Truncated())
		}
		if _, err := r.Next(); !errors.Is(err, io.EOF) {
			t.Errorf("after the end: %v", err)
		}
	}
}

func TestReaderErrors(t *testing.T) {
	for text, want := range map[string]string{
		lineA + "nonsense\n" + lineB:                                                                  "h:2: bad event",
		lineA + `{"at":1,"type":"strange"}` + "\n" + lineB:                                            `h:2: bad event: unknown type "strange"`,
		lineA + `{"at":1,"type":"own","member":"m"}` + "\n\n":                                         "h:2: bad event: own without group",
		lineA + `{"at":1,"type":"deliver","group":"g","member":"m","queue":"q","hash":"zz"}` + "\n\n": "h:2: bad event",
		lineA + strings.Repeat("x", maxLine+1) + "\n" + lineB:                                         "h:2: bad event: a line of more than",
	} {
		r := NewReader("h", strings.NewReader(text))
		_, err := r.Next()
		if err == nil {
			_, err = r.Next()
		}
		if !errors.Is(err, ErrEvent) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", text, err, want)
		}
	}
	if _, err := Check(strings.NewReader(lineA+"nonsense\n"+lineB), strings.NewReader(lineB)); !errors.Is(err, ErrEvent) {
		t.Errorf("check: %v", err)
	}
	if _, err := Check(strings.NewReader("nonsense\n" + lineB)); !errors.Is(err, ErrEvent) {
		t.Errorf("check of a file that begins badly: %v", err)
	}
}

func TestReaderSkipsBlankLinesAndMendsTimes(t *testing.T) {
	long := strings.Repeat("k", 100_000) // more than the reader's buffer
	r := NewReader("h", strings.NewReader("\n"+lineB+" \n"+lineA+fmt.Sprintf(`{"at":30,"type":"send","producer":"p","seq":3,"key":%q}`, long)+"\n"))
	var at []int64
	for _, e := range readAll(t, r) {
		at = append(at, e.At)
		if e.Seq == 3 && e.Key != long {
			t.Error("a long line was not read whole")
		}
	}
	if !slices.Equal(at, []int64{20, 20, 30}) {
		t.Errorf("times %v", at)
	}
}

func TestMergeOrder(t *testing.T) {
	line := func(at int64, producer string) string {
		return fmt.Sprintf(`{"at":%d,"type":"send","producer":%q}`+"\n", at, producer)
	}
	a := NewReader("a", strings.NewReader(line(1, "a")+line(5, "a")+line(3, "a")))
	b := NewReader("b", strings.NewReader(line(1, "b")+line(4, "b")+line(9, "b")))
	got := ""
	for e, err := range Merge(a, NewReader("empty", strings.NewReader("")), b) {
		if err != nil {
			t.Fatal(err)
		}
		got += fmt.Sprintf("%s%d ", e.Producer, e.At)
	}
	if got != "a1 b1 b4 a5 a5 b9 " {
		t.Errorf("merged: %s", got)
	}
	for range Merge(NewReader("a", strings.NewReader(lineA+lineB))) {
		break // a consumer may stop early
	}
}

func TestTruncatedFilesAreNamed(t *testing.T) {
	r, err := CheckReaders(NewReader("whole", strings.NewReader(lineA)), NewReader("cut", strings.NewReader(lineB+`{"at":`)))
	if err != nil || !slices.Equal(r.Truncated, []string{"cut"}) {
		t.Errorf("%v %v", r.Truncated, err)
	}
	if s := text(t, &r); !strings.Contains(s, "cut: the last line was cut off") {
		t.Errorf("report:\n%s", s)
	}
}

// The report shows the verdict, all seven invariants, and each violation with its events; as JSON it can be read back.
func TestReportForms(t *testing.T) {
	f, err := os.Open("testdata/i4-running.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Check(f)
	if err != nil {
		t.Fatal(err)
	}
	s := text(t, &r)
	for _, want := range []string{
		"broken: I4 (commit safety)", "I1 no loss                ok", "I4 commit safety          1 violations",
		"I4 g t/a/0: the commit of 3 passes offset 1, which is being handled", `"type":"send_ack"`, `"type":"commit"`, "+0.120s",
	} {
		if !strings.Contains(s, want) {
			t.Errorf("the report has no %q:\n%s", want, s)
		}
	}
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal([]byte(b.String()), &back); err != nil || back.OK || len(back.Violations) != 1 || back.Counts != r.Counts || len(back.Tallies) != 7 {
		t.Errorf("%v: %s", err, b.String())
	}
	for _, i := range Invariants {
		if i.Meaning() == "" {
			t.Errorf("%s means nothing", i)
		}
	}
	if Invariant("I9").Meaning() != "" {
		t.Error("I9 has a meaning")
	}
}

// A flood of violations is counted in full and shown in part.
func TestViolationsAreBounded(t *testing.T) {
	c := NewChecker()
	c.Add(Event{Type: TypeMeta, Meta: &Meta{Group: "g", Observed: true}})
	for i := range int64(100) {
		c.Add(Event{At: i + 1, Type: TypeDeliver, Group: "g", Member: "m", Queue: "t/a/0", Offset: i, Producer: "p", Seq: i})
	}
	r := c.Finish()
	if r.Tallies[1].Violations != 200 || len(r.Violations) != maxShown || r.Omitted != 200-maxShown {
		t.Errorf("%d violations, %d shown, %d omitted", r.Tallies[1].Violations, len(r.Violations), r.Omitted)
	}
	if s := text(t, &r); !strings.Contains(s, "and 180 more violations") {
		t.Errorf("report:\n%s", s)
	}
}
