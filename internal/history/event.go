// Package history records what happened in a run, one JSON line an event, and checks the record against the promises of
// a consumer: nothing lost, nothing made up, order, safe and rising commits, explained repetitions.
//
// A history comes from several places: producers write sends, consumers write deliveries and their results, and whoever
// sees the broker (the sandbox can be watched) writes what was stored and committed. Their files are merged by time.
package history

import (
	"errors"
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"
)

// Type says what an event is about.
type Type string

// The types of events, with the fields that matter besides At.
const (
	TypeMeta Type = "meta" // Meta: what kind of run this is; best the first line of a file

	TypeSend    Type = "send"     // Producer, Seq, Key, Hash: a producer begins to send a message
	TypeSendAck Type = "send_ack" // Producer, Seq, Queue, Offset, MsgID: stored. By says who knows: broker or client; a client also has a Result

	TypeOwn      Type = "own"       // Group, Member, Queue, Epoch, Offset: a member begins to read a queue from an offset
	TypeDrop     Type = "drop"      // Group, Member, Queue, Epoch: it gives the queue up; results that come later count for nothing
	TypeLock     Type = "lock"      // Group, Member, Queue: the broker granted a queue lock, Result refused: it did not
	TypeUnlock   Type = "unlock"    // Group, Member, Queue: the member gave its lock back
	TypeLockLost Type = "lock_lost" // Group, Member, Queue: the broker forgot the lock

	TypeDeliver  Type = "deliver"   // Group, Member, Queue, Epoch, Offset, Producer, Seq, Hash, Batch, Attempt: a handler begins
	TypeDone     Type = "done"      // Group, Member, Queue, Epoch, Offset, Batch, Result: the handler ended
	TypeSentBack Type = "sent_back" // Group, Producer, Seq, Attempt, Queue, Offset: the broker stored a copy to be delivered later
	TypeDead     Type = "dead"      // as TypeSentBack, but the copy is a dead letter

	TypeCommit Type = "commit" // Group, Queue, Offset, By, Member: a group's offset was stored
	TypeReset  Type = "reset"  // Group, Queue, Offset: somebody set the group's offset on purpose

	TypeFault    Type = "fault"    // Kind, From, To, Hits: something was broken for a while, and how often that was felt; without To it only begins
	TypeCrash    Type = "crash"    // Member: it ended without a word
	TypeStopping Type = "stopping" // Member: it was told to stop
	TypeStop     Type = "stop"     // Member, Clean: it has stopped; clean says that it reported no error
)

// What Result can be.
const (
	ResultSuccess = "success" // done
	ResultLater   = "later"   // done: deliver it again
	ResultLeave   = "leave"   // done: neither acknowledged nor handed back
	ResultRefused = "refused" // lock
	ResultOK      = "ok"      // send_ack by the client: stored for sure
	ResultUnknown = "unknown" // send_ack by the client: it may have been stored
	ResultFailed  = "failed"  // send_ack by the client: not stored for sure
)

// What By can be.
const (
	ByBroker = "broker" // send_ack: seen where it was stored
	ByClient = "client" // send_ack, commit: what a client was told
	ByAcked  = "acked"  // commit: a request of its own, with an answer
	ByOneway = "oneway" // commit: a request without an answer
	ByPull   = "pull"   // commit: carried by a pull
	ByTool   = "tool"   // commit: set from outside of the group, after a reset
)

// Event is one line of a history. Fields that a type does not use are left out.
type Event struct {
	At       int64  `json:"at"` // ns since 1970; Writer sets it
	Type     Type   `json:"type"`
	Group    string `json:"group,omitempty"`
	Member   string `json:"member,omitempty"` // one incarnation of a consumer: another name after each start
	Queue    string `json:"queue,omitempty"`  // topic/broker/number
	Epoch    int64  `json:"epoch,omitempty"`
	Offset   int64  `json:"offset,omitempty"`
	Producer string `json:"producer,omitempty"`
	Seq      int64  `json:"seq,omitempty"`
	Key      string `json:"key,omitempty"`
	Hash     Hash   `json:"hash,omitempty"`
	Batch    int64  `json:"batch,omitempty"`   // messages that one call of a handler got share it
	Attempt  int32  `json:"attempt,omitempty"` // how often the message was delivered before, as the broker counts
	Result   string `json:"result,omitempty"`
	By       string `json:"by,omitempty"`
	MsgID    string `json:"msg_id,omitempty"`
	Kind     string `json:"kind,omitempty"`
	From     int64  `json:"from,omitempty"` // ns since 1970
	To       int64  `json:"to,omitempty"`   // ns since 1970
	Hits     int64  `json:"hits,omitempty"`
	Clean    bool   `json:"clean,omitempty"`
	Meta     *Meta  `json:"meta,omitempty"`
}

// Modes of a group.
const (
	ModeConcurrent = "concurrent"
	ModeOrderly    = "orderly"
)

// Meta describes a run, or one group of it. Several of them add up.
type Meta struct {
	Group  string   `json:"group,omitempty"`  // a consumer group; "" says nothing about groups
	Mode   string   `json:"mode,omitempty"`   // of the group; default ModeConcurrent
	Topics []string `json:"topics,omitempty"` // that the group must consume; default: every topic it has a queue of
	// FromFirst: the group began with the oldest message, so nothing stored before it came may be missing.
	FromFirst bool `json:"from_first,omitempty"`
	// Attempts after which a message becomes a dead letter, the first one counted; 0 is not known.
	Attempts int32 `json:"attempts,omitempty"`
	// Observed: what the broker stored and committed is in the history as the broker saw it.
	Observed bool `json:"observed,omitempty"`
	// MinRate is how many messages a second must at least have been consumed, from the first send to the last result.
	MinRate float64 `json:"min_rate,omitempty"`
	// Faults that were planned, by Kind; each must be in the history and have been felt.
	Faults []string `json:"faults,omitempty"`
	// SlackMS is how long, in milliseconds, events of one moment may be apart because several goroutines or processes
	// wrote them. Default 0.
	SlackMS int64 `json:"slack_ms,omitempty"`
}

// Hash is a fingerprint of a body; in JSON 16 hexadecimal digits.
type Hash uint64

// HashOf is the fingerprint of body, FNV-1a; it is never 0.
func HashOf(body []byte) Hash {
	h := fnv.New64a()
	_, _ = h.Write(body) // it cannot fail
	if sum := Hash(h.Sum64()); sum != 0 {
		return sum
	}
	return 1
}

// MarshalText is 16 hexadecimal digits.
func (h Hash) MarshalText() ([]byte, error) { return h.append(nil), nil }

func (h Hash) append(dst []byte) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[h>>shift&15])
	}
	return dst
}

// UnmarshalText reads up to 16 hexadecimal digits.
func (h *Hash) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	if err != nil {
		return fmt.Errorf("hash %q: %w", text, err)
	}
	*h = Hash(n)
	return nil
}

// Properties that carry a message's identity from producer to consumer.
const (
	PropertyProducer = "MQCTL_PRODUCER"
	PropertySeq      = "MQCTL_SEQ"
)

// topicOf is the topic of a queue in its text form.
func topicOf(queue string) string {
	topic, _, _ := strings.Cut(queue, "/")
	return topic
}

// ErrEvent is wrapped with what is wrong with an event.
var ErrEvent = errors.New("bad event")

// fields of an event, for the table of what each type needs.
type fields uint16

const (
	needQueue fields = 1 << iota
	needOffset
	needGroup
	needMember
	needProducer
	needSeq
	needKind
	needResult
	needEpoch
	needMeta
)

var needs = map[Type]fields{
	TypeMeta:     needMeta,
	TypeSend:     needProducer | needSeq,
	TypeSendAck:  0, // Producer and Seq of a client's, Queue and Offset of a broker's
	TypeOwn:      needGroup | needMember | needQueue | needOffset | needEpoch,
	TypeDrop:     needGroup | needMember | needQueue | needEpoch,
	TypeLock:     needGroup | needMember | needQueue,
	TypeUnlock:   needGroup | needMember | needQueue,
	TypeLockLost: needGroup | needMember | needQueue,
	TypeDeliver:  needGroup | needMember | needQueue | needOffset | needEpoch,
	TypeDone:     needGroup | needMember | needQueue | needOffset | needResult,
	TypeSentBack: needGroup,
	TypeDead:     needGroup,
	TypeCommit:   needGroup | needQueue | needOffset,
	TypeReset:    needGroup | needQueue | needOffset,
	TypeFault:    needKind,
	TypeCrash:    needMember,
	TypeStopping: needMember,
	TypeStop:     needMember,
}

// validate finds out whether e has what its type needs. Zero is a number like others.
func (e *Event) validate() error {
	need, known := needs[e.Type]
	if !known {
		return fmt.Errorf("%w: unknown type %q", ErrEvent, e.Type)
	}
	for _, x := range []struct {
		field fields
		name  string
		has   bool
	}{
		{needMeta, "meta", e.Meta != nil}, {needProducer, "producer", e.Producer != ""}, {needGroup, "group", e.Group != ""},
		{needMember, "member", e.Member != ""}, {needQueue, "queue", e.Queue != ""}, {needKind, "kind", e.Kind != ""},
		{needResult, "result", e.Result != ""},
	} {
		if need&x.field != 0 && !x.has {
			return fmt.Errorf("%w: %s without %s", ErrEvent, e.Type, x.name)
		}
	}
	return nil
}
