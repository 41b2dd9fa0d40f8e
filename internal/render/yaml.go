package render

import (
	"strings"

	"mqctl/internal/safetext"
)

// appendYAML appends data in block style, its lines indented. Strings that YAML
// could take for anything else, or that are not plainly visible, are quoted.
func appendYAML(dst []byte, v any, indent int) []byte {
	pad := strings.Repeat(" ", indent)
	switch v := v.(type) {
	case object:
		for _, m := range v {
			dst = append(appendYAMLString(append(dst, pad...), m.name), ':')
			dst = appendYAMLChild(dst, m.value, indent)
		}
		if len(v) > 0 {
			return dst
		}
	case list:
		for _, element := range v {
			dst = append(append(dst, pad...), '-')
			dst = appendYAMLChild(dst, element, indent)
		}
		if len(v) > 0 {
			return dst
		}
	}
	return append(appendYAMLScalar(append(dst, pad...), v), '\n')
}

// appendYAMLChild appends a value behind a colon or a dash.
func appendYAMLChild(dst []byte, v any, indent int) []byte {
	inner := appendYAML(nil, v, indent+2)
	switch all := v.(type) {
	case object:
		if len(all) > 0 && dst[len(dst)-1] == '-' { // the first member beside the dash
			return append(append(dst, ' '), inner[indent+2:]...)
		}
		if len(all) > 0 {
			return append(append(dst, '\n'), inner...)
		}
	case list:
		if len(all) > 0 {
			return append(append(dst, '\n'), inner...)
		}
	}
	return append(append(dst, ' '), inner[indent+2:]...)
}

func appendYAMLScalar(dst []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...)
	case string:
		return appendYAMLString(dst, v)
	}
	return append(dst, scalarText(v)...)
}

func appendYAMLString(dst []byte, s string) []byte {
	if isPlainYAML(s) {
		return append(dst, s...)
	}
	return safetext.AppendYAMLString(dst, s)
}

// isPlainYAML is true for simple names only, without the words that some YAML
// reader takes for a boolean, null or number.
func isPlainYAML(s string) bool {
	switch strings.ToLower(s) {
	case "", "true", "false", "yes", "no", "on", "off", "y", "n", "null", "nan", "inf":
		return false
	}
	for i := range len(s) {
		c := s[i] | 0x20 // lower case, for letters
		letter := c >= 'a' && c <= 'z'
		later := s[i] >= '0' && s[i] <= '9' || strings.IndexByte("_-./@", s[i]) >= 0
		if !letter && (i == 0 || !later) {
			return false
		}
	}
	return true
}
