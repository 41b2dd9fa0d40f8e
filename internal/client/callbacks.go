package client

import (
	"context"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// handleRequest answers what brokers ask of a client, Java's ClientRemotingProcessor. It runs on the transport's
// callback worker, never on a connection's reader. nil is no answer.
func (c *Client) handleRequest(_ context.Context, _ *remoting.Conn, req *protocol.Command) *protocol.Command {
	switch req.RequestCode() {
	case protocol.NotifyConsumerIDsChanged:
		wake(c.wakeRebalance)
		return nil
	}
	if req.IsOneway() {
		return nil
	}
	return protocol.NewResponse(req, protocol.CodeRequestCodeNotSupported, "this client does not answer "+req.RequestCode().String(), nil, nil)
}
