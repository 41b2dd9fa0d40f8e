package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// Separators of the properties text, Java's MessageDecoder.NAME_VALUE_SEPARATOR and PROPERTY_SEPARATOR.
const (
	nameValueSeparator = '\x01'
	propertySeparator  = '\x02'
)

// MaxPropertiesSize is the most that a message's properties may take, in bytes: the length field is a Java short.
const MaxPropertiesSize = 32767

// Property names that clients and brokers use, Java's MessageConst.
const (
	PropertyTags             = "TAGS"
	PropertyKeys             = "KEYS"
	PropertyUniqueKey        = "UNIQ_KEY"
	PropertyWait             = "WAIT"
	PropertyDelayLevel       = "DELAY"
	PropertyRealTopic        = "REAL_TOPIC"
	PropertyRealQueueID      = "REAL_QID"
	PropertyRetryTopic       = "RETRY_TOPIC"
	PropertyOriginMessageID  = "ORIGIN_MESSAGE_ID"
	PropertyReconsumeTime    = "RECONSUME_TIME"
	PropertyMaxReconsume     = "MAX_RECONSUME_TIMES"
	PropertyTransPrepared    = "TRAN_MSG"
	PropertyProducerGroup    = "PGROUP"
	PropertyTransactionID    = "__transactionId__"
	PropertyCluster          = "CLUSTER"
	PropertyRegion           = "MSG_REGION"
	PropertyTraceOn          = "TRACE_ON"
	PropertyInstanceID       = "INSTANCE_ID"
	PropertyShardingKey      = "__SHARDINGKEY"
	PropertyInnerNum         = "INNER_NUM"
	PropertyInnerBase        = "INNER_BASE"
	PropertyTimerDeliverMS   = "TIMER_DELIVER_MS"
	PropertyTimerDelaySec    = "TIMER_DELAY_SEC"
	PropertyTimerDelayMS     = "TIMER_DELAY_MS"
	PropertyDLQOriginTopic   = "DLQ_ORIGIN_TOPIC"
	PropertyDLQOriginMsgID   = "DLQ_ORIGIN_MESSAGE_ID"
	PropertyConsumeStartTime = "CONSUME_START_TIME"
)

// ErrBadProperty is wrapped by Properties.Validate with the name of the offending property.
var ErrBadProperty = errors.New("bad property")

// Property is one name and value of a message.
type Property struct {
	Name, Value string
}

// Properties is a message's properties in wire order.
type Properties []Property

// Get is the value of name, and whether it is there. The last of several wins, as in a Java map.
func (p Properties) Get(name string) (string, bool) {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i].Name == name {
			return p[i].Value, true
		}
	}
	return "", false
}

// Set gives name a value, in place when it has one already.
func (p *Properties) Set(name, value string) {
	for i := range *p {
		if (*p)[i].Name == name {
			(*p)[i].Value = value
			return
		}
	}
	*p = append(*p, Property{name, value})
}

// Delete removes every value of name.
func (p *Properties) Delete(name string) {
	kept := (*p)[:0]
	for _, x := range *p {
		if x.Name != name {
			kept = append(kept, x)
		}
	}
	*p = kept
}

// Clone is a copy that shares nothing mutable with p.
func (p Properties) Clone() Properties { return append(Properties(nil), p...) }

// AppendTo appends the wire form: name \x01 value \x02, repeated.
func (p Properties) AppendTo(dst []byte) []byte {
	for _, x := range p {
		dst = append(dst, x.Name...)
		dst = append(dst, nameValueSeparator)
		dst = append(dst, x.Value...)
		dst = append(dst, propertySeparator)
	}
	return dst
}

// String is the wire form as a string.
func (p Properties) String() string { return string(p.AppendTo(nil)) }

// Validate refuses what the wire cannot carry: empty names or values (readers drop them silently), separators inside,
// and more than MaxPropertiesSize in all.
func (p Properties) Validate() error {
	size := 0
	for _, x := range p {
		size += len(x.Name) + len(x.Value) + 2
		switch {
		case x.Name == "":
			return fmt.Errorf("%w: empty name", ErrBadProperty)
		case x.Value == "":
			return fmt.Errorf("%w %q: empty value", ErrBadProperty, x.Name)
		case strings.ContainsAny(x.Name, "\x01\x02") || strings.ContainsAny(x.Value, "\x01\x02"):
			return fmt.Errorf("%w %q: contains the separator U+0001 or U+0002", ErrBadProperty, x.Name)
		}
	}
	if size > MaxPropertiesSize {
		return fmt.Errorf("%w: %d bytes in all, the limit is %d", ErrBadProperty, size, MaxPropertiesSize)
	}
	return nil
}

// ParseProperties reads the wire form. Like Java's reader it skips entries without a separator, name or value.
func ParseProperties(raw []byte) Properties {
	if len(raw) == 0 {
		return nil
	}
	text := string(raw)                                                       // one allocation; every name and value is a slice of it
	p := make(Properties, 0, min(strings.Count(text, "\x02"), len(text)/4)+1) // no entry is shorter than four bytes
	for len(text) > 0 {
		var entry string
		entry, text, _ = strings.Cut(text, "\x02")
		if name, value, ok := strings.Cut(entry, "\x01"); ok && name != "" && value != "" {
			p = append(p, Property{name, value})
		}
	}
	return p
}

// lookupProperty finds one value in the wire form without parsing the rest; the result aliases raw.
func lookupProperty(raw []byte, name string) (value []byte, ok bool) {
	for len(raw) > 0 {
		var entry []byte
		entry, raw, _ = bytes.Cut(raw, []byte{propertySeparator})
		if len(entry) > len(name)+1 && entry[len(name)] == nameValueSeparator && string(entry[:len(name)]) == name {
			value, ok = entry[len(name)+1:], true
		}
	}
	return value, ok
}
