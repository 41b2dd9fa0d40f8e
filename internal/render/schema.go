package render

import (
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is one field of a struct, with those of embedded structs in their place.
type field struct {
	Column
	index     []int
	name      string // in data
	hidden    bool   // json:"-": not in data
	omitEmpty bool
	hasColumn bool
	unit      string
	none      string
	typ       reflect.Type
}

// fieldsOf reads the tags of a struct type.
func fieldsOf(t reflect.Type) []field {
	var all []field
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, tagged := sf.Tag.Lookup("json")
		name, opts, _ := strings.Cut(tag, ",")
		if inner := plainType(sf.Type); sf.Anonymous && name == "" && inner.Kind() == reflect.Struct && !isLeaf(inner) {
			for _, f := range fieldsOf(inner) {
				f.index = append([]int{i}, f.index...)
				all = append(all, f)
			}
			continue
		}
		if !sf.IsExported() {
			continue
		}
		f := field{index: []int{i}, name: name, typ: sf.Type, unit: sf.Tag.Get("unit"), none: sf.Tag.Get("none")}
		f.hidden = tagged && tag == "-"
		f.omitEmpty = strings.Contains(opts, "omitempty") || strings.Contains(opts, "omitzero")
		if name == "" {
			f.name = sf.Name
		}
		f.readColumn(sf)
		all = append(all, f)
	}
	return all
}

// readColumn reads the col tag: a title and options.
func (f *field) readColumn(sf reflect.StructField) {
	tag, ok := sf.Tag.Lookup("col")
	if !ok || tag == "-" {
		return
	}
	f.hasColumn = true
	f.Name = f.name
	f.Right = f.isNumber()
	f.Wide = sf.Tag.Get("wide") == "true"
	parts := strings.Split(tag, ",")
	f.Title = parts[0]
	for _, option := range parts[1:] {
		switch key, value, _ := strings.Cut(option, "="); key {
		case "wide":
			f.Wide = true
		case "right":
			f.Right = true
		case "left":
			f.Right = false
		case "state":
			f.State = true
		case "drop":
			f.Drop, _ = strconv.Atoi(value) // 0, never dropped, if it is no number
		}
	}
}

// isNumber reports whether the field reads as a number, so that its digits line up.
func (f *field) isNumber() bool {
	t := plainType(f.typ)
	if t == timeType || f.unit == "time" || f.unit == "" && isWord(t) {
		return false
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
		reflect.Float32, reflect.Float64:
		return true
	}
	return false
}

var (
	timeType     = reflect.TypeFor[time.Time]()
	durationType = reflect.TypeFor[time.Duration]()
)

// plainType is t without pointers.
func plainType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// get returns the field's value in a struct; invalid if an embedded pointer is nil.
func (f *field) get(row reflect.Value) reflect.Value {
	v, err := row.FieldByIndexErr(f.index)
	if err != nil {
		return reflect.Value{}
	}
	return v
}

// rowsOf makes rows out of a slice of structs, or of one struct. The element type is
// nil if it cannot be known.
func rowsOf(v any) (elem reflect.Type, rows []reflect.Value, ok bool) {
	all := plain(reflect.ValueOf(v))
	if !all.IsValid() {
		return nil, nil, false
	}
	if all.Kind() != reflect.Slice && all.Kind() != reflect.Array {
		return all.Type(), []reflect.Value{all}, all.Kind() == reflect.Struct && !isLeaf(all.Type())
	}
	elem = plainType(all.Type().Elem())
	for i := range all.Len() {
		row := plain(all.Index(i))
		if !row.IsValid() {
			continue // a nil pointer is no row
		}
		if elem.Kind() == reflect.Interface {
			elem = row.Type()
		}
		if row.Type() != elem {
			return elem, nil, false
		}
		rows = append(rows, row)
	}
	empty := elem.Kind() == reflect.Interface && len(rows) == 0
	return elem, rows, empty || elem.Kind() == reflect.Struct && !isLeaf(elem)
}

// plain follows pointers and interfaces; the result is invalid if one is nil.
func plain(v reflect.Value) reflect.Value {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	return v
}
