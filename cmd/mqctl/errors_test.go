package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/format"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/sandbox"
)

func refusal(code protocol.ResponseCode, remark string) error {
	return &client.ResponseError{Request: protocol.SendMessageV2, Addr: "127.0.0.1:10911", Code: code, Remark: remark}
}

func TestExitCodes(t *testing.T) {
	_, badPosition := position.Parse("-5", timeZero, nil)
	cases := []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{usagef("x"), 2},
		{fmt.Errorf("wrapped: %w", usagef("x")), 2},
		{&admin.InputError{}, 2}, {badPosition, 2}, {format.ErrFormat, 2}, {client.ErrInvalidName, 2}, {sandbox.ErrOptions, 2}, {sandbox.ErrFaultText, 2},
		{&remoting.Error{Addr: "a", Op: "x", Err: remoting.ErrDial}, 3},
		{&remoting.Error{Addr: "a", Op: "x", Err: remoting.ErrTimeout}, 3},
		{&remoting.Error{Addr: "a", Op: "x", Err: remoting.ErrDisconnected}, 3},
		{context.DeadlineExceeded, 3},
		{client.ErrTopicNotFound, 4}, {refusal(protocol.CodeTopicNotExist, ""), 4}, {client.ErrGroupNotFound, 4}, {admin.ErrMessageNotFound, 4},
		{admin.ErrClusterNotFound, 4}, {client.ErrBrokerNotFound, 4},
		{refusal(protocol.CodeNoPermission, ""), 5},
		{partial("x"), 6}, {partial("x: %w", client.ErrTopicNotFound), 6},
		{refused("x"), 7},
		{refusal(protocol.CodeMessageIllegal, ""), 1},
		{&exitError{code: exitInterrupted}, 130},
		{&outputError{syscall.EPIPE}, 0},
		{&outputError{&os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}}, 0},
		{&outputError{syscall.ENOSPC}, 1},
		{&net.OpError{Op: "write", Err: syscall.EPIPE}, 1}, // of a connection
		{withHint(client.ErrTopicNotFound, "x"), 4},
		{&os.PathError{Op: "open", Path: "x", Err: os.ErrNotExist}, 1},
	}
	for _, c := range cases {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

func TestErrorsAreOneSafeLine(t *testing.T) {
	err := refusal(protocol.CodeSystemError, "first\x1b[2J line\r\nSee https://example.org for further details.\n\n  second line\nfirst\x1b[2J line")
	var out bytes.Buffer
	writeError(&out, withHint(err, "try\nthat"), false)
	want := "mqctl: 127.0.0.1:10911 answered SYSTEM_ERROR (1) to SEND_MESSAGE_V2: first\\x1b[2J line; second line; first\\x1b[2J line; try\\nthat\n"
	if out.String() != want {
		t.Errorf("got  %q\nwant %q", out.String(), want)
	}
}

func TestErrorsAsJSON(t *testing.T) {
	var out bytes.Buffer
	writeError(&out, fmt.Errorf("send: %w", refusal(protocol.CodeNoPermission, "no\u202e")), true)
	if strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), "\u202e") {
		t.Errorf("%q", out.String())
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"code": "NO_PERMISSION", "code_number": 16.0, "remark": "no\u202e", "request": "SEND_MESSAGE_V2", "addr": "127.0.0.1:10911", "exit_code": 5.0,
	} {
		if doc[name] != want {
			t.Errorf("%s is %v, want %v", name, doc[name], want)
		}
	}
	if doc["hint"] == nil || doc["error"] == "" {
		t.Errorf("%v", doc)
	}
}

func TestEveryKindOfErrorSaysWhatToTry(t *testing.T) {
	for _, err := range []error{
		client.ErrTopicNotFound, client.ErrGroupNotFound, refusal(protocol.CodeNoPermission, ""), protocol.ErrBadFrame,
		&remoting.Error{Err: remoting.ErrDial}, &remoting.Error{Err: remoting.ErrDisconnected}, &remoting.Error{Err: remoting.ErrTimeout},
	} {
		if hintFor(err) == "" {
			t.Errorf("%v: no hint", err)
		}
	}
}

func TestLogsAreSafe(t *testing.T) {
	t.Setenv("NO_COLOR", "1")
	var out bytes.Buffer
	log := newLogger(&out, false, rootOptions{verbose: 2, logFormat: "text"})
	evil := "a\x1b]0;x\x07\nb"
	log.With("with", evil).WithGroup("g").Info("message", "text", evil, "err", errors.New(evil), "any", []string{evil}, slog.Group("in", "x", evil), "n", 5)
	log = newLogger(&out, true, rootOptions{verbose: 2, logFormat: "text"})
	log.Warn("message", "text", evil)
	log = newLogger(&out, false, rootOptions{logFormat: "json"})
	log.Warn("message", "text", evil)
	log.Info("not shown")
	if text := out.String(); strings.ContainsAny(text, "\x1b\x07") || strings.Count(text, "\n") != 3 || strings.Contains(text, "not shown") {
		t.Errorf("%q", text)
	}
	out.Reset()
	newLogger(&out, false, rootOptions{quiet: true}).Error("x")
	if out.Len() > 0 {
		t.Errorf("quiet: %q", out.String())
	}
}
