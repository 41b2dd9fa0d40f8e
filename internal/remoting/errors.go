package remoting

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"mqctl/internal/protocol"
)

// Errors that callers tell apart with errors.Is; each reaches them inside an *Error.
var (
	// ErrClosed is what everything returns once this side has closed the pool, the server or the connection.
	ErrClosed = errors.New("closed on this side")
	// ErrForgotten ends the requests of a connection that Pool.Forget closed.
	ErrForgotten = errors.New("the connection was given up because nothing names its address any more")
	// ErrTimeout says that the time limit of a request passed; the request may have been carried out. Where the limit was a
	// context's, the error is context.DeadlineExceeded as well.
	ErrTimeout = errors.New("no answer within the time limit")
	// ErrDial says that no connection could be made, so the request did not leave.
	ErrDial = errors.New("cannot connect")
	// ErrDisconnected says that the connection was lost; a request that was under way may have been carried out.
	ErrDisconnected = errors.New("connection lost")
	// ErrTooLarge refuses a frame that the peer would answer by closing the connection.
	ErrTooLarge = errors.New("frame too large")
)

// Error is any failure of this package: which address, what was attempted, and why it failed.
type Error struct {
	Addr string // as it was dialled, or the peer's on the server side
	Op   string // the request's Java constant, "connect" or "send"
	Err  error
}

// Error reads like "PULL_MESSAGE to 127.0.0.1:10911: connection lost: the peer closed it".
func (e *Error) Error() string { return e.Op + " to " + e.Addr + ": " + e.Err.Error() }

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// limitError is ErrTimeout with the time that was waited; deadline marks limits that a context set.
type limitError struct {
	waited   time.Duration
	deadline bool
	while    string // what was going on, "" for waiting for the answer
}

func (e *limitError) Error() string {
	text := fmt.Sprintf("no answer in %v", e.waited.Round(time.Millisecond))
	if e.while != "" {
		text += " (" + e.while + ")"
	}
	return text
}

func (e *limitError) Is(target error) bool {
	return target == ErrTimeout || e.deadline && target == context.DeadlineExceeded
}

// endOfContext explains a context that ended while a request waited.
func endOfContext(ctx context.Context, waited time.Duration, while string) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return &limitError{waited: waited, deadline: true, while: while}
	}
	return context.Cause(ctx)
}

func lost(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDisconnected}, args...)...)
}

// dialError puts the usual causes in words: net.OpError repeats the address and names system calls.
func dialError(err error, waited time.Duration) error {
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: the peer refused the connection: %w", ErrDial, syscall.ECONNREFUSED)
	case errors.As(err, &dns):
		return fmt.Errorf("%w: no address for the host name %q: %w", ErrDial, dns.Name, err)
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: the peer did not answer in %v: %w", ErrDial, waited.Round(time.Millisecond), err)
	}
	return fmt.Errorf("%w: %w", ErrDial, err)
}

// readError explains why the reader ended. have of want bytes of a frame had arrived; want 0 means not even its length.
func readError(err error, have, want int) error {
	switch {
	case errors.Is(err, protocol.ErrBadFrame), errors.Is(err, protocol.ErrBadHeader):
		return lost("%w", err)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.ErrClosedPipe):
		return lost("the peer closed it%w", midFrame(have, want))
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return lost("the peer reset it%w", midFrame(have, want))
	}
	return lost("reading: %w", err)
}

// midFrame is the end of a sentence about a connection that ended. It wraps io.ErrUnexpectedEOF or io.EOF.
func midFrame(have, want int) error {
	switch {
	case have == 0:
		return &plainError{"", io.EOF}
	case want == 0:
		return &plainError{fmt.Sprintf(" in the middle of a frame, after %d bytes", have), io.ErrUnexpectedEOF}
	}
	return &plainError{fmt.Sprintf(" in the middle of a frame, after %d of %d bytes", have, want), io.ErrUnexpectedEOF}
}

// plainError is err in other words.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

func writeError(err error) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe), errors.Is(err, syscall.EPIPE):
		return lost("the peer closed it")
	case errors.Is(err, syscall.ECONNRESET):
		return lost("the peer reset it")
	case errors.Is(err, os.ErrDeadlineExceeded):
		return lost("the peer stopped reading")
	}
	return lost("writing: %w", err)
}
