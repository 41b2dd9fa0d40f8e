package client

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/protocol"
)

// heartbeatData is what this instance tells brokers about itself, Java's HeartbeatData. A fingerprint of 0 asks for
// the plain protocol, in which each heartbeat carries the whole subscription.
func (c *Client) heartbeatData() *protocol.HeartbeatData {
	d := &protocol.HeartbeatData{ClientID: c.id, ConsumerDataSet: []protocol.ConsumerData{}, ProducerDataSet: []protocol.ProducerData{}}
	for _, m := range c.consumerList() {
		d.ConsumerDataSet = append(d.ConsumerDataSet, m.heartbeatData())
	}
	for _, p := range c.producerList() {
		d.ProducerDataSet = append(d.ProducerDataSet, protocol.ProducerData{GroupName: p.cfg.Group})
	}
	return d
}

// heartbeatTargets is the brokers that must hear from this client: every master of the routes known, and slaves too
// when there are consumers, since they may be told to read there.
func (c *Client) heartbeatTargets(consumers bool) []string {
	set := map[string]bool{}
	for _, replicas := range c.routes.current.Load().brokers {
		for id, addr := range replicas {
			if id == masterID || consumers {
				set[addr] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// sendHeartbeats sends one heartbeat to every target, side by side; the first error is returned.
func (c *Client) sendHeartbeats(ctx context.Context) error {
	d := c.heartbeatData()
	if len(d.ConsumerDataSet) == 0 && len(d.ProducerDataSet) == 0 {
		return nil
	}
	body := d.Encode()
	var g errgroup.Group
	for _, addr := range c.heartbeatTargets(len(d.ConsumerDataSet) > 0) {
		g.Go(func() error {
			if _, err := c.callWithin(ctx, addr, protocol.NewBodyRequest(protocol.HeartBeat, body)); err != nil {
				return fmt.Errorf("heartbeat: %w", err)
			}
			c.heartbeatsSent.Add(1)
			return nil
		})
	}
	return g.Wait()
}

// heartbeatLoop keeps this client known to the brokers: every HeartbeatInterval, and at once when something about it
// has changed or a connection was lost. After a failure it tries again sooner, at growing intervals: until the broker
// knows this client again, pulls are answered that it does not exist.
func (c *Client) heartbeatLoop() {
	wait, failures := c.cfg.HeartbeatInterval, 0
	for pause(c.ctx, wait, c.wakeHeartbeat) {
		err := c.sendHeartbeats(c.ctx)
		if err == nil {
			wait, failures = c.cfg.HeartbeatInterval, 0
			continue
		}
		if failures++; failures == 1 && c.ctx.Err() == nil {
			c.log.Warn("heartbeat failed", "err", err)
		}
		wait = min(c.cfg.HeartbeatInterval, time.Second<<min(failures-1, 10))
		wake(c.wakeRoute)
	}
}

// unregisterGroup tells every broker that this client leaves a group; the connection's end would tell them later.
func (c *Client) unregisterGroup(ctx context.Context, consumerGroup, producerGroup string) {
	var g errgroup.Group
	for _, addr := range c.heartbeatTargets(consumerGroup != "") {
		g.Go(func() error {
			req := &protocol.UnregisterClientRequest{ClientID: c.id, ConsumerGroup: consumerGroup, ProducerGroup: producerGroup}
			if _, err := c.callWithin(ctx, addr, protocol.NewRequest(req, nil)); err != nil {
				c.log.Debug("unregister failed", "addr", addr, "err", err)
			}
			return nil
		})
	}
	_ = g.Wait() // failures are logged: the broker notices the closed connection anyway
}
