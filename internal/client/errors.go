package client

import (
	"errors"
	"fmt"

	"mqctl/internal/protocol"
)

// Sentinels of this package; they arrive wrapped with what was attempted.
var (
	ErrNoNameServer   = errors.New("no name server given")
	ErrInvalidName    = errors.New("invalid name")
	ErrNotStarted     = errors.New("not started")
	ErrAlreadyStarted = errors.New("already started")
	ErrClosed         = errors.New("closed")
	ErrGroupInUse     = errors.New("group is already registered with this client")
	ErrTopicNotFound  = errors.New("topic not found")
	ErrGroupNotFound  = errors.New("group not found")
	ErrBrokerNotFound = errors.New("no address is known for the broker")
	ErrNoOffset       = errors.New("the group has no offset here") // the explicit answer 22, not a failure to ask
	ErrNotSubscribed  = errors.New("the topic is not subscribed any more")
	ErrResetPending   = errors.New("the broker holds a reset of this offset that was not pulled yet")
)

// ResponseError is a refusal by a server: it answered, but with another code than success, Java's MQBrokerException.
type ResponseError struct {
	Request protocol.RequestCode
	Addr    string
	Code    protocol.ResponseCode
	Remark  string
}

// Error names the request, the address, the code by name and number, and the server's remark.
func (e *ResponseError) Error() string {
	s := fmt.Sprintf("%s answered %s (%d) to %s", e.Addr, e.Code, int32(e.Code), e.Request)
	if e.Remark != "" {
		s += ": " + e.Remark
	}
	return s
}

// Is lets errors.Is find the topic and group sentinels behind the codes that mean them.
func (e *ResponseError) Is(target error) bool {
	switch target {
	case ErrTopicNotFound:
		return e.Code == protocol.CodeTopicNotExist
	case ErrGroupNotFound:
		return e.Code == protocol.CodeSubscriptionGroupNotExist
	case ErrNoOffset:
		return e.Code == protocol.CodeQueryNotFound && e.Request == protocol.QueryConsumerOffset
	}
	return false
}

// CodeOf is the response code inside err, and whether there is one.
func CodeOf(err error) (protocol.ResponseCode, bool) {
	var re *ResponseError
	if errors.As(err, &re) {
		return re.Code, true
	}
	return 0, false
}
