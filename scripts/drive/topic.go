//go:build unix

package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

func (j *job) connect(ctx context.Context) (*client.Client, error) {
	c, err := client.New(client.Config{NameServers: j.nameServers})
	if err != nil {
		return nil, err
	}
	return c, c.Start(ctx)
}

// createTopic makes the topic with N queues at every broker.
func (j *job) createTopic(ctx context.Context) error {
	c, err := j.connect(ctx)
	if err != nil {
		return err
	}
	a := admin.New(c)
	plan, err := a.PlanTopic(ctx, admin.TopicSpec{Name: j.topic, Queues: int(j.messages)})
	if err == nil {
		_, err = a.ApplyTopic(ctx, plan)
	}
	return errors.Join(err, c.Close(ctx))
}

// eachQueue calls do for every readable queue of the topic until an error comes.
func (j *job) eachQueue(ctx context.Context, c *client.Client, do func(protocol.MessageQueue) error) error {
	route, err := c.FetchRoute(ctx, j.topic)
	if err != nil {
		return err
	}
	for _, mq := range route.Subscribe {
		if err := do(mq); err != nil {
			return err
		}
	}
	return nil
}

func (j *job) printStored(ctx context.Context, out io.Writer) error {
	c, err := j.connect(ctx)
	if err != nil {
		return err
	}
	var stored int64
	err = j.eachQueue(ctx, c, func(mq protocol.MessageQueue) error {
		first, err := c.MinOffset(ctx, mq)
		if err != nil {
			return err
		}
		end, err := c.MaxOffset(ctx, mq)
		stored += end - first
		return err
	})
	if err := errors.Join(err, c.Close(ctx)); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, stored)
	return err
}
