package position

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const timeForms = "want RFC 3339, 2006-01-02, 2006-01-02 15:04, 2006-01-02 15:04:05, 14 digits (20060102150405), " +
	"13 digits (milliseconds), 10 digits (seconds), now, today, yesterday or \"today 15:04\""

// ParseTime reads the TIME of the grammar. Times with an offset and epoch numbers
// are the same instant everywhere; all others are in loc (nil: the local zone):
//
//	RFC 3339                         2026-11-30T14:00:00+08:00, also with a fraction
//	2006-01-02[ 15:04[:05]]          a date alone is the first instant of that day
//	20060102150405                   14 digits, RocketMQ's consumeTimestamp
//	1732946400000, 1732946400        13 digits in ms, 10 digits in s
//	now, today[ 15:04], yesterday[ 15:04]
//
// A local time that clocks jump over, or that exists twice, is refused with both
// instants. The result is in loc. Errors are *Error.
func ParseTime(s string, now time.Time, loc *time.Location) (time.Time, error) {
	t, reason, err := parseTime(s, now, loc)
	if err != nil {
		reason = err.Error()
	}
	if reason != "" {
		return time.Time{}, &Error{Input: s, Reason: reason, Err: err}
	}
	return t, nil
}

// FormatTime echoes an instant with its zone: 2006-01-02 15:04:05 +08:00, with
// milliseconds where there are any.
func FormatTime(t time.Time) string {
	if t.Nanosecond() != 0 {
		return t.Format("2006-01-02 15:04:05.000 -07:00")
	}
	return t.Format("2006-01-02 15:04:05 -07:00")
}

// rfc3339 is exact: RFC 3339 has no seconds in its offsets, which local mean times
// of the 19th century need, so those are written in UTC.
func rfc3339(t time.Time) string {
	if _, offset := t.Zone(); offset%60 != 0 {
		t = t.UTC()
	}
	return t.Format(time.RFC3339Nano)
}

func zone(loc *time.Location) *time.Location {
	if loc == nil {
		return time.Local
	}
	return loc
}

var wallTime = regexp.MustCompile(`^(\d{4})-(\d\d)-(\d\d)(?: (\d\d):(\d\d)(?::(\d\d))?)?$`)

func parseTime(s string, now time.Time, loc *time.Location) (t time.Time, reason string, err error) {
	loc = zone(loc)
	if s == "now" {
		return now.In(loc), "", nil
	}
	if allDigits(s) {
		return parseDigits(s, loc)
	}
	if day, clock, ok := relativeDay(s, now.In(loc)); ok {
		if clock == "" {
			t, err = startOfDay(day, s, loc)
			return t, "", err
		}
		s = day.Format(time.DateOnly) + " " + clock
	}
	if m := wallTime.FindStringSubmatch(s); m != nil {
		return parseWall(s, m[1:], loc)
	}
	if t, err := time.Parse(time.RFC3339, s); err == nil {
		return t.In(loc), "", nil
	}
	if _, err := time.Parse("2006-01-02T15:04:05", s); err == nil {
		return t, fmt.Sprintf("a time with T needs a zone: %sZ, or %q for local time", s, strings.Replace(s, "T", " ", 1)), nil
	}
	return t, timeForms, nil
}

// relativeDay splits today and yesterday into the date, at 0:00 UTC, and what
// follows it.
func relativeDay(s string, now time.Time) (day time.Time, clock string, ok bool) {
	word, clock, spaced := strings.Cut(s, " ")
	back := 0
	switch {
	case spaced && len(clock) != len("15:04"):
		return day, "", false
	case word == "yesterday":
		back = 1
	case word != "today":
		return day, "", false
	}
	year, month, date := now.Date()
	return time.Date(year, month, date-back, 0, 0, 0, 0, time.UTC), clock, true
}

func parseDigits(s string, loc *time.Location) (t time.Time, reason string, err error) {
	switch len(s) {
	case 10, 13:
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil {
			return t, "", err
		}
		if len(s) == 10 {
			n *= 1000
		}
		return time.UnixMilli(n).In(loc), "", nil
	case 14:
		return parseWall(s, []string{s[:4], s[4:6], s[6:8], s[8:10], s[10:12], s[12:]}, loc)
	}
	return t, fmt.Sprintf("%d digits are no time; %s", len(s), timeForms), nil
}

// parseWall makes an instant of year, month, day and, if given, hour, minute and
// second in loc.
func parseWall(s string, part []string, loc *time.Location) (t time.Time, reason string, err error) {
	var n [6]int
	for i, text := range part {
		n[i], _ = strconv.Atoi(text) // digits only, or absent and 0
	}
	wall := time.Date(n[0], time.Month(n[1]), n[2], n[3], n[4], n[5], 0, time.UTC)
	if wall.Format("20060102150405") != fmt.Sprintf("%04d%02d%02d%02d%02d%02d", n[0], n[1], n[2], n[3], n[4], n[5]) {
		return t, "the calendar has no such date or time", nil
	}
	if part[3] == "" {
		t, err = startOfDay(wall, s, loc)
	} else {
		t, err = inZone(wall, s, loc)
	}
	return t, "", err
}

var spanPart = regexp.MustCompile(`^(\d+(?:\.\d+)?)(w|d|h|ms|m|s)`)

// parseSpan reads a positive duration: Go's units down to ms, plus d of 24 hours
// and w of 7 days.
func parseSpan(s string) (total time.Duration, ok bool) {
	for rest := s; rest != ""; {
		m := spanPart.FindStringSubmatch(rest)
		if m == nil {
			return 0, false
		}
		rest = rest[len(m[0]):]
		factor, unit := time.Duration(1), m[2]
		switch unit {
		case "d":
			factor, unit = 24, "h"
		case "w":
			factor, unit = 7*24, "h"
		}
		d, err := time.ParseDuration(m[1] + unit)
		if err != nil || d > (1<<63-1-total)/factor {
			return 0, false
		}
		total += d * factor
	}
	return total, s != ""
}
