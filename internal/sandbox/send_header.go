package sandbox

import (
	"fmt"
	"strconv"
	"strings"

	"mqctl/internal/protocol"
)

// sendHeader is the header of every kind of send. It is read field by field, without reflection and under both sets of
// names at once, since this is what a sandbox does most.
type sendHeader struct {
	group         string
	topic         string
	template      string // defaultTopic
	queues        int32  // defaultTopicQueueNums
	queueID       int32
	sysFlag       protocol.SysFlag
	born          int64
	flag          int32
	properties    string
	reconsume     int32
	maxReconsume  int32
	hasMax        bool // maxReconsume was given
	batch         bool
	present       uint16 // bit i: the field with letter 'a'+i was there
	bad           string // the first field whose number does not parse
	seenBadNumber bool
}

// fieldLetters maps the names of SEND_MESSAGE to the letters of SEND_MESSAGE_V2.
var fieldLetters = map[string]byte{
	"producerGroup": 'a', "topic": 'b', "defaultTopic": 'c', "defaultTopicQueueNums": 'd', "queueId": 'e', "sysFlag": 'f',
	"bornTimestamp": 'g', "flag": 'h', "properties": 'i', "reconsumeTimes": 'j', "maxReconsumeTimes": 'l', "batch": 'm',
}

// requiredLetters are the fields without which a real broker runs into a NullPointerException.
const requiredLetters = "befgh"

// readSendHeader reads a header in either form.
func readSendHeader(ext protocol.ExtFields) (sendHeader, error) {
	var h sendHeader
	for i := range ext {
		key := ext[i].Key
		if len(key) == 1 {
			h.set(key[0], ext[i].Value)
		} else if letter := fieldLetters[key]; letter != 0 {
			h.set(letter, ext[i].Value)
		}
	}
	if h.seenBadNumber {
		return h, fmt.Errorf("field %q is no number", h.bad)
	}
	for _, letter := range requiredLetters {
		if h.present&(1<<(letter-'a')) == 0 {
			return h, fmt.Errorf("field %q is missing", letter)
		}
	}
	return h, nil
}

func (h *sendHeader) set(letter byte, value string) {
	if letter >= 'a' && letter <= 'm' {
		h.present |= 1 << (letter - 'a')
	}
	switch letter {
	case 'a':
		h.group = value
	case 'b':
		h.topic = value
	case 'c':
		h.template = value
	case 'd':
		h.queues = int32(h.number(letter, value, 32))
	case 'e':
		h.queueID = int32(h.number(letter, value, 32))
	case 'f':
		h.sysFlag = protocol.SysFlag(h.number(letter, value, 32))
	case 'g':
		h.born = h.number(letter, value, 64)
	case 'h':
		h.flag = int32(h.number(letter, value, 32))
	case 'i':
		h.properties = value
	case 'j':
		h.reconsume = int32(h.number(letter, value, 32))
	case 'l':
		h.maxReconsume, h.hasMax = int32(h.number(letter, value, 32)), true
	case 'm':
		h.batch = strings.EqualFold(value, "true")
	}
}

func (h *sendHeader) number(letter byte, value string, bits int) int64 {
	n, err := strconv.ParseInt(value, 10, bits)
	if err != nil && !h.seenBadNumber {
		h.bad, h.seenBadNumber = string(letter), true
	}
	return n
}
