package format

import (
	"strings"
	"unsafe"

	"mqctl/internal/protocol"
)

// hasOwnField reports whether a property is shown under a name of its own: tags, keys and message_id.
func hasOwnField(name string) bool {
	switch name {
	case protocol.PropertyTags, protocol.PropertyKeys, protocol.PropertyUniqueKey:
		return true
	}
	return false
}

// reserved are the properties that brokers and clients make. They describe one delivery, so a message that is sent anew
// must not carry them: DELAY or REAL_TOPIC would even send it elsewhere. Java refuses all of them from users.
var reserved = map[string]bool{
	"UNIQ_KEY": true, "WAIT": true, "DELAY": true, "TIMER_DELIVER_MS": true, "TIMER_DELAY_SEC": true, "TIMER_DELAY_MS": true,
	"TIMER_OUT_MS": true, "TIMER_ENQUEUE_MS": true, "TIMER_DEQUEUE_MS": true, "TIMER_ROLL_TIMES": true, "TIMER_ROLL_LABEL": true,
	"TIMER_DEL_UNIQKEY": true, "TIMER_DELAY_LEVEL": true, "REAL_TOPIC": true, "REAL_QID": true, "RETRY_TOPIC": true,
	"ORIGIN_MESSAGE_ID": true, "RECONSUME_TIME": true, "MAX_RECONSUME_TIMES": true, "CONSUME_START_TIME": true,
	"MIN_OFFSET": true, "MAX_OFFSET": true, "TRAN_MSG": true, "PGROUP": true, "__transactionId__": true,
	"CHECK_IMMUNITY_TIME_IN_SECONDS": true, "TRANSACTION_CHECK_TIMES": true, "TRAN_PREPARED_QUEUE_OFFSET": true,
	"CLUSTER": true, "MSG_REGION": true, "TRACE_ON": true, "INSTANCE_ID": true, "CORRELATION_ID": true,
	"REPLY_TO_CLIENT": true, "TTL": true, "MSG_TYPE": true, "ARRIVE_TIME": true, "PUSH_REPLY_TIME": true,
	"POP_CK": true, "POP_CK_OFFSET": true, "1ST_POP_TIME": true, "ORIGIN_GROUP": true, "DLQ_ORIGIN_TOPIC": true,
	"DLQ_ORIGIN_MESSAGE_ID": true, "INNER_NUM": true, "INNER_BASE": true, "INNER_MULTI_DISPATCH": true,
	"INNER_MULTI_QUEUE_OFFSET": true, "TRANSFER_FLAG": true, "CORRECTION_FLAG": true, "MQ2_FLAG": true,
	"EXTEND_UNIQ_INFO": true, "DUP_INFO": true, "REDIRECT": true, "PROPERTY_FORWARD_QUEUE_ID": true, "__BORNHOST": true,
	"BORN_TIMESTAMP": true, "__CRC32#": true, "TRANS_OFFSET": true, "E_T": true,
}

// transientPrefix begins the names that brokers use for a moment.
const transientPrefix = "__RMQ.TRANSIENT."

// Reserved reports whether a property is made by brokers and clients, so that Readers leave it out and users cannot set it.
func Reserved(name string) bool { return reserved[name] || strings.HasPrefix(name, transientPrefix) }

// pair is one property in the wire form, without a copy.
type pair struct{ name, value string }

// maxScan is up to how many properties a linear search for a later namesake beats a map.
const maxScan = 32

// appendPairs splits raw like protocol.ParseProperties, but without copying: the strings alias raw. Of several values of
// one name the last counts, as in a Java map.
func appendPairs(dst []pair, raw []byte) []pair {
	text := bytesAsString(raw)
	for len(text) > 0 {
		var entry string
		entry, text, _ = strings.Cut(text, "\x02")
		if name, value, ok := strings.Cut(entry, "\x01"); ok && name != "" && value != "" {
			dst = append(dst, pair{name, value})
		}
	}
	return dropEarlier(dst)
}

func dropEarlier(pairs []pair) []pair {
	if len(pairs) > maxScan {
		last := make(map[string]int, len(pairs))
		for i, p := range pairs {
			last[p.name] = i
		}
		if len(last) == len(pairs) {
			return pairs
		}
		return keepIf(pairs, func(i int) bool { return last[pairs[i].name] == i })
	}
	for i := range pairs {
		if hasLater(pairs, i) {
			return keepIf(pairs, func(i int) bool { return !hasLater(pairs, i) })
		}
	}
	return pairs
}

// keepIf makes a new slice: keep looks at the old one.
func keepIf(pairs []pair, keep func(i int) bool) []pair {
	kept := make([]pair, 0, len(pairs))
	for i := range pairs {
		if keep(i) {
			kept = append(kept, pairs[i])
		}
	}
	return kept
}

func hasLater(pairs []pair, i int) bool {
	for _, later := range pairs[i+1:] {
		if later.name == pairs[i].name {
			return true
		}
	}
	return false
}

// bytesAsString is b as a string without a copy. It is only for values that are read and forgotten before b changes.
func bytesAsString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
