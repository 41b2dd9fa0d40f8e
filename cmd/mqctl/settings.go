package main

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/render"
)

// setting is one engine setting that -X reaches: a field with an x tag of one of the client's configurations.
type setting struct {
	name, help, unit, limits string
	owner                    string // client, consumer or producer
	field                    int
	def                      reflect.Value
}

// settingsOf lists the settings of a configuration; defaults is that configuration with its defaults.
func settingsOf(owner string, defaults any) (list []setting) {
	v := reflect.ValueOf(defaults)
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if name := f.Tag.Get("x"); name != "" {
			list = append(list, setting{
				name: name, help: f.Tag.Get("help"), unit: f.Tag.Get("unit"), limits: f.Tag.Get("range"),
				owner: owner, field: i, def: v.Field(i),
			})
		}
	}
	return list
}

func allSettings() []setting {
	return slices.Concat(settingsOf("client", client.DefaultConfig()), settingsOf("consumer", client.DefaultConsumerConfig()),
		settingsOf("producer", client.DefaultProducerConfig()))
}

// settings is what -X sets, by name.
type settings map[string]string

// parseSettings reads the values of -X. Names and values are checked at once, also those that the command has no use for.
func parseSettings(list []string) (settings, error) {
	all := allSettings()
	var names []string
	for _, s := range all {
		names = append(names, s.name)
	}
	set := settings{}
	for _, item := range list {
		name, value, ok := strings.Cut(item, "=")
		if !ok {
			return nil, usagef("-X %s: want KEY=VALUE; -X list shows the keys", item)
		}
		i := slices.Index(names, name)
		if i < 0 {
			if near := nearest(name, slices.Clone(names)); near != "" {
				return nil, usagef("-X %s: unknown setting; did you mean %s?", name, near)
			}
			return nil, usagef("-X %s: unknown setting; -X list shows them", name)
		}
		for _, s := range all {
			if s.name == name {
				if _, err := s.parse(value); err != nil {
					return nil, usagef("-X %s: %v", item, err)
				}
			}
		}
		set[name] = value
	}
	return set, nil
}

// apply sets fields of a configuration, given as a pointer, that belong to owner.
func (set settings) apply(owner string, config any) {
	v := reflect.ValueOf(config).Elem()
	for _, s := range allSettings() {
		text, ok := set[s.name]
		if !ok || s.owner != owner {
			continue
		}
		value, err := s.parse(text)
		if err != nil {
			continue // parseSettings has refused it
		}
		if value.IsZero() && !s.def.IsZero() && value.Type() == reflect.TypeFor[time.Duration]() {
			value = reflect.ValueOf(time.Nanosecond) // zero stands for the default
		}
		v.Field(s.field).Set(value)
	}
}

// parse reads a value and holds it against the range.
func (s setting) parse(text string) (reflect.Value, error) {
	v := reflect.New(s.def.Type()).Elem()
	switch {
	case v.Type() == reflect.TypeFor[time.Duration]():
		d, err := time.ParseDuration(text)
		if err != nil {
			return v, fmt.Errorf("want a time span with its unit, such as 500ms or 5s")
		}
		v.SetInt(int64(d))
	case v.CanInt():
		n, err := s.parseInt(text)
		if err != nil {
			return v, err
		}
		if v.OverflowInt(n) {
			return v, fmt.Errorf("want %s", s.rangeText())
		}
		v.SetInt(n)
	case v.Kind() == reflect.Bool:
		b, err := strconv.ParseBool(text)
		if err != nil {
			return v, fmt.Errorf("want true or false")
		}
		v.SetBool(b)
	default:
		return v, fmt.Errorf("settings of kind %s cannot be set", v.Kind())
	}
	if low, high, ok := s.bounds(); ok && (v.Int() < low || v.Int() > high) {
		return v, fmt.Errorf("want %s", s.rangeText())
	}
	return v, nil
}

// parseInt reads a whole number; settings in bytes may have a unit.
func (s setting) parseInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return n, nil
	}
	if s.unit == "bytes" {
		if n, err := parseSize(text); err == nil {
			return n, nil
		}
		return 0, fmt.Errorf("want a size, such as 65536 or 64KiB")
	}
	return 0, fmt.Errorf("want a whole number")
}

// bounds reads the range tag.
func (s setting) bounds() (low, high int64, ok bool) {
	from, to, ok := strings.Cut(s.limits, "..")
	if !ok {
		return 0, 0, false
	}
	var err1, err2 error
	low, err1 = parseBound(from, s.def.Type())
	high, err2 = parseBound(to, s.def.Type())
	return low, high, err1 == nil && err2 == nil
}

func parseBound(text string, t reflect.Type) (int64, error) {
	if t == reflect.TypeFor[time.Duration]() {
		d, err := time.ParseDuration(text)
		return int64(d), err
	}
	return strconv.ParseInt(text, 10, 64)
}

func (s setting) rangeText() string {
	low, high, ok := s.bounds()
	switch {
	case s.def.Kind() == reflect.Bool:
		return "true or false"
	case !ok:
		return s.limits
	case s.unit == "bytes":
		return sizeText(low) + " to " + sizeText(high)
	}
	from, to, _ := strings.Cut(s.limits, "..")
	return from + " to " + to
}

// sizeText is a number of bytes for eyes, small or negative ones as they are.
func sizeText(n int64) string {
	if n < 1024 {
		return strconv.FormatInt(n, 10)
	}
	return render.Bytes(n)
}

func (s setting) defaultText() string {
	switch {
	case s.def.Type() == reflect.TypeFor[time.Duration]():
		return trimDuration(time.Duration(s.def.Int()))
	case s.unit == "bytes":
		return sizeText(s.def.Int())
	}
	return fmt.Sprint(s.def.Interface())
}

// trimDuration is 15m rather than 15m0s.
func trimDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// settingView is a row of -X list.
type settingView struct {
	Name    string `json:"name" col:"NAME"`
	Default string `json:"default" col:"DEFAULT,right"`
	Range   string `json:"range" col:"RANGE"`
	Used    string `json:"used_by" col:"USED BY"`
	Help    string `json:"help" col:"MEANING"`
}

// listSettings prints what -X can set.
func (p *program) listSettings() error {
	rows := []settingView{}
	for _, s := range allSettings() {
		help := s.help
		if s.unit != "" && s.unit != "bytes" {
			help = strings.TrimSuffix(help, ", in "+s.unit)
		}
		rows = append(rows, settingView{Name: s.name, Default: s.defaultText(), Range: s.rangeText(), Used: s.owner, Help: help})
	}
	if p.forEyes() {
		opt := p.renderOptions()
		opt.Width = 0 // the meaning is what it is about
		return render.Write(p.stdout, render.FormatTable, rows, opt)
	}
	return p.write(rows)
}
