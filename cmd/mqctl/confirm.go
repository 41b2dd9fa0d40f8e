package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"
)

// confirmFlags are the flags of every command that writes.
func confirmFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "go on without asking"},
		&cli.BoolFlag{Name: "dry-run", Usage: "print the plan and change nothing"},
	}
}

// confirm decides whether a plan that was shown is carried out. kind and name are what is to be typed.
func (p *program) confirm(c *cli.Context, kind, name string) (goOn bool, err error) {
	switch {
	case c.Bool("dry-run"):
		p.note("dry run: nothing was changed")
		return false, nil
	case c.Bool("yes"):
		return true, nil
	}
	return p.askName(c.Context, kind, name)
}

// askName asks for a name to be typed.
func (p *program) askName(ctx context.Context, kind, name string) (bool, error) {
	if !p.inTerminal || !p.errTerminal {
		return false, refused("nothing was changed: off a terminal this needs -y")
	}
	fmt.Fprintf(p.stderr, "\nType the %s name to go on, Ctrl-C to leave all as it is: ", kind)
	typed, err := p.readLine(ctx)
	if err != nil {
		return false, err
	}
	if typed != name {
		return false, refused("nothing was changed: %q is not %s", typed, name)
	}
	return true, nil
}

// readLine reads a line of stdin, as long as ctx lasts.
func (p *program) readLine(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // a read of a terminal cannot be called back: it ends with the process
		text, err := bufio.NewReader(p.stdin).ReadString('\n')
		answers <- answer{text, err}
	}()
	select {
	case a := <-answers:
		if a.err != nil && a.err != io.EOF {
			return "", a.err
		}
		return strings.TrimSpace(a.text), nil
	case <-ctx.Done():
		fmt.Fprintln(p.stderr)
		return "", context.Cause(ctx)
	}
}
