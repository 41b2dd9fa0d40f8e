// Package render prints values in the formats of the command line: a table without
// borders for eyes, and json, jsonl, yaml and csv for programs. It knows no concrete
// type: structs say by their tags how they look.
//
//	json:"max_offset"     the name in data, the same in every format
//	col:"MAX"             the title of the column in tables; without it, no column
//	col:"MAX,wide"        a column of -o wide only (also wide:"true")
//	col:"MAX,drop=2"      may be left out on a narrow terminal; the highest goes first
//	col:"NOTE,right"      aligned right (numbers are by themselves; left undoes it)
//	col:"VERDICT,state"   coloured by its word, where there is colour
//	unit:"count"          how a number reads: count, bytes, duration, time, rate
//	none:"nobody"         what a table shows for nil or an empty string
//
// nil is unknown: ? in tables, null in JSON and YAML, empty in CSV. A time.Time that
// is zero, an integer time that is not positive and a float that is not a number are
// unknown too. All text passes safetext: no output holds a control character.
//
// Durations in data are numbers whose unit is the ending of the name: _ns, _us, _ms,
// or _s and _seconds; without one, a time.Duration is in nanoseconds, as
// encoding/json writes it, and an integer in milliseconds, as RocketMQ has it.
// Integers with unit "time" are milliseconds since 1970 and become RFC 3339. A type
// that has MarshalJSON or MarshalText by value is printed as that, a number that has
// String as its word.
package render

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
)

// Format is an output format, the value of -o.
type Format string

// The formats. Stream formats print one line a row, the others one document.
const (
	FormatTable Format = "table"
	FormatWide  Format = "wide"
	FormatJSON  Format = "json"
	FormatJSONL Format = "jsonl"
	FormatYAML  Format = "yaml"
	FormatCSV   Format = "csv"
)

// Formats lists all formats in the order of the help text.
func Formats() []Format {
	return []Format{FormatTable, FormatWide, FormatJSON, FormatJSONL, FormatYAML, FormatCSV}
}

// ParseFormat reads the value of -o. Its error, a usage error, lists the formats.
func ParseFormat(s string) (Format, error) {
	var names []string
	for _, f := range Formats() {
		if s == string(f) {
			return f, nil
		}
		names = append(names, string(f))
	}
	return "", fmt.Errorf("unknown output format %q: want %s", s, strings.Join(names, ", "))
}

// IsTable reports whether the format is for eyes: table or wide.
func (f Format) IsTable() bool { return f == FormatTable || f == FormatWide }

// Options is how tables look; data formats ignore it.
type Options struct {
	// Human is for a terminal: 52,984 rather than 52984, 38m12s, 6 MiB, and cells cut
	// to Width. Otherwise numbers are those of the data formats.
	Human bool
	// Width is the terminal's width in cells; 0 is unlimited. Only table, and only
	// with Human, is cut: wide shows everything.
	Width int
	// Color allows colours.
	Color bool
	// Indent is the number of spaces in front of each line.
	Indent int
	// Location is the zone of times; nil is the local one.
	Location *time.Location
	// NoHeader leaves out the titles.
	NoHeader bool
}

func (o Options) location() *time.Location {
	if o.Location == nil {
		return time.Local
	}
	return o.Location
}

// Write prints v, which is a struct, a slice of structs (or of pointers to them), a
// Document or a Grid. A struct is a table of one row. Output is made in memory and
// written in one piece; the error is w's, or says that v has no such form.
func Write(w io.Writer, f Format, v any, o Options) error {
	var out bytes.Buffer
	if err := write(&out, f, asDocument(v), o); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

func write(out *bytes.Buffer, f Format, d Document, o Options) error {
	switch f {
	case FormatTable, FormatWide:
		return d.writeTable(out, f == FormatWide, o)
	case FormatJSON:
		out.Write(appendJSON(nil, toData(d.Data), "\n"))
		return out.WriteByte('\n')
	case FormatJSONL:
		return writeLines(out, d.Rows)
	case FormatYAML:
		out.Write(appendYAML(nil, toData(d.Data), 0))
		return nil
	case FormatCSV:
		return writeCSV(out, d.Rows, o)
	}
	return fmt.Errorf("unknown output format %q", f)
}
