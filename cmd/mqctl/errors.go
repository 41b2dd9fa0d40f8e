package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/format"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/safetext"
	"mqctl/internal/sandbox"
)

// Exit codes.
const (
	exitOK          = 0
	exitFailed      = 1
	exitUsage       = 2
	exitConnect     = 3
	exitNotFound    = 4
	exitDenied      = 5
	exitPartial     = 6
	exitRefused     = 7
	exitInterrupted = 130
)

// usageError is a command line that cannot be meant.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// exitError is a result with an exit code of its own. Err may be nil: everything that is to be said was said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// partial is a result of which a part is missing.
func partial(format string, args ...any) error {
	return &exitError{exitPartial, fmt.Errorf(format, args...)}
}

// refused is a write that was not confirmed.
func refused(format string, args ...any) error {
	return &exitError{exitRefused, fmt.Errorf(format, args...)}
}

// hintedError adds the next thing to try.
type hintedError struct {
	err  error
	hint string
}

func (e *hintedError) Error() string { return e.err.Error() }
func (e *hintedError) Unwrap() error { return e.err }

// withHint says what to try next; nil stays nil.
func withHint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &hintedError{err, fmt.Sprintf(format, args...)}
}

// outputError is a failure to write the command's own output, which is no failure of a connection.
type outputError struct{ err error }

func (e *outputError) Error() string { return "cannot write the output: " + plainOSError(e.err) }
func (e *outputError) Unwrap() error { return e.err }

// plainOSError leaves out the path, which for standard output is a device.
func plainOSError(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// isBrokenPipe says that whoever read the output has gone, as in `| head`: a quiet end.
func isBrokenPipe(err error) bool {
	var out *outputError
	return errors.As(err, &out) && (errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe))
}

// interruptedError is the cause of a context that a signal ended.
type interruptedError struct{ signal os.Signal }

func (e *interruptedError) Error() string { return "interrupted" }

// exitCode is the exit code of a command that ended with err.
func exitCode(err error) int {
	var exit *exitError
	switch {
	case err == nil, isBrokenPipe(err):
		return exitOK
	case errors.As(err, &exit):
		return exit.code
	case isUsage(err):
		return exitUsage
	}
	if code, ok := client.CodeOf(err); ok && code == protocol.CodeNoPermission {
		return exitDenied
	}
	for _, known := range []struct {
		target error
		code   int
	}{
		{client.ErrTopicNotFound, exitNotFound}, {client.ErrGroupNotFound, exitNotFound}, {admin.ErrMessageNotFound, exitNotFound},
		{admin.ErrClusterNotFound, exitNotFound}, {os.ErrNotExist, exitFailed}, {client.ErrBrokerNotFound, exitNotFound},
		{remoting.ErrDial, exitConnect}, {remoting.ErrTimeout, exitConnect}, {remoting.ErrDisconnected, exitConnect},
		{context.DeadlineExceeded, exitConnect},
	} {
		if errors.Is(err, known.target) {
			return known.code
		}
	}
	return exitFailed
}

func isUsage(err error) bool {
	var usage *usageError
	var input *admin.InputError
	var pos *position.Error
	if errors.As(err, &usage) || errors.As(err, &input) || errors.As(err, &pos) {
		return true
	}
	for _, target := range []error{format.ErrFormat, client.ErrInvalidName, client.ErrNoNameServer, sandbox.ErrOptions,
		sandbox.ErrNotLoopback, sandbox.ErrFaultText} {
		if errors.Is(err, target) {
			return true
		}
	}
	return false
}

// errorText is err on one line, safe to show: remarks of brokers have several lines, the last of which points to a web
// page, and stack traces.
func errorText(err error) string {
	var parts []string
	seen := map[string]bool{}
	for line := range strings.FieldsFuncSeq(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "See http") || strings.HasPrefix(line, "For more information, please visit") || seen[line] {
			continue
		}
		seen[line] = true
		parts = append(parts, strings.TrimSuffix(line, ";"))
	}
	return safetext.Display(strings.Join(parts, "; "))
}

// hintFor is the next thing to try, "" when nothing comes to mind.
func hintFor(err error) string {
	var hinted *hintedError
	if errors.As(err, &hinted) {
		return hinted.hint
	}
	code, _ := client.CodeOf(err)
	switch {
	case errors.Is(err, client.ErrTopicNotFound):
		return "mqctl topic ls lists the topics"
	case errors.Is(err, client.ErrGroupNotFound):
		return "is the name right? No broker has this group"
	case code == protocol.CodeNoPermission:
		return "the server denies this user or topic; ask who runs it"
	case errors.Is(err, protocol.ErrBadFrame) || errors.Is(err, protocol.ErrBadHeader):
		return "does that port belong to a RocketMQ name server or broker? Name servers usually listen on 9876"
	case errors.Is(err, remoting.ErrDial):
		return "is the server up, and is -n right?"
	case errors.Is(err, remoting.ErrDisconnected):
		return "does that port belong to a RocketMQ server? See more with -v"
	case errors.Is(err, remoting.ErrTimeout), errors.Is(err, context.DeadlineExceeded):
		return "a longer --timeout may help"
	}
	return ""
}

// errorDocument is an error under -o json.
type errorDocument struct {
	Error    string  `json:"error"`
	Hint     *string `json:"hint"`
	Code     *string `json:"code"`        // the server's, by name
	Number   *int32  `json:"code_number"` // the same by number
	Remark   *string `json:"remark"`
	Request  *string `json:"request"`
	Addr     *string `json:"addr"`
	ExitCode int     `json:"exit_code"`
}

func newErrorDocument(err error) errorDocument {
	doc := errorDocument{Error: errorText(err), ExitCode: exitCode(err)}
	if hint := hintFor(err); hint != "" {
		doc.Hint = &hint
	}
	var refusal *client.ResponseError
	if errors.As(err, &refusal) {
		code, number, request := refusal.Code.String(), int32(refusal.Code), refusal.Request.String()
		doc.Code, doc.Number, doc.Request = &code, &number, &request
		doc.Remark, doc.Addr = &refusal.Remark, &refusal.Addr
	}
	var net *remoting.Error
	if errors.As(err, &net) && doc.Addr == nil {
		doc.Addr = &net.Addr
	}
	return doc
}

// writeError prints an error: one line, or one JSON object a line.
func writeError(w io.Writer, err error, asJSON bool) {
	if asJSON {
		text, jsonErr := json.Marshal(newErrorDocument(err))
		if jsonErr == nil {
			fmt.Fprintf(w, "%s\n", safetext.EscapeJSON(text))
			return
		}
	}
	text := "mqctl: " + errorText(err)
	if hint := hintFor(err); hint != "" {
		text += "; " + safetext.Display(hint)
	}
	fmt.Fprintln(w, text)
}
