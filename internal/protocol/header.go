package protocol

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// ExtField is one ext field of a header; every value travels as text.
type ExtField struct {
	Key, Value string
}

// ExtFields is the ext fields of a header in wire order. Headers have about a dozen fields, so a scan beats a map.
type ExtFields []ExtField

// Get is the value of key, and whether the field is there. The last of several wins, as in a Java map.
func (e ExtFields) Get(key string) (string, bool) {
	for i := len(e) - 1; i >= 0; i-- {
		if e[i].Key == key {
			return e[i].Value, true
		}
	}
	return "", false
}

// Add appends a field.
func (e *ExtFields) Add(key, value string) { *e = append(*e, ExtField{key, value}) }

// maxExtFields bounds the fields of a header: real ones have about twenty, and each takes 32 bytes for six on the wire.
const maxExtFields = 1024

// addReceived appends a field that a peer sent.
func (e *ExtFields) addReceived(f ExtField) error {
	if len(*e) == maxExtFields {
		return fmt.Errorf("more than %d ext fields", maxExtFields)
	}
	*e = append(*e, f)
	return nil
}

// ErrMissingField is wrapped by DecodeHeader when a required field is absent.
var ErrMissingField = errors.New("missing ext field")

// headerField is one field of a typed header struct.
//
// The tag is `ext:"wireName[,omitempty][,required]"`: omitempty leaves a zero value out, required makes decoding fail
// without the field. Pointers are optional values whose zero has a meaning: nil is absent.
type headerField struct {
	name      string
	index     int
	kind      reflect.Kind
	pointer   bool
	omitEmpty bool
	required  bool
}

// headerPlans caches one plan per header struct type: reading tags for each message would dwarf the encoding.
var headerPlans sync.Map // reflect.Type → []headerField

func planOf(t reflect.Type) []headerField {
	if p, ok := headerPlans.Load(t); ok {
		return p.([]headerField)
	}
	plan := []headerField{}
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("ext")
		if !ok {
			continue
		}
		name, opts, _ := strings.Cut(tag, ",")
		f := headerField{
			name: name, index: i, kind: sf.Type.Kind(),
			omitEmpty: strings.Contains(opts, "omitempty"), required: strings.Contains(opts, "required"),
		}
		if f.kind == reflect.Pointer {
			f.pointer, f.kind = true, sf.Type.Elem().Kind()
		}
		switch f.kind {
		case reflect.String, reflect.Bool, reflect.Int32, reflect.Int64:
		default:
			panic(fmt.Sprintf("protocol: header field %s.%s has kind %s", t, sf.Name, f.kind))
		}
		plan = append(plan, f)
	}
	headerPlans.Store(t, plan)
	return plan
}

// extEncoder writes single ext fields in one of the two encodings. open writes the key and whatever precedes the value,
// closing is called after the value was appended at from.
type extEncoder struct {
	open  func(dst []byte, key string) []byte
	close func(dst []byte, from int) []byte
	text  func(dst []byte, s string) []byte
}

var jsonExt = extEncoder{
	open: func(dst []byte, key string) []byte {
		dst = append(dst, '"')
		dst = append(dst, key...)
		return append(dst, '"', ':', '"')
	},
	close: func(dst []byte, _ int) []byte { return append(dst, '"', ',') },
	text: func(dst []byte, s string) []byte {
		from := len(dst) - 1 // appendJSONString writes the opening quote that open has written too
		dst = appendJSONString(dst[:from], s)
		return dst[:len(dst)-1]
	},
}

var binaryExt = extEncoder{
	open: func(dst []byte, key string) []byte {
		dst = binary.BigEndian.AppendUint16(dst, uint16(len(key)))
		dst = append(dst, key...)
		return append(dst, 0, 0, 0, 0)
	},
	close: func(dst []byte, from int) []byte {
		binary.BigEndian.PutUint32(dst[from-4:], uint32(len(dst)-from))
		return dst
	},
	text: func(dst []byte, s string) []byte { return append(dst, s...) },
}

// appendExt writes c.Header's fields and then c.Ext.
func appendExt(dst []byte, c *Command, enc *extEncoder) ([]byte, error) {
	if c.Header != nil {
		v := reflect.ValueOf(c.Header)
		if v.Kind() == reflect.Pointer {
			v = v.Elem()
		}
		if v.Kind() != reflect.Struct {
			return dst, fmt.Errorf("%w: header of type %T", ErrBadHeader, c.Header)
		}
		for _, f := range planOf(v.Type()) {
			dst = f.append(dst, v.Field(f.index), enc)
		}
	}
	for _, f := range c.Ext {
		if !validKey(f.Key) {
			return dst, fmt.Errorf("%w: ext field name %q", ErrBadHeader, f.Key)
		}
		dst = enc.open(dst, f.Key)
		from := len(dst)
		dst = enc.close(enc.text(dst, f.Value), from)
	}
	return dst, nil
}

// validKey keeps quotes and control bytes out of the unescaped JSON key and lengths out of int16 trouble.
func validKey(key string) bool {
	if key == "" || len(key) > 0x7fff {
		return false
	}
	for i := 0; i < len(key); i++ {
		if b := key[i]; b < 0x20 || b == '"' || b == '\\' {
			return false
		}
	}
	return true
}

func (f *headerField) append(dst []byte, v reflect.Value, enc *extEncoder) []byte {
	if f.pointer {
		if v.IsNil() {
			return dst
		}
		v = v.Elem()
	} else if f.omitEmpty && v.IsZero() {
		return dst
	}
	dst = enc.open(dst, f.name)
	from := len(dst)
	switch f.kind {
	case reflect.String:
		dst = enc.text(dst, v.String())
	case reflect.Bool:
		dst = strconv.AppendBool(dst, v.Bool())
	default:
		dst = strconv.AppendInt(dst, v.Int(), 10)
	}
	return enc.close(dst, from)
}

// DecodeHeader copies c's ext fields into h, a pointer to a typed header struct. Absent fields become zero (nil for
// pointers); a missing required field or a number that does not parse is an error that names the field.
func (c *Command) DecodeHeader(h any) error {
	v := reflect.ValueOf(h).Elem()
	plan := planOf(v.Type())
	for i := range plan {
		f := &plan[i]
		text, ok := c.Ext.Get(f.name)
		field := v.Field(f.index)
		if !ok {
			if f.required {
				return fmt.Errorf("%w %s", ErrMissingField, f.name)
			}
			field.SetZero()
			continue
		}
		if err := f.set(field, text); err != nil {
			return fmt.Errorf("%w: ext field %s: %w", ErrBadHeader, f.name, err)
		}
	}
	return nil
}

func (f *headerField) set(v reflect.Value, text string) error {
	if f.pointer {
		if text == "" && f.kind != reflect.String {
			v.SetZero()
			return nil
		}
		p := reflect.New(v.Type().Elem())
		v.Set(p)
		v = p.Elem()
	}
	switch f.kind {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(strings.EqualFold(text, "true")) // Java's Boolean.parseBoolean
	default:
		bits := 64
		if f.kind == reflect.Int32 {
			bits = 32
		}
		n, err := strconv.ParseInt(text, 10, bits)
		if err != nil {
			return fmt.Errorf("%q is no number: %w", text, errors.Unwrap(err))
		}
		v.SetInt(n)
	}
	return nil
}
