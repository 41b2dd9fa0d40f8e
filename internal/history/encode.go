package history

import (
	"encoding/json"
	"strconv"
)

// appendLine appends e as one JSON line. It is written by hand since recording must cost little next to what is recorded.
func (e *Event) appendLine(dst []byte) ([]byte, error) {
	need := needs[e.Type]
	dst = append(dst, `{"at":`...)
	dst = strconv.AppendInt(dst, e.At, 10)
	dst = appendText(dst, "type", string(e.Type))
	dst = appendText(dst, "group", e.Group)
	dst = appendText(dst, "member", e.Member)
	dst = appendText(dst, "queue", e.Queue)
	dst = appendInt(dst, "epoch", e.Epoch, need&needEpoch != 0)
	dst = appendInt(dst, "offset", e.Offset, need&needOffset != 0 || e.Queue != "" && e.Type == TypeSendAck)
	dst = appendText(dst, "producer", e.Producer)
	dst = appendInt(dst, "seq", e.Seq, e.Producer != "")
	dst = appendText(dst, "key", e.Key)
	if e.Hash != 0 {
		dst = append(dst, `,"hash":"`...)
		dst = append(e.Hash.append(dst), '"')
	}
	dst = appendInt(dst, "batch", e.Batch, false)
	dst = appendInt(dst, "attempt", int64(e.Attempt), false)
	dst = appendText(dst, "result", e.Result)
	dst = appendText(dst, "by", e.By)
	dst = appendText(dst, "msg_id", e.MsgID)
	dst = appendText(dst, "kind", e.Kind)
	dst = appendInt(dst, "from", e.From, false)
	dst = appendInt(dst, "to", e.To, false)
	dst = appendInt(dst, "hits", e.Hits, e.Type == TypeFault)
	if e.Clean {
		dst = append(dst, `,"clean":true`...)
	}
	if e.Meta != nil {
		text, err := json.Marshal(e.Meta)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"meta":`...), text...)
	}
	return append(dst, '}', '\n'), nil
}

// appendInt appends a number; zero only when always is set.
func appendInt(dst []byte, name string, n int64, always bool) []byte {
	if n == 0 && !always {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(append(dst, name...), '"', ':')
	return strconv.AppendInt(dst, n, 10)
}

// appendText appends a text unless it is empty.
func appendText(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(append(dst, name...), '"', ':')
	if plain(value) {
		dst = append(dst, '"')
		return append(append(dst, value...), '"')
	}
	text, err := json.Marshal(value)
	if err != nil { // a string always has a JSON form
		text = []byte(`""`)
	}
	return append(dst, text...)
}

// plain reports whether value is its own JSON form.
func plain(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
