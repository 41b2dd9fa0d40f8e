package protocol

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// jsonKind is how a Go type is read and written.
type jsonKind uint8

const (
	jsonString jsonKind = iota
	jsonBool
	jsonInt
	jsonFloat
	jsonStruct
	jsonSlice
	jsonMap
	jsonPairs // QueueOffsets
	jsonRaw
)

// RawJSON is the source text of a value that is passed on as it came, or whose form is known only later.
type RawJSON string

// defaulter is a body type whose absent fields have Java's defaults instead of zeros.
type defaulter interface {
	setDefaults()
}

// jsonType is what reader and writer know of a Go type. Body types are not recursive.
type jsonType struct {
	kind     jsonKind
	rt       reflect.Type
	key      *jsonType // of a map: string, int or MessageQueue
	elem     *jsonType // of a map or slice
	fields   []jsonField
	empty    reflect.Value // of a slice: one without elements
	defaults bool
}

// jsonField is one field of a struct; fields are sorted by name, the order in which fastjson writes them.
type jsonField struct {
	name      string
	index     int
	typ       *jsonType
	omitEmpty bool
}

// bodyCodec is the codec of one body type: a read-only table, made once from the type's json tags.
type bodyCodec[T any] struct {
	name     string
	typ      *jsonType
	bareKeys bool // integer keys are written without quotes, as Java servers do
}

func newBody[T any](name string) bodyCodec[T] {
	return bodyCodec[T]{name: name, typ: jsonTypeOf(reflect.TypeFor[T]())}
}

// withBareKeys is for bodies that only servers write, so that the sandbox's look like theirs.
func (b bodyCodec[T]) withBareKeys() bodyCodec[T] {
	b.bareKeys = true
	return b
}

func jsonTypeOf(rt reflect.Type) *jsonType {
	t := &jsonType{rt: rt, defaults: reflect.PointerTo(rt).Implements(reflect.TypeFor[defaulter]())}
	switch rt.Kind() {
	case reflect.String:
		t.kind = jsonString
		if rt == reflect.TypeFor[RawJSON]() {
			t.kind = jsonRaw
		}
	case reflect.Bool:
		t.kind = jsonBool
	case reflect.Int32, reflect.Int64:
		t.kind = jsonInt
	case reflect.Float64:
		t.kind = jsonFloat
	case reflect.Slice:
		t.kind, t.elem, t.empty = jsonSlice, jsonTypeOf(rt.Elem()), reflect.MakeSlice(rt, 0, 0)
		if rt == reflect.TypeFor[QueueOffsets]() {
			t.kind = jsonPairs
		}
	case reflect.Map:
		t.kind, t.key, t.elem = jsonMap, jsonTypeOf(rt.Key()), jsonTypeOf(rt.Elem())
	case reflect.Struct:
		t.kind, t.fields = jsonStruct, jsonFieldsOf(rt)
	default:
		panic(fmt.Sprintf("protocol: body type %s has kind %s", rt, rt.Kind()))
	}
	return t
}

func jsonFieldsOf(rt reflect.Type) []jsonField {
	var fields []jsonField
	for i := range rt.NumField() {
		sf := rt.Field(i)
		tag, ok := sf.Tag.Lookup("json")
		if !ok || tag == "-" {
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		fields = append(fields, jsonField{name: name, index: i, typ: jsonTypeOf(sf.Type), omitEmpty: opts == "omitempty"})
	}
	slices.SortFunc(fields, func(a, b jsonField) int { return strings.Compare(a.name, b.name) })
	return fields
}
