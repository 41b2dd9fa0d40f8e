package client

import (
	"fmt"
	"strconv"
	"strings"

	"mqctl/internal/protocol"
)

// SendStatus says how safely a message was stored, Java's SendStatus. Every value means that it was stored.
type SendStatus uint8

// The statuses of a send. Other than SendOK they appear only on brokers that flush or replicate before they answer.
const (
	SendOK            SendStatus = iota
	FlushDiskTimeout             // not yet flushed to disk when the broker answered
	FlushSlaveTimeout            // not yet copied to a slave when the broker answered
	SlaveNotAvailable            // there is no slave to copy it to
)

// String is Java's name of the status.
func (s SendStatus) String() string {
	return [...]string{"SEND_OK", "FLUSH_DISK_TIMEOUT", "FLUSH_SLAVE_TIMEOUT", "SLAVE_NOT_AVAILABLE"}[s&3]
}

// sendStatusOf is the status that a response code means; ok is false for a refusal.
func sendStatusOf(code protocol.ResponseCode) (s SendStatus, ok bool) {
	switch code {
	case protocol.CodeSuccess:
		return SendOK, true
	case protocol.CodeFlushDiskTimeout:
		return FlushDiskTimeout, true
	case protocol.CodeFlushSlaveTimeout:
		return FlushSlaveTimeout, true
	case protocol.CodeSlaveNotAvailable:
		return SlaveNotAvailable, true
	}
	return 0, false
}

// SendResult is where a message was stored, Java's SendResult.
type SendResult struct {
	Status          SendStatus
	MessageQueue    protocol.MessageQueue
	Offset          int64  // in the queue; of a delayed message in the broker's internal queue
	MessageID       string // the unique id that consumers see, property UNIQ_KEY
	OffsetMessageID string // the broker's id: where the message is stored
	TransactionID   string
	RecallHandle    string // of a timer message, since 5.3.2
	Attempts        int    // how many it took; after more than one the message may exist twice
}

// read fills r from the header of a successful answer. It walks the fields by hand: this runs once a message.
func (r *SendResult) read(ext protocol.ExtFields) error {
	var seen uint8
	for i := range ext {
		value := ext[i].Value
		switch ext[i].Key {
		case "msgId":
			r.OffsetMessageID = value
			seen |= 1
		case "queueId":
			n, err := strconv.ParseInt(value, 10, 32)
			if err != nil {
				return fmt.Errorf("%w: queueId %q is no number", protocol.ErrBadHeader, value)
			}
			r.MessageQueue.QueueID = int32(n)
			seen |= 2
		case "queueOffset":
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return fmt.Errorf("%w: queueOffset %q is no number", protocol.ErrBadHeader, value)
			}
			r.Offset = n
			seen |= 4
		case "transactionId":
			r.TransactionID = value
		case "recallHandle":
			r.RecallHandle = value
		}
	}
	if seen != 7 {
		return fmt.Errorf("%w: msgId, queueId and queueOffset are wanted", protocol.ErrMissingField)
	}
	return nil
}

// spread gives each part of a batch its own result: offsets follow each other, and the offset ids come in one list. A
// broker that stored the parts as one inner batch names one id for all of them.
func (r *SendResult) spread(parts []SendResult) {
	ids, one := r.OffsetMessageID, !strings.Contains(r.OffsetMessageID, ",")
	for i := range parts {
		id := parts[i].MessageID
		parts[i] = *r
		parts[i].MessageID = id
		parts[i].Offset += int64(i)
		if !one {
			parts[i].OffsetMessageID, ids, _ = strings.Cut(ids, ",")
		}
	}
}
