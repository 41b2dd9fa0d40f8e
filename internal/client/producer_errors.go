package client

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// Sentinels of sending; they arrive wrapped with what was attempted.
var (
	// ErrUnknownOutcome marks a failed send whose message may have been stored nevertheless: some attempt may have reached
	// a broker whose answer did not arrive. Without it the message was not stored.
	ErrUnknownOutcome = errors.New("the message may have been stored")
	// ErrInvalidMessage is a message that was not sent because no broker would take it.
	ErrInvalidMessage = errors.New("invalid message")
	// ErrNotWritable is a topic that exists but has no queue to send to: no master is known, or writing is not allowed.
	ErrNotWritable = errors.New("no queue can be written")
)

// SendError is a send that failed: to which queue the last attempt went and what came of it.
type SendError struct {
	Topic    string
	Queue    protocol.MessageQueue // the last attempt's; zero when there was none
	Attempts int                   // requests that were tried; 0 when no broker was found
	Unknown  bool                  // see ErrUnknownOutcome
	Err      error                 // the last attempt's
}

// Error is one line, such as "send to orders/broker-a/3 (2 attempts): 10.0.0.1:10911 answered SYSTEM_BUSY (2) to
// SEND_MESSAGE_V2: too many requests".
func (e *SendError) Error() string {
	where := e.Topic
	if e.Queue.BrokerName != "" {
		where = e.Queue.String()
	}
	if e.Attempts > 1 {
		where += fmt.Sprintf(" (%d attempts)", e.Attempts)
	}
	text := "send to " + where + ": " + e.Err.Error()
	if e.Unknown {
		text += "; " + ErrUnknownOutcome.Error()
	}
	return text
}

// Unwrap is the cause, and ErrUnknownOutcome where that holds.
func (e *SendError) Unwrap() []error {
	if e.Unknown {
		return []error{e.Err, ErrUnknownOutcome}
	}
	return []error{e.Err}
}

// worthRetrying reports whether another attempt may fare better than one that was refused like this. The codes are
// Java's retryResponseCodes, but for refusals that would only be repeated: NO_PERMISSION speaks of one broker only where
// that is not writable, otherwise of the topic or the user, and brokers before 5.0 report access control as SYSTEM_ERROR.
func worthRetrying(code protocol.ResponseCode, remark string) bool {
	switch code {
	case protocol.CodeTopicNotExist, protocol.CodeServiceNotAvailable, protocol.CodeSystemBusy,
		protocol.CodeNoBuyerID, protocol.CodeNotInCurrentUnit, protocol.CodeGoAway:
		return true
	case protocol.CodeSystemError:
		return !strings.Contains(remark, "AclException")
	case protocol.CodeNoPermission:
		return strings.HasPrefix(remark, "the broker[")
	}
	return false
}

// unreachedError is why a broker could not be spoken to before the message was sent.
type unreachedError struct{ err error }

func (e *unreachedError) Error() string { return e.err.Error() }
func (e *unreachedError) Unwrap() error { return e.err }

// judge says what the error of an attempt means for the send: whether another attempt may fare better, and whether the
// message certainly did not leave. ended tells that the caller's context is over.
func judge(err error, ended bool) (retry, unsent bool) {
	var unreached *unreachedError
	switch {
	case errors.Is(err, remoting.ErrDial), errors.As(err, &unreached):
		return !ended, true
	case ended:
		return false, false
	case errors.Is(err, remoting.ErrTimeout), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, remoting.ErrDisconnected), errors.Is(err, remoting.ErrForgotten):
		return true, false
	case errors.Is(err, remoting.ErrClosed):
		return false, false
	}
	return false, true // it could not be encoded or signed
}
