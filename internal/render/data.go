package render

import (
	"bytes"
	"encoding"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Data is a tree of these, of nil, bool, int64, uint64, float64 and string:
type (
	object []member // in the order of the struct's fields
	list   []any
	member struct {
		name  string
		value any
	}
)

// rfc3339Milli is how times look in data, in UTC.
const rfc3339Milli = "2006-01-02T15:04:05.000Z07:00"

// converter makes data of values. It keeps what it has read of types, since lists
// hold thousands of one.
type converter struct{ fields map[reflect.Type][]field }

func (c *converter) fieldsOf(t reflect.Type) []field {
	fields, ok := c.fields[t]
	if !ok {
		if c.fields == nil {
			c.fields = map[reflect.Type][]field{}
		}
		fields = fieldsOf(t)
		c.fields[t] = fields
	}
	return fields
}

func toData(v any) any {
	switch v := v.(type) {
	case Grid:
		return v.data()
	case fieldList:
		return toData(v.value)
	}
	return new(converter).dataOf(reflect.ValueOf(v), "", "")
}

// dataOf converts a value. name and unit are those of the field that holds it.
func (c *converter) dataOf(v reflect.Value, name, unit string) any {
	v = plain(v)
	if !v.IsValid() {
		return nil
	}
	if d, ok := marshalled(v); ok {
		return d
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool()
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return intData(v, name, unit)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if isWord(v.Type()) {
			return word(v)
		}
		return v.Uint()
	case reflect.Float32, reflect.Float64:
		return floatData(v.Float(), unit)
	case reflect.String:
		return v.String()
	case reflect.Slice, reflect.Array:
		return c.listData(v, name, unit)
	case reflect.Map:
		return c.mapData(v)
	case reflect.Struct:
		return c.structData(v)
	}
	return fmt.Sprint(v) // a func or channel: there is no better answer
}

func intData(v reflect.Value, name, unit string) any {
	switch {
	case unit == "time":
		if v.Int() <= 0 {
			return nil
		}
		return time.UnixMilli(v.Int()).UTC().Format(rfc3339Milli)
	case v.Type() == durationType:
		return durationData(time.Duration(v.Int()), name)
	case isWord(v.Type()):
		return word(v)
	}
	return v.Int()
}

// durationUnit is the unit that the ending of a name stands for.
func durationUnit(name string, otherwise time.Duration) time.Duration {
	switch name[strings.LastIndexByte(name, '_')+1:] {
	case "ns":
		return time.Nanosecond
	case "us":
		return time.Microsecond
	case "ms":
		return time.Millisecond
	case "s", "seconds":
		return time.Second
	}
	return otherwise
}

func durationData(d time.Duration, name string) any {
	unit := durationUnit(name, time.Nanosecond)
	if unit == time.Second {
		return d.Seconds()
	}
	return int64(d / unit)
}

// floatData has null for what JSON cannot say, and thousandths of a rate: more
// digits come from the division, not from the measurement.
func floatData(f float64, unit string) any {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	if unit == "rate" && math.Abs(f) < 1e12 {
		return math.Round(f*1000) / 1000
	}
	return f
}

func (c *converter) listData(v reflect.Value, name, unit string) any {
	if v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8 {
		return base64.StdEncoding.EncodeToString(v.Bytes())
	}
	all := list{}
	for i := range v.Len() {
		all = append(all, c.dataOf(v.Index(i), name, unit))
	}
	return all
}

func (c *converter) mapData(v reflect.Value) any {
	all := object{}
	for _, key := range v.MapKeys() {
		all = append(all, member{scalarText(c.dataOf(key, "", "")), c.dataOf(v.MapIndex(key), "", "")})
	}
	slices.SortFunc(all, func(a, b member) int { return strings.Compare(a.name, b.name) })
	return all
}

func (c *converter) structData(v reflect.Value) any {
	all := object{}
	for _, f := range c.fieldsOf(v.Type()) {
		value := f.get(v)
		if f.hidden || f.omitEmpty && (!value.IsValid() || value.IsZero() || isEmpty(value)) {
			continue
		}
		all = append(all, member{f.name, c.dataOf(value, f.name, f.unit)})
	}
	return all
}

func isEmpty(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}

// marshalled is the data of a value that has a form of its own.
func marshalled(v reflect.Value) (any, bool) {
	if v.Type() == timeType {
		at := v.Interface().(time.Time)
		if at.IsZero() {
			return nil, true
		}
		return at.UTC().Format(rfc3339Milli), true
	}
	if !isLeaf(v.Type()) || !v.CanInterface() {
		return nil, false
	}
	switch m := v.Interface().(type) {
	case json.Marshaler:
		text, err := m.MarshalJSON()
		if err != nil {
			return nil, true
		}
		return decode(text), true
	case encoding.TextMarshaler:
		text, err := m.MarshalText()
		if err != nil {
			return nil, true
		}
		return string(text), true
	}
	return nil, false
}

// decode turns JSON into data and keeps the order of its members. What is not JSON
// becomes a string.
func decode(text []byte) any {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decodeValue(d)
	if err != nil {
		return string(text)
	}
	return v
}

func decodeValue(d *json.Decoder) (any, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Number:
		return number(token), nil
	case json.Delim:
		if token == '{' {
			return decodeObject(d)
		}
		return decodeList(d)
	}
	return token, nil
}

func decodeObject(d *json.Decoder) (any, error) {
	all := object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, err
		}
		value, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		all = append(all, member{name.(string), value})
	}
	_, err := d.Token() // the closing brace
	return all, err
}

func decodeList(d *json.Decoder) (any, error) {
	all := list{}
	for d.More() {
		value, err := decodeValue(d)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	_, err := d.Token() // the closing bracket
	return all, err
}

func number(n json.Number) any {
	if i, err := strconv.ParseInt(n.String(), 10, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(n.String(), 10, 64); err == nil {
		return u
	}
	f, err := n.Float64()
	if err != nil {
		return n.String()
	}
	return f
}

// isLeaf reports whether values of t have a form of their own, rather than parts.
func isLeaf(t reflect.Type) bool {
	return t == timeType || t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// isWord reports whether t is a number that has a name for each value.
func isWord(t reflect.Type) bool {
	return t != durationType && t.Implements(reflect.TypeFor[fmt.Stringer]())
}

func word(v reflect.Value) any {
	if !v.CanInterface() {
		return nil
	}
	return v.Interface().(fmt.Stringer).String()
}
