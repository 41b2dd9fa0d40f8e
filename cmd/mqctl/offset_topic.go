package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/render"
)

// topicOffsetRow is a queue in the table of offset topic.
type topicOffsetRow struct {
	Queue      string     `json:"queue" col:"QUEUE"`
	Min        *int64     `json:"min" col:"MIN" unit:"count"`
	Max        *int64     `json:"max" col:"MAX" unit:"count"`
	Messages   *int64     `json:"messages" col:"MESSAGES" unit:"count"`
	LastStored *time.Time `json:"last_stored" col:"LAST STORED" none:"-"`
	Note       string     `json:"note" col:"NOTE"`
}

func (p *program) offsetTopicCommand() *cli.Command {
	return &cli.Command{
		Name: "topic", ArgsUsage: "TOPIC", Usage: "show the offsets of a topic's queues",
		Description: "MIN is the oldest message that a queue still has, MAX the offset that its next message will get.",
		UsageText:   "mqctl offset topic orders\t\nmqctl offset topic orders -o jsonl\tone line a queue\nmqctl offset topic orders --watch 2s\tagain and again",
		Flags:       []cli.Flag{&cli.StringFlag{Name: "topic", Aliases: []string{"t"}, Usage: "the `TOPIC`, in place of the argument"}},
		Action:      p.offsetTopicAction,
	}
}

func (p *program) offsetTopicAction(c *cli.Context) error {
	topic, err := oneName(c, "topic", "TOPIC")
	if err != nil {
		return err
	}
	return p.asking(c, func(ctx context.Context, a *admin.Admin) error {
		t, err := a.TopicOffsets(ctx, topic)
		if err != nil {
			return err
		}
		if err := p.write(p.topicOffsetsDocument(t)); err != nil {
			return err
		}
		return partOf(t.Partial, t.Failures)
	})
}

func (p *program) topicOffsetsDocument(t *admin.TopicOffsets) render.Document {
	d := render.Document{Data: t, Rows: t.Queues}
	if !p.forEyes() {
		return d
	}
	count := "? messages"
	if t.Messages != nil {
		count = countOf(*t.Messages, "message")
	}
	d.Head = []string{fmt.Sprintf("%s   %s in %s", t.Topic, count, countOf(len(t.Queues), "queue"))}
	if t.Unknown > 0 {
		d.Head[0] += fmt.Sprintf("   %d UNKNOWN, left out of the sum", t.Unknown)
	}
	rows := []topicOffsetRow{}
	for _, q := range t.Queues {
		note := q.Note
		if q.Error != "" {
			note = q.Error
		}
		rows = append(rows, topicOffsetRow{
			Queue: q.Broker + "/" + strconv.Itoa(int(q.QueueID)), Min: q.Min, Max: q.Max, Messages: q.Messages, LastStored: q.LastStored, Note: note,
		})
	}
	d.Rows = rows
	return d
}

// forEyes reports whether the output is a table.
func (p *program) forEyes() bool {
	return p.opt.output == "" || render.Format(p.opt.output).IsTable()
}
