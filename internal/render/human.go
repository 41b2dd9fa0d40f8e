package render

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// Duration writes a span for eyes, two units at most: 0, <1s, 9s, 38m12s, 24h02m,
// 6d 2h. A negative span has a minus in front.
func Duration(d time.Duration) string {
	if d <= -time.Second {
		return "-" + Duration(-max(d, -math.MaxInt64)) // the smallest has no opposite
	}
	switch {
	case d == 0:
		return "0"
	case d < time.Second:
		return "<1s"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", d/time.Minute, d%time.Minute/time.Second)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", d/time.Hour, d%time.Hour/time.Minute)
	}
	return fmt.Sprintf("%dd %dh", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
}

// Bytes writes a size in powers of 1024 for eyes: 512 B, 1.5 KiB, 6 MiB. There is
// one decimal below ten, unless it is zero.
func Bytes(n int64) string {
	size, unit := float64(n), 0
	for units := len(byteUnits) - 1; math.Abs(size) >= 1023.5 && unit < units; unit++ {
		size /= 1024
	}
	decimals := 0
	if rounded := math.Round(math.Abs(size)*10) / 10; unit > 0 && rounded < 10 && rounded != math.Trunc(rounded) {
		decimals = 1
	}
	return strconv.FormatFloat(size, 'f', decimals, 64) + " " + byteUnits[unit]
}

var byteUnits = []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}

// Count writes a number with thousands separators: 52,984.
func Count(n int64) string { return group(strconv.FormatInt(n, 10)) }

// PerSecond writes a rate with one decimal: 167.5. What is not a number is ?.
func PerSecond(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return unknown
	}
	text := strconv.FormatFloat(f, 'f', 1, 64)
	return group(text[:len(text)-2]) + text[len(text)-2:]
}

// group puts a comma before each three digits from the right.
func group(digits string) string {
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	out := make([]byte, 0, len(digits)+len(digits)/3)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			out = append(out, ',')
		}
		out = append(out, digits[i])
	}
	return sign + string(out)
}
