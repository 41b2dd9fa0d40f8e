package position

import (
	"errors"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"pgregory.net/rapid"
)

func load(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestC29_TimeAndZone(t *testing.T) {
	zones := []string{"UTC", "Asia/Shanghai", "America/New_York"}
	cases := []struct {
		in   string
		want [3]string // in the order of zones
	}{
		// Local by rule: a different instant in every zone.
		{"20240102030405", [3]string{"2024-01-02 03:04:05 +00:00", "2024-01-02 03:04:05 +08:00", "2024-01-02 03:04:05 -05:00"}},
		{"2024-01-02", [3]string{"2024-01-02 00:00:00 +00:00", "2024-01-02 00:00:00 +08:00", "2024-01-02 00:00:00 -05:00"}},
		{"2024-07-02 03:04", [3]string{"2024-07-02 03:04:00 +00:00", "2024-07-02 03:04:00 +08:00", "2024-07-02 03:04:00 -04:00"}},
		{"2024-07-02 03:04:05", [3]string{"2024-07-02 03:04:05 +00:00", "2024-07-02 03:04:05 +08:00", "2024-07-02 03:04:05 -04:00"}},
		// now is 04:00 UTC: noon in Shanghai, the evening before in New York.
		{"now", [3]string{"2026-11-30 04:00:00 +00:00", "2026-11-30 12:00:00 +08:00", "2026-11-29 23:00:00 -05:00"}},
		{"today", [3]string{"2026-11-30 00:00:00 +00:00", "2026-11-30 00:00:00 +08:00", "2026-11-29 00:00:00 -05:00"}},
		{"today 10:30", [3]string{"2026-11-30 10:30:00 +00:00", "2026-11-30 10:30:00 +08:00", "2026-11-29 10:30:00 -05:00"}},
		{"yesterday", [3]string{"2026-11-29 00:00:00 +00:00", "2026-11-29 00:00:00 +08:00", "2026-11-28 00:00:00 -05:00"}},
		{"yesterday 14:00", [3]string{"2026-11-29 14:00:00 +00:00", "2026-11-29 14:00:00 +08:00", "2026-11-28 14:00:00 -05:00"}},
		// With an offset, or since the epoch: one instant, echoed in each zone.
		{"2024-01-02T03:04:05Z", [3]string{"2024-01-02 03:04:05 +00:00", "2024-01-02 11:04:05 +08:00", "2024-01-01 22:04:05 -05:00"}},
		{"2024-01-02T03:04:05.25+08:00", [3]string{"2024-01-01 19:04:05.250 +00:00", "2024-01-02 03:04:05.250 +08:00", "2024-01-01 14:04:05.250 -05:00"}},
		{"1704164645000", [3]string{"2024-01-02 03:04:05 +00:00", "2024-01-02 11:04:05 +08:00", "2024-01-01 22:04:05 -05:00"}},
		{"1704164645007", [3]string{"2024-01-02 03:04:05.007 +00:00", "2024-01-02 11:04:05.007 +08:00", "2024-01-01 22:04:05.007 -05:00"}},
		{"1704164645", [3]string{"2024-01-02 03:04:05 +00:00", "2024-01-02 11:04:05 +08:00", "2024-01-01 22:04:05 -05:00"}},
		// Ordinary hours where New York has none, or two.
		{"2024-03-10 02:30", [3]string{"2024-03-10 02:30:00 +00:00", "2024-03-10 02:30:00 +08:00", ""}},
		{"20241103013000", [3]string{"2024-11-03 01:30:00 +00:00", "2024-11-03 01:30:00 +08:00", ""}},
	}
	for _, c := range cases {
		for i, name := range zones {
			loc := load(t, name)
			got, err := ParseTime(c.in, now, loc)
			if c.want[i] == "" {
				if err == nil {
					t.Errorf("%s in %s = %s, want a refusal", c.in, name, FormatTime(got))
				}
				continue
			}
			if err != nil || FormatTime(got) != c.want[i] || got.Location() != loc {
				t.Errorf("%s in %s = %s, %v; want %s", c.in, name, FormatTime(got), err, c.want[i])
			}
			p, err := Parse("@"+c.in, now, loc)
			if err != nil || p.Echo() != c.want[i] {
				t.Errorf("@%s in %s = %s, %v; want %s", c.in, name, p.Echo(), err, c.want[i])
			}
		}
	}
}

func TestC29_LocalTimesThatAreNotOneInstant(t *testing.T) {
	cases := []struct {
		zone, in, earlier, later string
		doubled                  bool
	}{
		{"America/New_York", "2024-03-10 02:30", "2024-03-10T01:30:00-05:00", "2024-03-10T03:30:00-04:00", false},
		{"America/New_York", "20240310020000", "2024-03-10T01:00:00-05:00", "2024-03-10T03:00:00-04:00", false},
		{"America/New_York", "2024-11-03 01:30", "2024-11-03T01:30:00-04:00", "2024-11-03T01:30:00-05:00", true},
		{"America/New_York", "2024-11-03 01:00:00", "2024-11-03T01:00:00-04:00", "2024-11-03T01:00:00-05:00", true},
		{"Australia/Lord_Howe", "2024-10-06 02:15", "2024-10-06T01:45:00+10:30", "2024-10-06T02:45:00+11:00", false},
		{"Australia/Lord_Howe", "2024-04-07 01:45", "2024-04-07T01:45:00+11:00", "2024-04-07T01:45:00+10:30", true},
		{"America/Sao_Paulo", "2018-11-04 00:30", "2018-11-03T23:30:00-03:00", "2018-11-04T01:30:00-02:00", false},
		{"Pacific/Apia", "2011-12-30 12:00", "2011-12-29T12:00:00-10:00", "2011-12-31T12:00:00+14:00", false},
		{"Pacific/Apia", "2011-12-30", "2011-12-29T00:00:00-10:00", "2011-12-31T00:00:00+14:00", false},
	}
	for _, c := range cases {
		_, err := ParseTime(c.in, now, load(t, c.zone))
		var local *LocalTimeError
		if !errors.As(err, &local) {
			t.Errorf("%s in %s: %v", c.in, c.zone, err)
			continue
		}
		earlier, later := local.Earlier.Format(time.RFC3339), local.Later.Format(time.RFC3339)
		if earlier != c.earlier || later != c.later || local.Doubled != c.doubled {
			t.Errorf("%s in %s: %s, %s, doubled %v", c.in, c.zone, earlier, later, local.Doubled)
		}
		for _, part := range []string{c.earlier, c.later, c.zone} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v lacks %s", err, part)
			}
		}
	}
	// One second beside the change there is nothing to refuse.
	for _, in := range []string{"2024-03-10 01:59:59", "2024-03-10 03:00:00", "2024-11-03 00:59:59", "2024-11-03 02:00:00"} {
		if _, err := ParseTime(in, now, load(t, "America/New_York")); err != nil {
			t.Errorf("%s: %v", in, err)
		}
	}
}

func TestC29_ADateIsTheFirstInstantOfTheDay(t *testing.T) {
	cases := []struct{ zone, in, want string }{
		{"America/Sao_Paulo", "2018-11-04", "2018-11-04T01:00:00-02:00"}, // there was no midnight
		{"America/Sao_Paulo", "2018-02-18", "2018-02-18T00:00:00-03:00"}, // 23:00 came twice the day before
		{"America/Havana", "2024-11-03", "2024-11-03T00:00:00-04:00"},    // midnight came twice
		{"America/New_York", "2024-03-10", "2024-03-10T00:00:00-05:00"},
	}
	for _, c := range cases {
		loc := load(t, c.zone)
		day, err := time.ParseInLocation(time.DateOnly, c.in, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		noon := time.Date(day.Year(), day.Month(), day.Day(), 12, 0, 0, 0, loc)
		for in, at := range map[string]time.Time{c.in: noon, "today": noon, "yesterday": noon.AddDate(0, 0, 1)} {
			got, err := ParseTime(in, at, loc)
			if err != nil || got.Format(time.RFC3339) != c.want {
				t.Errorf("%s (%s) in %s = %s, %v; want %s", in, c.in, c.zone, got.Format(time.RFC3339), err, c.want)
			}
		}
	}
}

func TestC29_NonsenseIsAUsageError(t *testing.T) {
	bad := map[string]string{
		"":                     "RFC 3339",
		"tomorrow":             "RFC 3339",
		"2024-13-01":           "calendar",
		"2023-02-29":           "calendar",
		"2024-01-02 24:00":     "calendar",
		"2024-01-02 03:60":     "calendar",
		"20240102030460":       "calendar",
		"20240102":             "8 digits",
		"170416464500":         "12 digits",
		"2024-01-02T03:04:05":  "2024-01-02T03:04:05Z",
		"2024-01-02 3:04":      "RFC 3339",
		"2024/01/02":           "RFC 3339",
		"today 24:00":          "calendar",
		"today 9:00":           "RFC 3339",
		"today 10:00:00":       "RFC 3339",
		"today  10:0":          "RFC 3339",
		"yesterday ":           "RFC 3339",
		"-1h":                  "RFC 3339",
		"2024-01-02T25:00:00Z": "RFC 3339",
	}
	for in, part := range bad {
		_, err := ParseTime(in, now, time.UTC)
		var usage *Error
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), part) {
			t.Errorf("ParseTime(%q) = %v, want an *Error with %q", in, err, part)
		}
	}
}

func TestNilZoneIsTheLocalOne(t *testing.T) {
	got, err := ParseTime("now", now, nil)
	if err != nil || got.Location() != time.Local || !got.Equal(now) {
		t.Errorf("%v in %v, %v", got, got.Location(), err)
	}
}

func TestOffsetsWithSecondsSurvive(t *testing.T) {
	loc := load(t, "Asia/Shanghai")
	p, err := Parse("@1890-01-01", now, loc) // local mean time, +08:05:43
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(p.String(), now, loc)
	if err != nil || !again.Time.Equal(p.Time) {
		t.Errorf("%s is %v, want %v (%v)", p, again.Time, p.Time, err)
	}
}

// TestEveryInstantIsFoundByItsWallClock starts from instants, near changes more
// often than not: the clock time of each must lead back to it, or be refused as
// doubled with the instant among the two.
func TestEveryInstantIsFoundByItsWallClock(t *testing.T) {
	zones := []string{"America/New_York", "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/Sao_Paulo", "Africa/Casablanca", "Asia/Kathmandu", "Antarctica/Troll"}
	rapid.Check(t, func(rt *rapid.T) {
		loc := load(t, rapid.SampledFrom(zones).Draw(rt, "zone"))
		at := time.Unix(rapid.Int64Range(1_000_000_000, 1_900_000_000).Draw(rt, "s"), 0).In(loc)
		if _, change := at.ZoneBounds(); !change.IsZero() && rapid.Bool().Draw(rt, "near a change") {
			at = change.Add(time.Duration(rapid.IntRange(-8000, 8000).Draw(rt, "beside")) * time.Second)
		}
		text := at.Format("2006-01-02 15:04:05")
		got, err := ParseTime(text, now, loc)
		var local *LocalTimeError
		switch {
		case err == nil && got.Equal(at):
		case errors.As(err, &local) && local.Doubled && (local.Earlier.Equal(at) || local.Later.Equal(at)):
		default:
			rt.Fatalf("%s in %s is %v, %v", at.Format(time.RFC3339), loc, got, err)
		}
	})
}
