package position

import (
	"fmt"
	"time"
)

// LocalTimeError is a local time that is not one instant: it exists twice where
// clocks were put back, and never where they were put forward.
type LocalTimeError struct {
	Text    string // as given
	Zone    string
	Doubled bool
	// Earlier and Later are the instants it may mean. For a skipped time they are
	// what the clock would have shown without, and before, the change.
	Earlier, Later time.Time

	change time.Time // when clocks were put forward
}

func (e *LocalTimeError) Error() string {
	what := "does not exist: clocks jump over it"
	if e.Doubled {
		what = "exists twice: clocks are put back"
	}
	return fmt.Sprintf("%s %s in %s; write %s or %s", e.Text, what, e.Zone,
		rfc3339(e.Earlier), rfc3339(e.Later))
}

// inZone finds the instant at which clocks in loc show wall, given in UTC.
func inZone(wall time.Time, text string, loc *time.Location) (time.Time, error) {
	var found []time.Time
	gap := &LocalTimeError{Text: text, Zone: loc.String()}
	for _, p := range periodsAround(wall, loc) {
		shown := wall.Add(-p.offset).In(loc)
		if !shown.Before(p.start) && shown.Before(p.end) {
			found = append(found, shown)
		}
		// wall lies in the gap before p if the clock of the period before would reach
		// it only after p began, and the clock of p shows it before that.
		if shown.Before(p.start) && !wall.Add(-p.before).Before(p.start) {
			gap.Earlier, gap.Later, gap.change = shown, wall.Add(-p.before).In(loc), p.start
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return time.Time{}, gap
	}
	return time.Time{}, &LocalTimeError{Text: text, Zone: loc.String(), Doubled: true, Earlier: found[0], Later: found[1]}
}

// period is a stretch of time in which a zone keeps its offset from UTC.
type period struct {
	start, end     time.Time
	offset, before time.Duration // east of UTC, here and in the period before
}

// periodsAround lists the periods that could show wall: no offset from UTC
// reaches 26 hours. The first begins and the last ends outside of that.
func periodsAround(wall time.Time, loc *time.Location) (all []period) {
	const reach = 26 * time.Hour
	last := wall.Add(reach)
	at := wall.Add(-reach).In(loc)
	before := offsetAt(at)
	for {
		_, next := at.ZoneBounds()
		p := period{start: at, end: next, offset: offsetAt(at), before: before}
		if next.IsZero() || next.After(last) {
			p.end = last
		}
		all = append(all, p)
		if p.end.Equal(last) {
			return all
		}
		at, before = next, p.offset
	}
}

func offsetAt(t time.Time) time.Duration {
	_, seconds := t.Zone()
	return time.Duration(seconds) * time.Second
}

// startOfDay is the first instant of a date, given as 0:00 UTC: later than 0:00
// where clocks jump over midnight, the earlier 0:00 where there are two. A date
// that a zone left out altogether is refused.
func startOfDay(day time.Time, text string, loc *time.Location) (time.Time, error) {
	t, err := inZone(day, text, loc)
	gap, ok := err.(*LocalTimeError)
	switch {
	case !ok:
		return t, err
	case gap.Doubled:
		return gap.Earlier, nil
	case gap.change.In(loc).Format(time.DateOnly) == day.Format(time.DateOnly):
		return gap.change.In(loc), nil
	}
	return time.Time{}, gap
}
