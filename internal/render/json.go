package render

import (
	"bytes"
	"strconv"

	"mqctl/internal/safetext"
)

// appendJSON appends data as JSON. newline is what follows an opening bracket: "\n"
// and the indent so far, or "" for everything on one line.
func appendJSON(dst []byte, v any, newline string) []byte {
	inner, colon := newline, ":"
	if newline != "" {
		inner, colon = newline+"  ", ": "
	}
	switch v := v.(type) {
	case object:
		if len(v) == 0 {
			return append(dst, "{}"...)
		}
		for i, m := range v {
			dst = append(append(dst, opening('{', i)), inner...)
			dst = append(safetext.AppendJSONString(dst, m.name), colon...)
			dst = appendJSON(dst, m.value, inner)
		}
		return append(append(dst, newline...), '}')
	case list:
		if len(v) == 0 {
			return append(dst, "[]"...)
		}
		for i, element := range v {
			dst = append(append(dst, opening('[', i)), inner...)
			dst = appendJSON(dst, element, inner)
		}
		return append(append(dst, newline...), ']')
	case string:
		return safetext.AppendJSONString(dst, v)
	case nil:
		return append(dst, "null"...)
	}
	return append(dst, scalarText(v)...)
}

// opening is the bracket before the first element, and a comma before the others.
func opening(bracket byte, i int) byte {
	if i == 0 {
		return bracket
	}
	return ','
}

// scalarText is a value as plain text: a number or word as in JSON, nothing for nil,
// compact JSON for what has parts.
func scalarText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case bool:
		return strconv.FormatBool(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return strconv.FormatFloat(v, floatVerb(v), -1, 64)
	case string:
		return v
	}
	return string(appendJSON(nil, v, ""))
}

// floatVerb avoids rows of zeros, as encoding/json does.
func floatVerb(f float64) byte {
	if abs := max(f, -f); abs != 0 && (abs < 1e-6 || abs >= 1e21) {
		return 'e'
	}
	return 'f'
}

// writeLines prints a compact JSON document a row.
func writeLines(out *bytes.Buffer, rows any) error {
	all := toData(rows)
	if one, ok := all.(list); ok {
		for _, row := range one {
			out.Write(appendJSON(nil, row, ""))
			out.WriteByte('\n')
		}
		return nil
	}
	out.Write(appendJSON(nil, all, ""))
	out.WriteByte('\n')
	return nil
}
