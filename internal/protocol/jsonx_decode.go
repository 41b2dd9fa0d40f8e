package protocol

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
)

// Decoding may take eight times the memory of the text plus a little: text that claims more, such as a million empty
// objects for a list of large structs, is refused before the memory is taken.
const (
	memoryFactor    = 8
	memoryAllowance = 64 << 10
)

// decode reads text into a new T. Fields that T does not have are skipped.
func (c bodyCodec[T]) decode(text []byte) (*T, error) {
	v := new(T)
	if err := c.decodeInto(string(text), v); err != nil {
		return nil, err
	}
	return v, nil
}

func (c bodyCodec[T]) decodeInto(text string, v *T) error {
	memory := memoryFactor*len(text) + memoryAllowance - len(text) - int(c.typ.rt.Size())
	d := bodyReader{jsonScanner: newScanner(text), memory: &memory}
	d.reset(reflect.ValueOf(v).Elem(), c.typ)
	err := d.value(reflect.ValueOf(v).Elem(), c.typ, 0)
	if err == nil {
		err = d.finish()
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrBadBody, c.name, err)
	}
	return nil
}

// bodyReader fills Go values from a body. Strings without escapes are slices of the text.
type bodyReader struct {
	jsonScanner
	memory *int // what may still be taken, in bytes
}

func (d *bodyReader) take(n int) error {
	if *d.memory -= n; *d.memory < 0 {
		return fmt.Errorf("needs more than %d times its size in memory", memoryFactor)
	}
	return nil
}

func (d *bodyReader) reset(v reflect.Value, t *jsonType) {
	v.SetZero()
	if t.defaults {
		v.Addr().Interface().(defaulter).setDefaults()
	}
}

// value reads one value into v. null leaves v as it is.
func (d *bodyReader) value(v reflect.Value, t *jsonType, depth int) error {
	b := d.peek()
	if t.kind == jsonRaw {
		start := d.i
		err := d.skip(depth)
		v.SetString(d.s[start:d.i])
		return err
	}
	switch {
	case b != '{' && b != '[':
		return d.scalar(v, t)
	case b == '{' && t.kind == jsonStruct:
		return d.object(v, t, depth)
	case t.kind == jsonMap && (b == '{' || t.rt == reflect.TypeFor[map[MessageQueue]int64]()):
		return d.mapping(v, t, depth)
	case b == '[' && t.kind == jsonSlice:
		return d.list(v, t, depth)
	case b == '{' && t.kind == jsonPairs:
		return d.pairs(v, t, depth)
	}
	return fmt.Errorf("unexpected %c at byte %d", b, d.i)
}

func (d *bodyReader) object(v reflect.Value, t *jsonType, depth int) error {
	closing, err := d.open(depth)
	if err != nil {
		return err
	}
	next := 0
	return d.items(closing, func() error {
		if d.peek() != '"' {
			if err := d.skipKey(); err != nil {
				return err
			}
			return d.skip(depth + 1)
		}
		name, err := d.text()
		if err != nil {
			return err
		}
		if err := d.expect(':'); err != nil {
			return err
		}
		f := t.field(name, &next)
		if f == nil {
			return d.skip(depth + 1)
		}
		if err := d.value(v.Field(f.index), f.typ, depth+1); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		return nil
	})
}

// field finds a field by name. Writers keep the order of names, so the search starts where the last one ended.
func (t *jsonType) field(name string, next *int) *jsonField {
	for i := range t.fields {
		f := &t.fields[(*next+i)%len(t.fields)]
		if f.name == name {
			*next += i + 1
			return f
		}
	}
	return nil
}

// text reads a string; only one with escapes takes memory.
func (d *bodyReader) text() (string, error) {
	start := d.i
	s, err := d.string()
	if err == nil && d.i-start != len(s)+2 {
		err = d.take(2*(d.i-start) + 64)
	}
	return s, err
}

// count is how many items stand before the closing bracket.
func (d *bodyReader) count(closing byte, depth int) (n int, err error) {
	start := d.i
	err = d.items(closing, func() error {
		n++
		if closing == '}' {
			if err := d.skipKey(); err != nil {
				return err
			}
		}
		return d.skip(depth + 1)
	})
	d.i = start
	return n, err
}

func (d *bodyReader) list(v reflect.Value, t *jsonType, depth int) error {
	closing, err := d.open(depth)
	if err != nil {
		return err
	}
	if err := d.makeSlice(v, t, closing, depth); err != nil {
		return err
	}
	i := 0
	return d.items(closing, func() error {
		elem := v.Index(i)
		i++
		if t.elem.defaults {
			d.reset(elem, t.elem)
		}
		return d.value(elem, t.elem, depth+1)
	})
}

// makeSlice gives v one element for each item up to the closing bracket.
func (d *bodyReader) makeSlice(v reflect.Value, t *jsonType, closing byte, depth int) error {
	n, err := d.count(closing, depth)
	if err != nil {
		return err
	}
	if err := d.take(n * int(t.elem.rt.Size()) * 9 / 8); err != nil { // size classes add up to an eighth
		return err
	}
	if v.Set(t.empty); n > 0 {
		v.Grow(n) // unlike reflect.MakeSlice it takes no memory for a header
		v.SetLen(n)
	}
	return nil
}

// pairs reads an object with integer keys as a list: a map for each of thousands of small objects would take too much.
func (d *bodyReader) pairs(v reflect.Value, t *jsonType, depth int) error {
	closing, err := d.open(depth)
	if err != nil {
		return err
	}
	if err := d.makeSlice(v, t, closing, depth); err != nil {
		return err
	}
	i := 0
	return d.items(closing, func() error {
		pair := v.Index(i)
		i++
		key, value := &t.elem.fields[0], &t.elem.fields[1]
		if err := d.key(pair.Field(key.index), key.typ, depth+1); err != nil {
			return err
		}
		if err := d.expect(':'); err != nil {
			return err
		}
		return d.value(pair.Field(value.index), value.typ, depth+1)
	})
}

func (d *bodyReader) mapping(v reflect.Value, t *jsonType, depth int) error {
	closing, err := d.open(depth)
	if err != nil {
		return err
	}
	n, err := d.count(closing, depth)
	if err != nil {
		return err
	}
	if err := d.take(mapSize(n, int(t.key.rt.Size()), int(t.elem.rt.Size()))); err != nil {
		return err
	}
	m := reflect.MakeMapWithSize(t.rt, n)
	v.Set(m)
	if closing == ']' {
		return d.queueEntries(m.Interface().(map[MessageQueue]int64), depth)
	}
	key, elem := reflect.New(t.key.rt).Elem(), reflect.New(t.elem.rt).Elem()
	return d.items(closing, func() error {
		if err := d.key(key, t.key, depth+1); err != nil {
			return err
		}
		if err := d.expect(':'); err != nil {
			return err
		}
		d.reset(elem, t.elem)
		if err := d.value(elem, t.elem, depth+1); err != nil {
			return err
		}
		m.SetMapIndex(key, elem)
		return nil
	})
}

// queueEntry is an entry of a map of offsets in its list form.
type queueEntry struct {
	BrokerName string `json:"brokerName"`
	Offset     int64  `json:"offset"`
	QueueID    int32  `json:"queueId"`
	Topic      string `json:"topic"`
}

var queueEntryType = jsonTypeOf(reflect.TypeFor[queueEntry]())

// queueEntries reads the list form of a map of offsets, which brokers write for C++.
func (d *bodyReader) queueEntries(m map[MessageQueue]int64, depth int) error {
	var e queueEntry
	v := reflect.ValueOf(&e).Elem()
	return d.items(']', func() error {
		e = queueEntry{}
		if err := d.value(v, queueEntryType, depth+1); err != nil {
			return err
		}
		m[MessageQueue{Topic: e.Topic, BrokerName: e.BrokerName, QueueID: e.QueueID}] = e.Offset
		return nil
	})
}

// mapSize is what a Go map of n entries takes, in bytes: a power of two of slots, 8 or more and at most 7/8 full.
func mapSize(n, key, elem int) int {
	const header, tableHeader, maxSlot = 48, 64, 128
	slots := max(8, 1<<bits.Len(uint(n*8/7)))
	indirect := 0
	if elem > maxSlot {
		indirect, elem = n*elem*9/8, 8
	}
	return header + slots*(key+elem+1)*5/4 + (slots/1024+1)*tableHeader + indirect // size classes add up to a quarter
}

// key reads a map's key in any form that a writer may have chosen: a string, a bare number, an object, or an object
// quoted as a string.
func (d *bodyReader) key(v reflect.Value, t *jsonType, depth int) error {
	start := d.i
	switch b := d.peek(); {
	case b == '{' && t.kind == jsonString:
		_, err := d.keyObject()
		v.SetString(d.s[start:d.i])
		return err
	case b == '{' && t.kind == jsonStruct:
		v.SetZero()
		return d.value(v, t, depth)
	case b == '"' && t.kind == jsonStruct:
		quoted, err := d.text()
		if err != nil {
			return err
		}
		inner := bodyReader{jsonScanner: newScanner(quoted), memory: d.memory}
		v.SetZero()
		if inner.peek() != '{' {
			return fmt.Errorf("key %q at byte %d is no object", quoted, start)
		}
		return inner.value(v, t, depth)
	case b == '"' || b == '-' || b >= '0' && b <= '9':
		return d.scalar(v, t)
	}
	return fmt.Errorf("unexpected key at byte %d", d.i)
}

// scalar reads a string, number or literal into v, converting between them as fastjson does.
func (d *bodyReader) scalar(v reflect.Value, t *jsonType) error {
	start := d.i
	var text string
	var kind scalarKind
	var err error
	if d.at('"') {
		text, err = d.text()
	} else {
		text, kind, err = d.rawScalar()
	}
	if err != nil || kind == scalarNull {
		return err
	}
	ok := false
	switch t.kind {
	case jsonString:
		v.SetString(text)
		ok = true
	case jsonBool:
		ok = setBool(v, text)
	case jsonInt:
		ok = kind != scalarBool && setInt(v, text)
	case jsonFloat:
		ok = kind != scalarBool && setFloat(v, text)
	}
	if !ok {
		return fmt.Errorf("%.40q at byte %d does not fit", text, start)
	}
	return nil
}

func setBool(v reflect.Value, text string) bool {
	switch {
	case text == "1" || strings.EqualFold(text, "true"):
		v.SetBool(true)
	case text == "" || text == "0" || strings.EqualFold(text, "false"):
		v.SetBool(false)
	default:
		return false
	}
	return true
}

// setInt keeps every digit of an integer; a number with a point or exponent must be a whole one.
func setInt(v reflect.Value, text string) bool {
	if text == "" { // fastjson reads an empty string as null
		return true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		f, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return false
		}
		n = int64(f)
	}
	if v.OverflowInt(n) {
		return false
	}
	v.SetInt(n)
	return true
}

func setFloat(v reflect.Value, text string) bool {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return text == ""
	}
	if !math.IsNaN(f) && !math.IsInf(f, 0) {
		v.SetFloat(f)
	}
	return true
}
