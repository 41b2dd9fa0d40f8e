package main

import (
	"context"
	"regexp"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
)

func (p *program) topicLsCommand() *cli.Command {
	return &cli.Command{
		Name: "ls", Aliases: []string{"list"}, Usage: "list topics",
		UsageText: "mqctl topic ls\twhat users have made\nmqctl topic ls --retry --system -o wide\teverything\n" +
			"mqctl topic ls --regex '^order' -o jsonl\tsome, for programs",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "regex", Usage: "only names that match this regular `EXPRESSION`"},
			&cli.BoolFlag{Name: "retry", Usage: "also retry and dead-letter topics of groups"},
			&cli.BoolFlag{Name: "system", Usage: "also topics that brokers keep for themselves"},
		},
		Action: p.topicLsAction,
	}
}

func (p *program) topicLsAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	opt := admin.TopicOptions{System: c.Bool("system"), Retry: c.Bool("retry")}
	if text := c.String("regex"); text != "" {
		re, err := regexp.Compile(text)
		if err != nil {
			return usagef("--regex: %v", err)
		}
		opt.Regex = re
	}
	return p.asking(c, func(ctx context.Context, a *admin.Admin) error {
		topics, err := a.Topics(ctx, opt)
		if err != nil {
			return err
		}
		return p.write(topics)
	})
}
