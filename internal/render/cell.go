package render

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"mqctl/internal/safetext"
)

// unknown is what tables show for a value that is not known.
const unknown = "?"

// cell is the text of a field in a table, safe to show.
func (o Options) cell(v reflect.Value, f *field) string {
	v = plain(v)
	if !v.IsValid() {
		return f.orNone(unknown)
	}
	text := o.cellText(v, f)
	if text == "" {
		return f.orNone("")
	}
	return safetext.Display(text)
}

func (f *field) orNone(otherwise string) string {
	if f.none == "" {
		return otherwise
	}
	return f.none
}

func (o Options) cellText(v reflect.Value, f *field) string {
	data := new(converter).dataOf(v, f.name, f.unit)
	if at, ok := instant(v, f.unit); ok {
		return o.time(at)
	}
	if data == nil {
		return unknown
	}
	if text, ok := o.humanNumber(v, f); ok {
		return text
	}
	switch data := data.(type) {
	case list:
		return joined(data)
	case object:
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
		return pairs(data)
	}
	return scalarText(data)
}

// instant is the time in v, if it is one.
func instant(v reflect.Value, unit string) (time.Time, bool) {
	if v.Type() == timeType {
		return v.Interface().(time.Time), true
	}
	if unit != "time" || !v.CanInt() {
		return time.Time{}, false
	}
	if v.Int() <= 0 {
		return time.Time{}, true
	}
	return time.UnixMilli(v.Int()), true
}

// time writes a local time: to the second for eyes, exact and with its zone else.
func (o Options) time(at time.Time) string {
	switch {
	case at.IsZero():
		return unknown
	case o.Human:
		return at.In(o.location()).Format(time.DateTime)
	}
	return at.In(o.location()).Format("2006-01-02T15:04:05.000-07:00")
}

// humanNumber is a number by its unit, on a terminal.
func (o Options) humanNumber(v reflect.Value, f *field) (string, bool) {
	if !o.Human {
		return "", false
	}
	if v.Type() == durationType {
		return Duration(time.Duration(v.Int())), true
	}
	switch {
	case v.CanInt() && f.unit != "" && !isWord(v.Type()):
		return integer(v.Int(), f), true
	case v.CanUint() && f.unit != "" && !isWord(v.Type()):
		return integer(int64(v.Uint()), f), true
	case v.CanFloat() && f.unit == "duration":
		return Duration(time.Duration(v.Float() * float64(durationUnit(f.name, time.Second)))), true
	case v.CanFloat() && f.unit == "rate":
		return PerSecond(v.Float()), true
	}
	return "", false
}

func integer(n int64, f *field) string {
	switch f.unit {
	case "bytes":
		return Bytes(n)
	case "duration":
		return Duration(time.Duration(n) * durationUnit(f.name, time.Millisecond))
	}
	return Count(n)
}

// joined is a list in one cell.
func joined(all list) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = scalarText(v)
	}
	return strings.Join(texts, ",")
}

// pairs is a map in one cell.
func pairs(all object) string {
	texts := make([]string, len(all))
	for i, m := range all {
		texts[i] = m.name + "=" + scalarText(m.value)
	}
	return strings.Join(texts, ",")
}
