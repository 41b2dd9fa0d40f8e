package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/render"
)

func (p *program) topicRouteCommand() *cli.Command {
	return &cli.Command{
		Name: "route", ArgsUsage: "TOPIC", Usage: "show which brokers hold a topic",
		UsageText: "mqctl topic route orders\t\nmqctl topic route orders -o json\twith the order configuration",
		Flags:     []cli.Flag{&cli.StringFlag{Name: "topic", Aliases: []string{"t"}, Usage: "the `TOPIC`, in place of the argument"}},
		Action: func(c *cli.Context) error {
			topic, err := oneName(c, "topic", "TOPIC")
			if err != nil {
				return err
			}
			return p.asking(c, func(ctx context.Context, a *admin.Admin) error {
				route, err := a.Route(ctx, topic)
				if err != nil {
					return err
				}
				read, write := int32(0), int32(0)
				for _, b := range route.Brokers {
					read, write = read+b.ReadQueues, write+b.WriteQueues
				}
				d := render.Document{Data: route, Rows: route.Brokers}
				d.Head = []string{fmt.Sprintf("%s   %s to read, %d to write, on %s", topic, countOf(read, "queue"), write, countOf(len(route.Brokers), "broker"))}
				if route.OrderConf != "" {
					d.Foot = []string{"order configuration of the name server: " + route.OrderConf}
				}
				return p.write(d)
			})
		},
	}
}
