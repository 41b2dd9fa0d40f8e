package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"mqctl/internal/protocol"
)

// nameServers is the list of name servers and which of them answered last: clients stick to one and move on when it
// fails, as Java does.
type nameServers struct {
	mu      sync.Mutex
	addrs   []string
	current int
}

func (n *nameServers) init(addrs []string) { n.addrs = slices.Clone(addrs) }

func (n *nameServers) list() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.addrs)
}

// candidates is the list, beginning with the one that answered last.
func (n *nameServers) candidates() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Concat(n.addrs[n.current:], n.addrs[:n.current])
}

func (n *nameServers) prefer(addr string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i := slices.Index(n.addrs, addr); i >= 0 {
		n.current = i
	}
}

// CallNameServer asks the name servers one after the other until one answers; a refusal is an answer. The error of a
// list that is dead altogether names each address.
func (c *Client) CallNameServer(ctx context.Context, req func() *protocol.Command) (*protocol.Command, error) {
	var errs []error
	for _, addr := range c.names.candidates() {
		resp, err := c.callWithin(ctx, addr, req())
		var refused *ResponseError
		if err == nil || errors.As(err, &refused) {
			c.names.prefer(addr)
			return resp, err
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 1 {
		return nil, fmt.Errorf("name server: %w", errs[0])
	}
	return nil, fmt.Errorf("no name server answered: %w", errors.Join(errs...))
}

// callWithin is Call with CallTimeout even under a longer deadline, so that one dead address leaves time for the next.
func (c *Client) callWithin(ctx context.Context, addr string, req *protocol.Command) (*protocol.Command, error) {
	return c.call(ctx, addr, req, c.cfg.CallTimeout)
}
