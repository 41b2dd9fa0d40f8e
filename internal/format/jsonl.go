package format

import (
	"encoding/base64"
	"net/netip"
	"strconv"
	"strings"
	"unicode/utf8"

	"mqctl/internal/protocol"
	"mqctl/internal/safetext"
)

// encodingBase64 is the value of body_encoding where a body is not UTF-8.
const encodingBase64 = "base64"

// encodedName begins a key of properties_base64 that is itself the base64 of a name, because the name is not UTF-8 or
// begins so by accident.
const encodedName = "base64:"

// AppendJSONL appends m as one line of JSON; see AppendJSON.
func AppendJSONL(dst []byte, m *protocol.MessageExt) []byte { return append(AppendJSON(dst, m), '\n') }

// AppendJSON appends m as a JSON object on one line; null is what does not exist. body is text, or base64 when the bytes
// are not UTF-8: only then there is "body_encoding":"base64". Properties, tags and keys that are not UTF-8 are shown with
// U+FFFD and stand in properties_base64 exactly: only then it is there. TAGS, KEYS and UNIQ_KEY are not in properties,
// since they are tags, keys and message_id. A body that could not be unpacked is given as stored, along with body_error.
//
// The text is fit for a terminal: everything that should not reach one is escaped.
func AppendJSON(dst []byte, m *protocol.MessageExt) []byte {
	var room [16]pair
	pairs := appendPairs(room[:0], m.RawProperties)
	dst = append(dst, `{"topic":`...)
	dst = safetext.AppendJSONString(dst, m.Topic)
	dst = append(dst, `,"broker":`...)
	dst = appendStringOrNull(dst, m.BrokerName, m.BrokerName != "")
	dst = append(dst, `,"queue_id":`...)
	dst = strconv.AppendInt(dst, int64(m.QueueID), 10)
	dst = append(dst, `,"offset":`...)
	dst = strconv.AppendInt(dst, m.QueueOffset, 10)
	dst = append(dst, `,"message_id":`...)
	dst = appendMessageID(dst, m, pairs)
	dst = append(dst, `,"offset_message_id":`...)
	dst = safetext.AppendJSONString(dst, m.OffsetID())
	dst = append(dst, `,"tags":`...)
	dst = appendFound(dst, pairs, protocol.PropertyTags)
	dst = append(dst, `,"keys":`...)
	dst = appendFound(dst, pairs, protocol.PropertyKeys)
	dst = append(dst, `,"flag":`...)
	dst = strconv.AppendInt(dst, int64(m.Flag), 10)
	dst = appendProperties(dst, pairs)
	dst = append(dst, `,"born_time":`...)
	dst = appendTimeOrNull(dst, m.BornTimestamp)
	dst = append(dst, `,"born_host":`...)
	dst = appendHost(dst, m.BornHost)
	dst = append(dst, `,"store_time":`...)
	dst = appendTimeOrNull(dst, m.StoreTimestamp)
	dst = append(dst, `,"store_host":`...)
	dst = appendHost(dst, m.StoreHost)
	dst = append(dst, `,"reconsume_times":`...)
	dst = strconv.AppendInt(dst, int64(m.ReconsumeTimes), 10)
	dst = append(dst, `,"body_size":`...)
	dst = strconv.AppendInt(dst, int64(len(m.Body)), 10)
	dst = append(dst, `,"stored_size":`...)
	dst = strconv.AppendInt(dst, int64(storedSize(m)), 10)
	dst = appendBody(dst, m)
	return append(dst, '}')
}

func storedSize(m *protocol.MessageExt) int {
	if m.StoredBody == nil {
		return len(m.Body)
	}
	return len(m.StoredBody)
}

func appendBody(dst []byte, m *protocol.MessageExt) []byte {
	if m.BodyErr != nil {
		dst = append(dst, `,"body_error":`...)
		dst = safetext.AppendJSONString(dst, m.BodyErr.Error())
	}
	if utf8.Valid(m.Body) {
		dst = append(dst, `,"body":`...)
		return safetext.AppendJSONString(dst, bytesAsString(m.Body))
	}
	dst = append(dst, `,"body_encoding":"`+encodingBase64+`","body":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, m.Body)
	return append(dst, '"')
}

// appendProperties writes properties, and properties_base64 where there is something for it.
func appendProperties(dst []byte, pairs []pair) []byte {
	dst = append(dst, `,"properties":{`...)
	exact := false
	sep := ""
	for _, p := range pairs {
		exact = exact || needsBase64(p)
		if hasOwnField(p.name) || encodesName(p.name) {
			continue
		}
		dst = append(dst, sep...)
		dst = safetext.AppendJSONString(dst, p.name)
		dst = append(dst, ':')
		dst = safetext.AppendJSONString(dst, p.value)
		sep = ","
	}
	dst = append(dst, '}')
	if !exact {
		return dst
	}
	dst = append(dst, `,"properties_base64":{`...)
	sep = ""
	for _, p := range pairs {
		if needsBase64(p) {
			dst = append(dst, sep...)
			dst = appendEncodedName(dst, p.name)
			dst = append(dst, `:"`...)
			dst = base64.StdEncoding.AppendEncode(dst, []byte(p.value))
			dst = append(dst, '"')
			sep = ","
		}
	}
	return append(dst, '}')
}

func needsBase64(p pair) bool { return encodesName(p.name) || !utf8.ValidString(p.value) }

func encodesName(name string) bool {
	return !utf8.ValidString(name) || strings.HasPrefix(name, encodedName)
}

func appendEncodedName(dst []byte, name string) []byte {
	if !encodesName(name) {
		return safetext.AppendJSONString(dst, name)
	}
	dst = append(dst, '"')
	dst = append(dst, encodedName...)
	dst = base64.StdEncoding.AppendEncode(dst, []byte(name))
	return append(dst, '"')
}

func appendMessageID(dst []byte, m *protocol.MessageExt, pairs []pair) []byte {
	if id, ok := find(pairs, protocol.PropertyUniqueKey); ok {
		return safetext.AppendJSONString(dst, id)
	}
	return safetext.AppendJSONString(dst, m.OffsetID())
}

func find(pairs []pair, name string) (value string, ok bool) {
	for i := range pairs {
		if pairs[i].name == name {
			return pairs[i].value, true
		}
	}
	return "", false
}

func appendFound(dst []byte, pairs []pair, name string) []byte {
	v, ok := find(pairs, name)
	return appendStringOrNull(dst, v, ok)
}

func appendStringOrNull(dst []byte, s string, ok bool) []byte {
	if !ok {
		return append(dst, "null"...)
	}
	return safetext.AppendJSONString(dst, s)
}

func appendTimeOrNull(dst []byte, ms int64) []byte {
	if ms == 0 {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = appendTime(dst, ms, plain)
	return append(dst, '"')
}

func appendHost(dst []byte, h netip.AddrPort) []byte {
	if !h.IsValid() {
		return append(dst, "null"...)
	}
	dst = append(dst, '"')
	dst = h.AppendTo(dst)
	return append(dst, '"')
}
