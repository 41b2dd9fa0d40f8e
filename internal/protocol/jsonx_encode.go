package protocol

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// encode writes v as Java expects it: fields by name, nil lists and maps as empty ones, maps in the order of their keys,
// a map keyed by MessageQueue with the objects as keys.
func (c bodyCodec[T]) encode(v *T) []byte {
	w := bodyWriter{bareKeys: c.bareKeys}
	w.value(reflect.ValueOf(v).Elem(), c.typ)
	return w.dst
}

type bodyWriter struct {
	dst      []byte
	bareKeys bool
}

func (w *bodyWriter) value(v reflect.Value, t *jsonType) {
	switch t.kind {
	case jsonString:
		w.dst = appendJSONString(w.dst, v.String())
	case jsonRaw:
		w.dst = append(w.dst, cmp.Or(v.String(), "null")...)
	case jsonBool:
		w.dst = strconv.AppendBool(w.dst, v.Bool())
	case jsonInt:
		w.dst = strconv.AppendInt(w.dst, v.Int(), 10)
	case jsonFloat:
		w.float(v.Float())
	case jsonStruct:
		w.object(v, t)
	case jsonSlice:
		w.dst = append(w.dst, '[')
		for i := range v.Len() {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			w.value(v.Index(i), t.elem)
		}
		w.dst = append(w.dst, ']')
	case jsonMap:
		w.mapping(v, t)
	case jsonPairs:
		w.pairs(v.Interface().(QueueOffsets))
	}
}

// pairs writes bare keys always: only brokers write such bodies.
func (w *bodyWriter) pairs(offsets QueueOffsets) {
	w.dst = append(w.dst, '{')
	for i, o := range offsets {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		w.dst = strconv.AppendInt(w.dst, int64(o.QueueID), 10)
		w.dst = append(w.dst, ':')
		w.dst = strconv.AppendInt(w.dst, o.Offset, 10)
	}
	w.dst = append(w.dst, '}')
}

// float keeps the point of a whole number, as Java does.
func (w *bodyWriter) float(f float64) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		w.dst = append(w.dst, "null"...)
		return
	}
	start := len(w.dst)
	w.dst = strconv.AppendFloat(w.dst, f, 'g', -1, 64)
	if !strings.ContainsAny(string(w.dst[start:]), ".e") {
		w.dst = append(w.dst, '.', '0')
	}
}

func (w *bodyWriter) object(v reflect.Value, t *jsonType) {
	w.dst = append(w.dst, '{')
	first := true
	for i := range t.fields {
		f := &t.fields[i]
		field := v.Field(f.index)
		if f.omitEmpty && field.IsZero() {
			continue
		}
		if !first {
			w.dst = append(w.dst, ',')
		}
		first = false
		w.dst = appendJSONString(w.dst, f.name)
		w.dst = append(w.dst, ':')
		w.value(field, f.typ)
	}
	w.dst = append(w.dst, '}')
}

func (w *bodyWriter) mapping(v reflect.Value, t *jsonType) {
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return compareKeys(a, b, t.key.kind) })
	w.dst = append(w.dst, '{')
	for i, key := range keys {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		if quote := t.key.kind == jsonInt && !w.bareKeys; quote {
			w.dst = append(w.dst, '"')
			w.value(key, t.key)
			w.dst = append(w.dst, '"')
		} else {
			w.value(key, t.key)
		}
		w.dst = append(w.dst, ':')
		w.value(v.MapIndex(key), t.elem)
	}
	w.dst = append(w.dst, '}')
}

func compareKeys(a, b reflect.Value, kind jsonKind) int {
	switch kind {
	case jsonInt:
		return cmp.Compare(a.Int(), b.Int())
	case jsonStruct:
		return CompareMessageQueues(a.Interface().(MessageQueue), b.Interface().(MessageQueue))
	}
	return strings.Compare(a.String(), b.String())
}
