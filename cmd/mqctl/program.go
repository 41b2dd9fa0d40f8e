package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/render"
	"mqctl/internal/safetext"
)

// program is one run of mqctl: its streams, and what the flags of mqctl itself say.
type program struct {
	stdin  io.Reader
	stdout io.Writer // wrapped: its errors are *outputError
	stderr io.Writer

	outTerminal bool // stdout is a terminal
	errTerminal bool
	inTerminal  bool
	width       int // of the terminal, 0 for none
	color       bool

	opt     rootOptions
	command string // its name with those above it, such as "topic ls"; "" is mqctl itself
	log     *slog.Logger
	atEnd   []func() error // run after the command, last first

	// unsaved tells a second signal what is lost; nil or a func() string.
	unsaved atomic.Value
}

func newProgram(stdin io.Reader, stdout, stderr io.Writer) *program {
	p := &program{stdin: stdin, stdout: &outputWriter{stdout}, stderr: stderr, log: slog.New(slog.DiscardHandler)}
	p.inTerminal, p.errTerminal = isTerminal(stdin), isTerminal(stderr)
	if p.outTerminal = isTerminal(stdout); p.outTerminal {
		p.width = terminalWidth(stdout)
		p.color = wantsColor()
	}
	return p
}

// main runs one command line.
func (p *program) main(ctx context.Context, args []string) int {
	err := p.execute(ctx, args)
	for i := len(p.atEnd) - 1; i >= 0; i-- {
		err = errors.Join(err, p.atEnd[i]())
	}
	err = p.outcome(ctx, err)
	code := exitCode(err)
	var exit *exitError
	silent := err == nil || isBrokenPipe(err) || errors.As(err, &exit) && exit.err == nil
	if !silent {
		writeError(p.stderr, err, p.opt.output == "json" || p.opt.output == "jsonl")
	}
	return code
}

// outcome makes an interrupted command's error say so: what it was doing then is no news.
func (p *program) outcome(ctx context.Context, err error) error {
	var exit *exitError
	var signal *interruptedError
	if err == nil || isBrokenPipe(err) || errors.As(err, &exit) || !errors.As(context.Cause(ctx), &signal) {
		return err
	}
	if signal.signal == syscall.SIGTERM {
		return &exitError{exitFailed, errors.New("ended by TERM before it was done")}
	}
	return &exitError{exitInterrupted, errors.New("interrupted before it was done")}
}

// execute finds the command and runs it.
func (p *program) execute(ctx context.Context, args []string) error {
	app := p.newApp()
	if len(args) > 0 && args[0] == completeCommand {
		return p.complete(ctx, app, args[1:])
	}
	line, err := arrange(app, args)
	p.command = strings.Join(line.path, " ")
	if err != nil {
		p.peekOutput(slices.Concat(line.root, args)) // nobody knows which words are flags
		return err
	}
	p.peekOutput(line.root)
	switch {
	case line.wantHelp:
		return writeHelp(p.stdout, app, line, p.width)
	case line.command == nil && len(line.args) == 0 && !wantsRoot(line.root):
		return writeHelp(p.stdout, app, line, p.width)
	case line.command != nil && line.command.Action == nil:
		if err := writeHelp(p.stderr, app, line, p.width); err != nil {
			return err
		}
		return &exitError{code: exitUsage}
	case line.command == nil && len(line.args) > 0:
		return usagef("no command; see mqctl --help")
	}
	return app.RunContext(ctx, append([]string{"mqctl"}, line.line()...))
}

// peekOutput learns from $MQCTL_OUTPUT and from words whether errors are wanted as JSON, for errors that are found before
// the flags are read. The last -o counts.
func (p *program) peekOutput(words []string) {
	output := os.Getenv("MQCTL_OUTPUT")
	for i, word := range words {
		if word == "--" {
			break
		}
		name, value, hasValue := strings.Cut(word, "=")
		if name != "-o" && name != "--output" && name != "-output" {
			continue
		}
		if !hasValue && i+1 < len(words) {
			value = words[i+1]
		}
		output = value
	}
	if output == string(render.FormatJSON) || output == string(render.FormatJSONL) {
		p.opt.output = output
	}
}

// lastWords is what a second signal says was lost.
func (p *program) lastWords() string {
	if f, ok := p.unsaved.Load().(func() string); ok {
		return f()
	}
	return ""
}

// redraw is what goes back over so many lines of the terminal and clears what follows; nothing when they have scrolled away.
func (p *program) redraw(lines int) string {
	out, ok := p.stdout.(*outputWriter)
	if lines == 0 || !ok || lines >= terminalHeight(out.w) {
		return ""
	}
	return fmt.Sprintf("\x1b[%dA\x1b[J", lines)
}

// note tells people something on stderr; --quiet silences it.
func (p *program) note(format string, args ...any) {
	if !p.opt.quiet {
		fmt.Fprintln(p.stderr, safetext.Display(fmt.Sprintf(format, args...)))
	}
}

// renderOptions is how tables look on this stdout.
func (p *program) renderOptions() render.Options {
	return render.Options{Human: p.outTerminal, Width: p.width, Color: p.color}
}

// write prints v in the wanted format; tables are the default.
func (p *program) write(v any) error {
	f := render.FormatTable
	if p.opt.output != "" {
		var err error
		if f, err = render.ParseFormat(p.opt.output); err != nil {
			return usagef("%v", err)
		}
	}
	return render.Write(p.stdout, f, v, p.renderOptions())
}

// pipePoll is how often a command that waits looks whether its output is still read.
const pipePoll = 250 * time.Millisecond

// whileRead is a context that ends with a broken pipe when nobody reads the output any more. stop ends the watching.
func (p *program) whileRead(ctx context.Context) (watched context.Context, stop func()) {
	out, ok := p.stdout.(*outputWriter)
	if !ok || p.outTerminal {
		return ctx, func() {}
	}
	watched, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() { // stop waits for it
		defer close(done)
		tick := time.NewTicker(pipePoll)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-watched.Done():
				return
			}
			if readerGone(out.w) {
				cancel(&outputError{syscall.EPIPE})
			}
		}
	}()
	return watched, func() {
		cancel(nil)
		<-done
	}
}

// withDeadline limits ctx to --timeout.
func (p *program) withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, p.opt.timeout)
}

// outputWriter marks errors of writing as such.
type outputWriter struct{ w io.Writer }

func (o *outputWriter) Write(b []byte) (int, error) {
	n, err := o.w.Write(b)
	if err != nil {
		return n, &outputError{err}
	}
	return n, nil
}

// noArguments refuses arguments for commands that take none.
func noArguments(c *cli.Context) error {
	if c.NArg() > 0 {
		return usagef("%s takes no argument, got %q", commandName(c), c.Args().First())
	}
	return nil
}

// commandName is the command as it is typed.
func commandName(c *cli.Context) string { return c.Command.HelpName }
