package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
)

// watch runs a question once, or every --watch: on a terminal in place of the answer before, elsewhere one document a
// tick. A failure does not end a watch: whatever it is may pass.
func (p *program) watch(c *cli.Context, ask func() error) error {
	if p.opt.watch == 0 {
		return ask()
	}
	tick := time.NewTicker(p.opt.watch)
	defer tick.Stop()
	for {
		if p.outTerminal {
			_, err := fmt.Fprintf(p.stdout, "\x1b[H\x1b[2Jevery %s: %s   %s\n\n", trimDuration(p.opt.watch),
				strings.Join(append([]string{commandName(c)}, c.Args().Slice()...), " "), time.Now().Format(time.TimeOnly))
			if err != nil {
				return err
			}
		}
		if err := ask(); err != nil {
			if isBrokenPipe(err) || isUsage(err) || context.Cause(c.Context) != nil {
				return watchEnd(c.Context, err)
			}
			writeError(p.stderr, err, p.opt.output == "json" || p.opt.output == "jsonl")
		}
		select {
		case <-tick.C:
		case <-c.Context.Done():
			return stopped(c.Context)
		}
	}
}

func watchEnd(ctx context.Context, err error) error {
	if context.Cause(ctx) != nil {
		return stopped(ctx)
	}
	return err
}
