package sandbox

import (
	"strconv"
	"strings"

	"mqctl/internal/protocol"
)

// region is what a broker without a configured region puts into MSG_REGION.
const region = "DefaultRegion"

// facts are the properties of a message that decide what a broker does with it.
type facts struct {
	unique string // UNIQ_KEY
	tags   string
	keys   string
	delay  int  // DELAY level, 0 for none
	half   bool // TRAN_MSG
	// badDelay is set when the level is no number, which Java fails on.
	badDelay bool
	// rewrite is set when the text cannot simply be extended: it has entries that the broker sets itself or that Java's
	// reader drops.
	rewrite bool
}

// readFacts reads a message's properties in one pass without allocating.
func readFacts(raw string) facts {
	var f facts
	for len(raw) > 0 {
		var item string
		item, raw, _ = strings.Cut(raw, "\x02")
		name, value, ok := strings.Cut(item, "\x01")
		if !ok || name == "" || value == "" {
			f.rewrite = true
			continue
		}
		switch name {
		case protocol.PropertyUniqueKey:
			f.unique = value
		case protocol.PropertyTags:
			f.tags = value
		case protocol.PropertyKeys:
			f.keys = value
		case protocol.PropertyDelayLevel:
			var err error
			f.delay, err = strconv.Atoi(value)
			f.badDelay = err != nil
		case protocol.PropertyTransPrepared:
			f.half = strings.EqualFold(value, "true")
		case protocol.PropertyCluster, protocol.PropertyRegion, protocol.PropertyTraceOn:
			f.rewrite = true
		}
	}
	return f
}

// stamp is raw with what a broker adds to each message it stores: cluster, region, trace switch, and a unique id when the
// producer gave none (then f.unique is set to it). The result is valid until the next call.
func (b *broker) stamp(raw string, f *facts) []byte {
	dst := b.sandbox.scratch[:0]
	fresh := f.unique == ""
	if fresh {
		f.unique = b.ids.Next(b.sandbox.now())
	}
	if f.rewrite {
		p := protocol.ParseProperties([]byte(raw))
		p.Set(protocol.PropertyRegion, region)
		p.Set(protocol.PropertyCluster, b.sandbox.cluster)
		p.Set(protocol.PropertyTraceOn, "true")
		p.Set(protocol.PropertyUniqueKey, f.unique)
		dst = p.AppendTo(dst)
	} else {
		dst = append(dst, raw...)
		if len(dst) > 0 && dst[len(dst)-1] != '\x02' {
			dst = append(dst, '\x02')
		}
		dst = append(dst, b.stampText...)
		if fresh {
			dst = protocol.Properties{{Name: protocol.PropertyUniqueKey, Value: f.unique}}.AppendTo(dst)
		}
	}
	b.sandbox.scratch = dst
	return dst
}

// stampText is what stamp adds to a message that has none of it yet.
func stampText(cluster string) string {
	return protocol.Properties{
		{Name: protocol.PropertyRegion, Value: region},
		{Name: protocol.PropertyCluster, Value: cluster},
		{Name: protocol.PropertyTraceOn, Value: "true"},
	}.String()
}
