package stats

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Collector exports snapshots to Prometheus: every field with a metric tag becomes a sample, labelled by the label fields
// of the structs around it. It reads one snapshot per scrape and keeps nothing, so a scraper cannot slow the engine.
type Collector struct {
	latest func() Snapshot
	descs  map[string]*prometheus.Desc // by metric name
}

// NewCollector collects from latest, which must be safe to call from any goroutine.
func NewCollector(latest func() Snapshot) *Collector {
	c := &Collector{latest: latest, descs: map[string]*prometheus.Desc{}}
	describe(reflect.TypeFor[Snapshot](), nil, func(m metricField) {
		if c.descs[m.name] == nil {
			c.descs[m.name] = prometheus.NewDesc(m.name, m.help(), m.labels, nil)
		}
	})
	return c
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range c.descs {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	collect(reflect.ValueOf(c.latest()), nil, func(m metricField, value float64, labels []string) {
		kind := prometheus.GaugeValue
		if m.counter {
			kind = prometheus.CounterValue
		}
		ch <- prometheus.MustNewConstMetric(c.descs[m.name], kind, value, labels...)
	})
}

// metricField is one field with a metric tag.
type metricField struct {
	index   int
	name    string
	counter bool
	unit    string
	labels  []string // names, those of enclosing structs first
	fixed   string   // the value of the field's own label, if it has one
}

func (m metricField) help() string {
	return "Field " + strings.TrimPrefix(m.name, "mqctl_") + " of mqctl's snapshot."
}

// labelFields are the fields of a struct whose label tag has no value: they name the instance.
func labelFields(t reflect.Type) (fields []int, names []string) {
	for i := range t.NumField() {
		if tag := t.Field(i).Tag.Get("label"); tag != "" && !strings.Contains(tag, "=") && t.Field(i).Tag.Get("metric") == "" {
			fields, names = append(fields, i), append(names, tag)
		}
	}
	return fields, names
}

func metricOf(f reflect.StructField, index int, labels []string) metricField {
	m := metricField{index: index, name: f.Tag.Get("metric"), counter: f.Tag.Get("type") == "counter", unit: f.Tag.Get("unit"), labels: labels}
	if key, value, ok := strings.Cut(f.Tag.Get("label"), "="); ok {
		m.labels, m.fixed = append(slices.Clone(labels), key), value
	}
	return m
}

// describe walks a type and everything inside it.
func describe(t reflect.Type, labels []string, found func(metricField)) {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Time]() {
		return
	}
	_, own := labelFields(t)
	labels = slices.Concat(labels, own)
	for i := range t.NumField() {
		if f := t.Field(i); f.Tag.Get("metric") != "" {
			found(metricOf(f, i, labels))
		} else {
			describe(f.Type, labels, found)
		}
	}
}

// collect walks a value in the same way.
func collect(v reflect.Value, labels []string, found func(m metricField, value float64, labels []string)) {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			collect(v.Index(i), labels, found)
		}
		return
	case reflect.Struct:
	default:
		return
	}
	t := v.Type()
	if t == reflect.TypeFor[time.Time]() {
		return
	}
	fields, _ := labelFields(t)
	labels = slices.Clone(labels)
	for _, i := range fields {
		labels = append(labels, labelText(v.Field(i)))
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("metric") == "" {
			collect(v.Field(i), labels, found)
			continue
		}
		value, known := number(v.Field(i))
		if !known {
			continue // unknown is absent, never zero
		}
		m := metricOf(f, i, nil)
		own := labels
		if m.fixed != "" {
			own = append(slices.Clone(labels), m.fixed)
		}
		found(m, value, own)
	}
}

func labelText(v reflect.Value) string {
	if v.CanInt() {
		return strconv.FormatInt(v.Int(), 10)
	}
	return strings.ToValidUTF8(v.String(), "\uFFFD")
}

// number is a field as a float; durations are seconds, as Prometheus wants them. known is false for a nil pointer.
func number(v reflect.Value) (f float64, known bool) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return 0, false
		}
		v = v.Elem()
	}
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		return time.Duration(v.Int()).Seconds(), true
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanFloat():
		return v.Float(), true
	case v.Kind() == reflect.Bool && v.Bool():
		return 1, true
	}
	return 0, v.Kind() == reflect.Bool
}
