package sandbox

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"mqctl/internal/protocol"
)

const (
	// halfPatience is how old a half message must be before its producer is asked, Java's transactionTimeOut.
	halfPatience = 6 * time.Second
	// maxHalfChecks is how often a producer is asked before the message is given up, Java's transactionCheckMax.
	maxHalfChecks = 15
	// maxImmunity is the longest that a message may ask to be left alone, in seconds: a real broker forgets it after 72 h.
	maxImmunity = 72 * 3600
	// opTag marks the records in the op topic that say which half messages are done.
	opTag = "d"
)

// Properties that only brokers and transactions use.
const (
	propertyCheckTimes    = "TRANSACTION_CHECK_TIMES"
	propertyCheckImmunity = "CHECK_IMMUNITY_TIME_IN_SECONDS"
)

// openHalf is a half message whose outcome is not known.
type openHalf struct {
	offset int64 // physical
	checks int
	due    time.Time // not asked about before
}

// putHalf stores a half message where no consumer looks, with its real place among the properties.
func (b *broker) putHalf(m *protocol.MessageExt, f *facts) *queue {
	p := withRealQueue(m)
	p.Set(protocol.PropertyTransactionID, f.unique)
	m.RawProperties = p.AppendTo(nil)
	m.SysFlag &^= protocol.FlagTransRollback
	q := b.appendHalf(m, f)
	if q != nil {
		patience := halfPatience
		immunity, _ := p.Get(propertyCheckImmunity)
		if s, err := strconv.Atoi(immunity); err == nil {
			patience = max(patience, time.Duration(min(s, maxImmunity))*time.Second)
		}
		b.halves[m.QueueOffset] = &openHalf{offset: m.CommitLogOffset, due: b.sandbox.now().Add(patience)}
		b.armHalves()
	}
	return q
}

func (b *broker) appendHalf(m *protocol.MessageExt, f *facts) *queue {
	m.Topic, m.QueueID = protocol.HalfTopic, 0
	m.StoreTimestamp = b.sandbox.now().UnixMilli()
	return b.append(m, f, 0)
}

// endHalf notes that a half message has its outcome. The record in the op topic is what a real broker leaves behind.
func (b *broker) endHalf(halfOffset int64) {
	delete(b.halves, halfOffset)
	op := protocol.MessageExt{
		Topic: protocol.OpHalfTopic, Body: []byte(strconv.FormatInt(halfOffset, 10) + ","), BornHost: b.host,
		BornTimestamp: b.sandbox.now().UnixMilli(), RawProperties: protocol.Properties{{Name: protocol.PropertyTags, Value: opTag}}.AppendTo(nil),
	}
	b.put(&op, &facts{tags: opTag})
}

// armHalves has open half messages looked at after the check interval.
func (b *broker) armHalves() {
	if b.halfAlarm != nil || !b.up || len(b.halves) == 0 {
		return
	}
	s := b.sandbox
	b.halfAlarm = s.alarms.set(s.now().Add(s.opt.TransactionCheck), func() {
		b.halfAlarm = nil
		if b.up {
			b.checkHalves()
			b.armHalves()
		}
	})
}

// checkHalves asks about every half message that has been open for long enough.
func (b *broker) checkHalves() {
	for _, at := range slices.Sorted(maps.Keys(b.halves)) {
		h := b.halves[at]
		if h.due.After(b.sandbox.now()) {
			continue
		}
		m := b.message(h.offset)
		if m == nil { // dropped for want of memory
			delete(b.halves, at)
			continue
		}
		f := readFacts(string(m.RawProperties))
		if h.checks >= maxHalfChecks {
			b.endHalf(at)
			m.Topic, m.QueueID = protocol.TransCheckMaxTopic, 0
			b.put(m, &f)
			continue
		}
		b.checkHalf(at, h, m, &f)
	}
}

// checkHalf stores a half message anew, so that the queue of open ones moves on, and asks a producer about the new one.
func (b *broker) checkHalf(at int64, h *openHalf, m *protocol.MessageExt, f *facts) {
	p := m.Properties()
	p.Set(propertyCheckTimes, strconv.Itoa(h.checks+1))
	m.RawProperties = p.AppendTo(nil)
	if b.appendHalf(m, f) == nil {
		return
	}
	delete(b.halves, at)
	b.halves[m.QueueOffset] = &openHalf{offset: m.CommitLogOffset, checks: h.checks + 1, due: h.due}
	group, _ := p.Get(protocol.PropertyProducerGroup)
	list := b.producers[group]
	if len(list) == 0 {
		return
	}
	b.turn++
	b.askProducer(list[b.turn%len(list)].peer, m, f)
}
