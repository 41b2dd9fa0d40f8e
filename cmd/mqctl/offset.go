package main

import "github.com/urfave/cli/v2"

func (p *program) offsetCommand() *cli.Command {
	return &cli.Command{
		Name: "offset", Category: categoryAdmin, Usage: "see what queues hold and how far groups are behind",
		UsageText:   "mqctl offset topic orders\tfirst and last offset of each queue\nmqctl offset lag order-service\twhat waits for a group",
		Subcommands: []*cli.Command{p.offsetTopicCommand(), p.offsetLagCommand()},
	}
}
