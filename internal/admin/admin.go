// Package admin asks a cluster questions and changes it, with requests sent through a client.Client: what `mqctl topic`,
// `group`, `cluster`, `offset` and `message` do. Each file holds one concept.
//
// Answers are plain structs for package render. A question that goes to several brokers asks them side by side; what one
// of them does not answer becomes rows with an Error, Partial is set, and the error of the function stays nil. A change
// is planned first: a Plan function reads only, the Apply function of its result writes.
//
// No read creates anything: requests that let a broker create groups or topics on the way (352, pulls in a user's group)
// are not used here.
package admin

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// Sentinels of this package; those of package client arrive as well.
var (
	ErrMessageNotFound = errors.New("message not found")
	ErrClusterNotFound = errors.New("cluster not found")
	// ErrNotTaken says that a broker answered success and kept another setting than it was sent.
	ErrNotTaken = errors.New("the broker took the topic, but not all of it")
	// ErrNotVisible says that a topic was stored by its brokers, but no name server has shown it in time.
	ErrNotVisible = errors.New("the name server does not show it yet")
)

// Admin asks and changes one cluster. It has no state of its own and may be used by several goroutines at once.
type Admin struct {
	client *client.Client
}

// New makes an Admin that sends its requests through c, which need not be started and stays the caller's to close.
func New(c *client.Client) *Admin { return &Admin{client: c} }

// InputError is an argument that cannot be meant: a usage error. Reason says what to write instead.
type InputError struct {
	What   string // the kind of argument, such as "queue"
	Input  string // as given
	Reason string
}

// Error is one line.
func (e *InputError) Error() string { return fmt.Sprintf("%s %q: %s", e.What, e.Input, e.Reason) }

// nameServer sends one request to whichever name server answers.
func (a *Admin) nameServer(ctx context.Context, code protocol.RequestCode) (*protocol.Command, error) {
	resp, err := a.client.CallNameServer(ctx, func() *protocol.Command { return protocol.NewBodyRequest(code, nil) })
	if err != nil {
		return nil, oneLine(err)
	}
	return resp, nil
}

// fetchRoute is the route of a topic as the name servers know it now.
func (a *Admin) fetchRoute(ctx context.Context, topic string) (*client.TopicRoute, error) {
	if err := client.ValidateTopic(topic); err != nil {
		return nil, err
	}
	route, err := a.client.FetchRoute(ctx, topic)
	if err != nil {
		return nil, oneLine(err)
	}
	return route, nil
}

// flatError is an error whose text was made one line.
type flatError struct {
	text string
	err  error
}

func (e *flatError) Error() string { return e.text }
func (e *flatError) Unwrap() error { return e.err }

// oneLine makes the text of err one line: remarks of brokers have several, of which the last points to a web page.
func oneLine(err error) error {
	text := err.Error()
	if !strings.ContainsAny(text, "\r\n") {
		return err
	}
	var parts []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "See http") {
			parts = append(parts, line)
		}
	}
	return &flatError{text: strings.Join(parts, "; "), err: err}
}

// failures collects what went wrong in parts of a question, each cause once: a broker that is away fails many rows.
type failures struct {
	errs []error
	seen map[string]bool
}

func (f *failures) add(err error) {
	text := err.Error()
	if f.seen[text] {
		return
	}
	if f.seen == nil {
		f.seen = map[string]bool{}
	}
	f.seen[text] = true
	f.errs = append(f.errs, err)
}

// isCode reports whether err is the answer with the given code.
func isCode(err error, code protocol.ResponseCode) bool {
	got, ok := client.CodeOf(err)
	return ok && got == code
}

// isRefusal reports whether err is an answer, rather than the lack of one.
func isRefusal(err error) bool {
	_, ok := client.CodeOf(err)
	return ok
}
