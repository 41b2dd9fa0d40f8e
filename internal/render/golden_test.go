package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// printed is Write into a string.
func printed(t testing.TB, f Format, v any, o Options) string {
	t.Helper()
	var out strings.Builder
	if err := Write(&out, f, v, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// golden compares with testdata/name.golden.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s: %s", file, diff)
	}
}

// lagRow is a row of `offset lag`, with every kind of tag.
type lagRow struct {
	Topic   string         `json:"topic" col:"TOPIC"`
	Queue   string         `json:"queue" col:"QUEUE"`
	Commit  *int64         `json:"commit" col:"COMMIT,drop=2" unit:"count" none:"none"`
	Max     int64          `json:"max" col:"MAX,drop=2" unit:"count"`
	Lag     *int64         `json:"lag" col:"LAG" unit:"count"`
	Behind  *time.Duration `json:"behind_ms" col:"BEHIND" unit:"duration"`
	In      *float64       `json:"in_rate" col:"IN/S" unit:"rate"`
	Out     *float64       `json:"out_rate" col:"OUT/S" unit:"rate"`
	Drain   string         `json:"drain" col:"DRAIN,right,drop=3" none:"?"`
	Verdict string         `json:"verdict" col:"VERDICT,state"`
	Owner   string         `json:"owner" col:"OWNER" none:"nobody"`
	Epoch   int64          `json:"epoch" col:"EPOCH,wide"`
	Last    time.Time      `json:"last_consume" col:"LAST CONSUME" wide:"true"`
	Secret  string         `json:"-"`
}

func some[T any](v T) *T { return &v }

// incident is the group of the mock-ups.
func incident() []lagRow {
	row := func(topic, queue string, commit, top int64, behind time.Duration, in, out float64, drain, verdict, owner string) lagRow {
		return lagRow{
			Topic: topic, Queue: queue, Commit: &commit, Max: top, Lag: some(top - commit), Behind: &behind, In: &in, Out: &out,
			Drain: drain, Verdict: verdict, Owner: owner, Epoch: 3, Last: time.Date(2026, 11, 30, 6, 2, 11, 5e6, time.UTC), Secret: "canary",
		}
	}
	rows := []lagRow{
		row("orders", "broker-a/2", 1204118, 1252250, 38*time.Minute+12*time.Second, 21.0, 0.0, "never", "STALLED", "10.4.2.17@8817"),
		row("orders", "broker-b/2", 1198004, 1201377, 162*time.Second, 20.8, 0.0, "never", "UNOWNED", ""),
		row("orders", "broker-b/1", 1240551, 1241996, 68*time.Second, 21.2, 14.0, "never", "LAGGING", "10.4.2.31@1"),
		row("orders", "broker-b/3", 1245010, 1245022, 400*time.Millisecond, 20.9, 20.9, "<1s", "OK", "10.4.2.40@1"),
		row("orders", "broker-a/0", 1241120, 1241120, 0, 21.1, 21.1, "0", "OK", "10.4.2.17@8817"),
		row("refunds", "broker-b/0", 0, 5120, 0, 0.4, 0, "", "PAUSED", "10.4.2.17@8817"),
		row("%RETRY%", "broker-a/0", 311, 311, 0, 0, 0, "0", "OK", "10.4.2.17@8817"),
	}
	rows[5].Commit, rows[5].Lag, rows[5].Behind, rows[5].Last = nil, nil, nil, time.Time{}
	return rows
}

var shanghai = time.FixedZone("UTC+8", 8*3600)

func TestGoldenOfEveryFormat(t *testing.T) {
	human := Options{Human: true, Location: shanghai}
	golden(t, "lag.table", printed(t, FormatTable, incident(), human))
	golden(t, "lag.wide", printed(t, FormatWide, incident(), human))
	plain := Options{Location: shanghai, Width: 40} // a width means nothing off a terminal
	golden(t, "lag.plain.table", printed(t, FormatTable, incident(), plain))
	for _, f := range []Format{FormatJSON, FormatJSONL, FormatYAML, FormatCSV} {
		golden(t, "lag."+string(f), printed(t, f, incident(), human))
	}
}

func TestGoldenOfNarrowTerminals(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
	}{{"90", 90}, {"70", 70}, {"50", 50}, {"20", 20}} {
		got := printed(t, FormatTable, incident(), Options{Human: true, Width: c.width})
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSuffix(line, "\n")); w > c.width {
				t.Errorf("width %d: a line of %d: %q", c.width, w, line)
			}
		}
		golden(t, "lag.width"+c.name, got)
	}
}

// page is a document with every part.
func testPage() Document {
	type member struct {
		Client string `json:"client_id" col:"CLIENT ID"`
		Queues int    `json:"queues" col:"QUEUES"`
		Note   string `json:"note" col:"NOTE"`
	}
	type report struct {
		Group   string   `json:"group"`
		Verdict string   `json:"verdict"`
		Members []member `json:"members"`
		Queues  []lagRow `json:"queues"`
	}
	r := report{Group: "order-service", Verdict: "CRITICAL", Queues: incident()[:2], Members: []member{
		{"10.4.2.17@8817#51", 5, "holds the stalled queue"}, {"10.4.2.31@1#77", 4, ""}, {"bad\x1b[2J@1", 0, "名前"},
	}}
	return Document{
		Data: r,
		Rows: r.Queues,
		Head: []string{"order-service   CRITICAL   lag 52,984", "a hostile remark \x1b]0;x\x07\r"},
		Sections: []Section{
			{Title: "MEMBERS   9 of 11 queues owned", Rows: r.Members, Lines: []string{"the rest is nobody's"}},
			{Title: "SETTINGS", Rows: Grid{Rows: [][]string{{"retryMaxTimes", "5", "(16)"}, {"notifyConsumerIdsChanged", "false", "(true)"}}}},
			{Title: "NOTES", Lines: []string{"none"}},
		},
		Foot: []string{"next: mqctl doctor group order-service"},
	}
}

func TestGoldenOfADocument(t *testing.T) {
	human := Options{Human: true, Width: 100, Location: shanghai}
	golden(t, "page.table", printed(t, FormatTable, testPage(), human))
	for _, f := range []Format{FormatJSON, FormatJSONL, FormatYAML, FormatCSV} {
		golden(t, "page."+string(f), printed(t, f, testPage(), human))
	}
	golden(t, "page.color", printed(t, FormatTable, testPage(), Options{Human: true, Color: true, Width: 60}))
}

func TestGoldenOfFields(t *testing.T) {
	human := Options{Human: true, Location: shanghai}
	doc := Fields(&incident()[0])
	golden(t, "fields.table", printed(t, FormatTable, doc, human))
	golden(t, "fields.wide", printed(t, FormatWide, doc, human))
	for _, f := range []Format{FormatJSON, FormatJSONL, FormatYAML, FormatCSV} {
		golden(t, "fields."+string(f), printed(t, f, doc, human))
	}
}

func TestEmptyListKeepsItsTitles(t *testing.T) {
	for f, want := range map[Format]string{
		FormatTable: "TOPIC  QUEUE  COMMIT  MAX  LAG  BEHIND  IN/S  OUT/S  DRAIN  VERDICT  OWNER\n",
		FormatCSV:   "topic,queue,commit,max,lag,behind_ms,in_rate,out_rate,drain,verdict,owner,epoch,last_consume\n",
		FormatJSON:  "[]\n",
		FormatJSONL: "",
		FormatYAML:  "[]\n",
	} {
		if got := printed(t, f, []lagRow(nil), Options{Human: true}); got != want {
			t.Errorf("%s: %q, want %q", f, got, want)
		}
	}
}
