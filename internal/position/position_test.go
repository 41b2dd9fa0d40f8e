package position

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// now is noon of the incident's day in the zone of most tests.
var now = time.Date(2026, 11, 30, 4, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	shanghai := load(t, "Asia/Shanghai")
	cases := map[string]Position{
		"start":               {Kind: Start},
		"end":                 {Kind: End},
		"0":                   {Kind: Offset},
		"007":                 {Kind: Offset, N: 7},
		"9223372036854775807": {Kind: Offset, N: 1<<63 - 1},
		"start+10":            {Kind: StartPlus, N: 10},
		"end-10":              {Kind: EndMinus, N: 10},
		"commit":              {Kind: Commit},
		"commit+3":            {Kind: Commit, N: 3},
		"commit-3":            {Kind: Commit, N: -3},
		"lag=1000":            {Kind: Lag, N: 1000},
		"@-1h":                {Kind: At, Time: now.Add(-time.Hour)},
		"@-1h30m":             {Kind: At, Time: now.Add(-90 * time.Minute)},
		"@-1w2d":              {Kind: At, Time: now.Add(-9 * 24 * time.Hour)},
		"@-1.5d":              {Kind: At, Time: now.Add(-36 * time.Hour)},
		"@-250ms":             {Kind: At, Time: now.Add(-250 * time.Millisecond)},
		"@now":                {Kind: At, Time: now},
		"@yesterday 14:00":    {Kind: At, Time: time.Date(2026, 11, 29, 14, 0, 0, 0, shanghai)},
		"@2026-11-29":         {Kind: At, Time: time.Date(2026, 11, 29, 0, 0, 0, 0, shanghai)},
	}
	for in, want := range cases {
		got, err := Parse(in, now, shanghai)
		if err != nil {
			t.Errorf("Parse(%q): %v", in, err)
			continue
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q): %s", in, diff)
		}
	}
}

func TestParseRefusesWithTheRightSpelling(t *testing.T) {
	cases := map[string][]string{
		"":                           {"empty", "start+N"},
		"+5":                         {"start+5", "commit+5"},
		"-5":                         {"end-5", "commit-5"},
		"earliest":                   {"start"},
		"latest":                     {"end"},
		"START":                      {"the word is start"},
		"-1h":                        {"@-1h"},
		"1h":                         {"@-1h"},
		"2026-11-29":                 {"@2026-11-29"},
		"today 10:00":                {"@today 10:00"},
		"end+1":                      {"nothing is behind the end"},
		"start-1":                    {"nothing is before the start"},
		"10..20":                     {"a range does not fit here"},
		"9223372036854775808":        {"larger than any offset"},
		"commit-9999999999999999999": {"larger than any offset"},
		"start+":                     {forms},
		"lag=-1":                     {forms},
		"1e3":                        {forms},
		" 5":                         {forms},
		"@":                          {"RFC 3339"},
		"@-":                         {"1h30m"},
		"@-5":                        {"1h30m"},
		"@-1h-1h":                    {"1h30m"},
		"@-300000d":                  {"1h30m"},
		"@-99999999999999w":          {"1h30m"},
		"@+1h":                       {"RFC 3339"},
		"@2026-02-30":                {"calendar"},
	}
	for in, want := range cases {
		_, err := Parse(in, now, time.UTC)
		var usage *Error
		if !errors.As(err, &usage) || usage.Input != in {
			t.Errorf("Parse(%q) = %v, want an *Error", in, err)
			continue
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("Parse(%q) = %v, lacks %q", in, err, part)
			}
		}
	}
}

func TestParseRange(t *testing.T) {
	got, err := ParseRange("@-1h..end", now, time.UTC)
	want := Range{From: Position{Kind: At, Time: now.Add(-time.Hour)}, To: Position{Kind: End}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	if got.String() != "@2026-11-30T03:00:00Z..end" || got.Echo() != "2026-11-30 03:00:00 +00:00 .. end" {
		t.Errorf("String %s, Echo %s", got, got.Echo())
	}
	good := []string{"10..20", "10..10", "start..end", "commit-5..commit+5", "end-20..end-10", "lag=5..lag=5", "@2026-11-29 10:00:00..@now", "end..10"}
	for _, in := range good {
		if _, err := ParseRange(in, now, time.UTC); err != nil {
			t.Errorf("ParseRange(%q): %v", in, err)
		}
	}
	bad := map[string]string{
		"10":               "A..B",
		"..20":             "start..20",
		"10..":             "10..end",
		"1..2..3":          "more than one",
		"1...2":            "want start", // the second position is .2
		"20..10":           "10..20",
		"end..start":       "start..end",
		"end-5..end-10":    "end-10..end-5",
		"lag=1..lag=2":     "lag=2..lag=1",
		"start+2..start+1": "start+1..start+2",
		"@now..@-1h":       "@-1h..@now",
		"x..end":           `"x"`,
		"start..x":         `"x"`,
	}
	for in, part := range bad {
		_, err := ParseRange(in, now, time.UTC)
		var usage *Error
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), part) {
			t.Errorf("ParseRange(%q) = %v, want an *Error with %q", in, err, part)
		}
	}
}

func ptr(n int64) *int64 { return &n }

func TestResolve(t *testing.T) {
	const top = 1<<63 - 1
	cases := []struct {
		in        string
		committed *int64
		found     int64
		want      int64
	}{
		{in: "start", want: 100},
		{in: "end", want: 200},
		{in: "0", want: 100},
		{in: "100", want: 100},
		{in: "150", want: 150},
		{in: "200", want: 200},
		{in: "201", want: 200},
		{in: "9223372036854775807", want: 200},
		{in: "start+30", want: 130},
		{in: "start+101", want: 200},
		{in: "start+9223372036854775807", want: 200},
		{in: "end-30", want: 170},
		{in: "end-101", want: 100},
		{in: "end-9223372036854775807", want: 100},
		{in: "lag=0", want: 200},
		{in: "lag=40", want: 160},
		{in: "lag=1000", want: 100},
		{in: "commit", committed: ptr(150), want: 150},
		{in: "commit+10", committed: ptr(150), want: 160},
		{in: "commit-10", committed: ptr(150), want: 140},
		{in: "commit-10", committed: ptr(0), want: 100},
		{in: "commit+0", committed: ptr(500), want: 200},
		{in: "commit+1", committed: ptr(top), want: 200},
		{in: "commit-1", committed: ptr(-1 << 63), want: 100},
		{in: "@-1h", found: 170, want: 170},
		{in: "@-1h", found: 5, want: 100},
		{in: "@-1h", found: 500, want: 200},
		{in: "@-1h", found: -1, want: 100},
	}
	for _, c := range cases {
		p, err := Parse(c.in, now, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		b := Bounds{Min: 100, Max: 200, Committed: c.committed, OffsetAt: func(at time.Time) (int64, error) {
			if !at.Equal(now.Add(-time.Hour)) {
				t.Errorf("%s asked for %v", c.in, at)
			}
			return c.found, nil
		}}
		if got, err := Resolve(p, b); got != c.want || err != nil {
			t.Errorf("%s = %d, %v; want %d", c.in, got, err, c.want)
		}
		b.Min, b.Max = 300, 300
		if got, err := Resolve(p, b); got != 300 || err != nil {
			t.Errorf("%s of an empty queue = %d, %v; want 300", c.in, got, err)
		}
	}
}

func TestResolveFailures(t *testing.T) {
	b := Bounds{Min: 1, Max: 2}
	if _, err := Resolve(Position{Kind: Commit}, b); !errors.Is(err, ErrNoCommit) {
		t.Errorf("commit: %v", err)
	}
	at := Position{Kind: At, Time: now}
	if _, err := Resolve(at, b); err == nil {
		t.Error("a time was resolved without OffsetAt")
	}
	broken := errors.New("broker-a is gone")
	b.OffsetAt = func(time.Time) (int64, error) { return 0, broken }
	if _, err := Resolve(at, b); !errors.Is(err, broken) || !strings.Contains(err.Error(), "2026-11-30 04:00:00 +00:00") {
		t.Errorf("at: %v", err)
	}
	if _, err := Resolve(Position{Kind: 99}, b); err == nil {
		t.Error("an unknown kind was resolved")
	}
	for _, r := range []Range{{From: at, To: Position{Kind: End}}, {From: Position{Kind: Start}, To: at}} {
		if _, _, err := r.Resolve(b); !errors.Is(err, broken) {
			t.Errorf("%s: %v", r, err)
		}
	}
}

func TestRangeResolve(t *testing.T) {
	b := Bounds{Min: 100, Max: 200, Committed: ptr(150)}
	for in, want := range map[string][2]int64{
		"start..end": {100, 200}, "10..120": {100, 120}, "commit..110": {150, 150}, "end..10": {200, 200},
	} {
		r, err := ParseRange(in, now, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		from, to, err := r.Resolve(b)
		if got := [2]int64{from, to}; got != want || err != nil {
			t.Errorf("%s = %v, %v; want %v", in, got, err, want)
		}
	}
}

func TestNeeds(t *testing.T) {
	for in, want := range map[string][2]bool{"end": {}, "5": {}, "commit+1": {true, false}, "@now": {false, true}} {
		p, err := Parse(in, now, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]bool{p.NeedsCommit(), p.NeedsTime()}; got != want {
			t.Errorf("%s needs %v, want %v", in, got, want)
		}
	}
}

// anyPosition draws a position of any kind.
func anyPosition(rt *rapid.T) Position {
	p := Position{Kind: Kind(rapid.IntRange(int(Start), int(At)).Draw(rt, "kind"))}
	switch p.Kind {
	case Offset, StartPlus, EndMinus, Lag:
		p.N = rapid.Int64Range(0, 1<<63-1).Draw(rt, "n")
	case Commit:
		p.N = rapid.Int64Range(-(1<<63-1), 1<<63-1).Draw(rt, "n")
	case At:
		p.Time = time.UnixMilli(rapid.Int64Range(0, 9_999_999_999_999).Draw(rt, "ms")).UTC()
	}
	return p
}

func TestStringIsTheGrammar(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := anyPosition(rt)
		got, err := Parse(want.String(), now, time.UTC)
		if err != nil || got != want {
			rt.Fatalf("%#v prints %s, which is %#v, %v", want, want, got, err)
		}
	})
}

func TestResolveStaysInBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		any64 := rapid.Int64()
		low := rapid.Int64Range(0, 1<<62).Draw(rt, "min")
		b := Bounds{Min: low, Max: low + rapid.Int64Range(0, 1<<62).Draw(rt, "length"), Committed: ptr(any64.Draw(rt, "commit"))}
		found := any64.Draw(rt, "found")
		b.OffsetAt = func(time.Time) (int64, error) { return found, nil }
		r := Range{From: anyPosition(rt), To: anyPosition(rt)}
		from, to, err := r.Resolve(b)
		if err != nil || from < b.Min || to > b.Max || from > to {
			rt.Fatalf("%s in [%d, %d] = %d, %d, %v", r, b.Min, b.Max, from, to, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"start", "end-5", "commit+1", "lag=9", "@-1h30m", "@2026-11-29 14:00", "@20240310023000", "@1732946400000",
		"@2026-11-29T14:00:00.5+08:00", "@yesterday 14:00", "10..20", "@-1h..end", "+5", "@0000-01-01",
	} {
		f.Add(s)
	}
	loc, err := time.LoadLocation("America/New_York")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRange(s, now, loc); err == nil {
			again, err := ParseRange(r.String(), now, loc)
			if err != nil || !cmp.Equal(r, again) {
				t.Fatalf("%q is %s, and that %s, %v", s, r, again, err)
			}
		}
		p, err := Parse(s, now, loc)
		if err != nil {
			var usage *Error
			if !errors.As(err, &usage) || usage.Reason == "" {
				t.Fatalf("Parse(%q) = %v", s, err)
			}
			return
		}
		again, err := Parse(p.String(), now, loc)
		if err != nil || !cmp.Equal(p, again) {
			t.Fatalf("%q is %s, and that %s, %v", s, p, again, err)
		}
	})
}
