package format

import (
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/safetext"
)

// Append appends m in this format. n is what %i prints. With safe, foreign text is made fit for a terminal: bodies keep
// their line ends and tabs, nothing else keeps control characters. Without it, bytes are exact.
func (f *Format) Append(dst []byte, m *protocol.MessageExt, n int64, safe bool) []byte {
	w := printer{m: m, n: n, safe: safe}
	for i := range f.parts {
		dst = w.part(dst, &f.parts[i])
	}
	return dst
}

type printer struct {
	m    *protocol.MessageExt
	n    int64
	safe bool
}

func (w *printer) part(dst []byte, p *part) []byte {
	m := w.m
	switch p.verb {
	case 0:
		return append(dst, p.literal...)
	case 't':
		return w.text(dst, m.Topic, p.mod)
	case 'b':
		return w.text(dst, m.BrokerName, p.mod)
	case 'q':
		return strconv.AppendInt(dst, int64(m.QueueID), 10)
	case 'o':
		return strconv.AppendInt(dst, m.QueueOffset, 10)
	case 'k':
		return w.text(dst, m.Keys(), p.mod)
	case 'g':
		return w.text(dst, m.Tags(), p.mod)
	case 'v':
		if w.safe && p.mod == plain {
			return append(dst, safetext.Multiline(string(m.Body))...)
		}
		return appendText(dst, bytesAsString(m.Body), p.mod)
	case 'm':
		return w.text(dst, m.MessageID(), p.mod)
	case 'M':
		return w.text(dst, m.OffsetID(), p.mod)
	case 'd':
		return appendTime(dst, m.BornTimestamp, p.mod)
	case 's':
		return appendTime(dst, m.StoreTimestamp, p.mod)
	case 'r':
		return strconv.AppendInt(dst, int64(m.ReconsumeTimes), 10)
	case 'V':
		return strconv.AppendInt(dst, int64(len(m.Body)), 10)
	case 'i':
		return strconv.AppendInt(dst, w.n, 10)
	case 'h':
		return w.properties(dst, p.inner)
	}
	return dst
}

func (w *printer) text(dst []byte, s string, mod modifier) []byte {
	if w.safe && mod == plain {
		s = safetext.Display(s)
	}
	return appendText(dst, s, mod)
}

func appendText(dst []byte, s string, mod modifier) []byte {
	switch mod {
	case hexDigits:
		return hex.AppendEncode(dst, []byte(s))
	case base64Text:
		return base64.StdEncoding.AppendEncode(dst, []byte(s))
	case jsonString:
		return safetext.AppendJSONString(dst, s)
	}
	return append(dst, s...)
}

// properties prints every property that has no verb of its own.
func (w *printer) properties(dst []byte, inner []part) []byte {
	for _, x := range w.m.Properties() {
		if hasOwnField(x.Name) {
			continue
		}
		for i := range inner {
			switch p := &inner[i]; p.verb {
			case 'k':
				dst = w.text(dst, x.Name, p.mod)
			case 'v':
				dst = w.text(dst, x.Value, p.mod)
			default:
				dst = append(dst, p.literal...)
			}
		}
	}
	return dst
}

// timeLayout is RFC 3339 in UTC with milliseconds.
const timeLayout = "2006-01-02T15:04:05.000Z"

func appendTime(dst []byte, ms int64, mod modifier) []byte {
	if mod == epochMillis {
		return strconv.AppendInt(dst, ms, 10)
	}
	return time.UnixMilli(ms).UTC().AppendFormat(dst, timeLayout)
}
