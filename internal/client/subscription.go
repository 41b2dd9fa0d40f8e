package client

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"mqctl/internal/protocol"
)

// checkFilter has a broker of the topic judge an expression (request 46): a pull with one that it cannot parse is not
// refused but returns everything.
func (c *Client) checkFilter(ctx context.Context, group, topic string, s *protocol.SubscriptionData) error {
	route, err := c.Route(ctx, topic)
	if err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(route.Brokers))
	if len(names) == 0 {
		return fmt.Errorf("filter %q on %s: %w", s.SubString, topic, ErrBrokerNotFound)
	}
	addr, _, err := c.replicaAddr(names[0], masterID)
	if err != nil {
		return err
	}
	checked := *s
	checked.Topic = topic
	body := &protocol.CheckClientConfigBody{ClientID: c.id, Group: group, SubscriptionData: checked}
	if _, err := c.Call(ctx, addr, protocol.NewBodyRequest(protocol.CheckClientConfig, body.Encode())); err != nil {
		return fmt.Errorf("filter %q on %s: %w", s.SubString, topic, err)
	}
	return nil
}
