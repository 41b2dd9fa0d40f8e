package main

import (
	"context"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/client"
)

func (p *program) topicCommand() *cli.Command {
	return &cli.Command{
		Name: "topic", Category: categoryAdmin, Usage: "list, create and locate topics",
		UsageText:   "mqctl topic ls\tall topics\nmqctl topic create orders --queues 8\ta new topic, after a question",
		Subcommands: []*cli.Command{p.topicLsCommand(), p.topicRouteCommand(), p.topicCreateCommand()},
	}
}

// asking runs a question against the cluster under --timeout, again and again under --watch.
func (p *program) asking(c *cli.Context, ask func(ctx context.Context, a *admin.Admin) error) error {
	conn, err := p.connect(c.Context)
	if err != nil {
		return err
	}
	a := admin.New(conn)
	return p.watch(c, func() error {
		ctx, cancel := p.withDeadline(c.Context)
		defer cancel()
		return ask(ctx, a)
	})
}

// oneName is the single argument of a command, or what -t or -g says in its place.
func oneName(c *cli.Context, flag, what string) (string, error) {
	names := c.Args().Slice()
	if value := c.String(flag); value != "" {
		names = append(names, value)
	}
	if len(names) != 1 {
		return "", usagef("%s wants one %s, got %d", commandName(c), what, len(names))
	}
	return names[0], checkName(what, names[0])
}

// checkName refuses what is no name of a topic or group before anything is asked.
func checkName(what, name string) error {
	if len(name) > 0 && name[0] == '-' {
		return usagef("%s %q begins with -; did a flag lose its value?", what, name)
	}
	validate := client.ValidateTopic
	if what == "GROUP" {
		validate = client.ValidateGroup
	}
	if err := validate(name); err != nil {
		return usagef("%v", err)
	}
	return nil
}

// partOf is exit code 6 with the causes, when something is missing from an answer.
func partOf(isPartial bool, failures []error) error {
	if !isPartial {
		return nil
	}
	if len(failures) == 0 {
		return partial("a part of the answer is missing")
	}
	if more := len(failures) - 1; more > 0 {
		return partial("a part of the answer is missing: %w (and %d more causes)", failures[0], more)
	}
	return partial("a part of the answer is missing: %w", failures[0])
}
