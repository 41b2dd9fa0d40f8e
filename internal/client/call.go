package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// Call sends one request and waits for its answer, within CallTimeout when ctx has no deadline of its own. A code other
// than success is a *ResponseError; the answer is returned along with it, since some codes carry data.
func (c *Client) Call(ctx context.Context, addr string, req *protocol.Command) (*protocol.Command, error) {
	limit := time.Duration(0)
	if _, ok := ctx.Deadline(); !ok {
		limit = c.cfg.CallTimeout
	}
	return c.call(ctx, addr, req, limit)
}

// call is Call with a limit that needs no context of its own: the connection's timer watches it. 0 leaves it to ctx.
func (c *Client) call(ctx context.Context, addr string, req *protocol.Command, limit time.Duration) (resp *protocol.Command, err error) {
	code := req.RequestCode()
	if limit > 0 {
		resp, err = c.pool.CallWithin(ctx, addr, req, limit)
	} else {
		resp, err = c.pool.Call(ctx, addr, req)
	}
	if err != nil {
		return nil, nameRequest(code, err)
	}
	return resp, checkResponse(code, addr, resp)
}

// nameRequest says which request failed, unless the error itself does.
func nameRequest(code protocol.RequestCode, err error) error {
	var failure *remoting.Error
	if errors.As(err, &failure) && failure.Op == code.String() {
		return err
	}
	return fmt.Errorf("%s: %w", code, err)
}

// CallHeader is Call for a request with a typed header; out, when not nil, receives the answer's ext fields.
func (c *Client) CallHeader(ctx context.Context, addr string, req protocol.RequestHeader, body []byte, out any) (*protocol.Command, error) {
	resp, err := c.Call(ctx, addr, protocol.NewRequest(req, body))
	if err != nil {
		return resp, err
	}
	if out != nil {
		if err := resp.DecodeHeader(out); err != nil {
			return resp, fmt.Errorf("answer of %s to %s: %w", addr, req.RequestCode(), err)
		}
	}
	return resp, nil
}

func checkResponse(code protocol.RequestCode, addr string, resp *protocol.Command) error {
	if resp.ResponseCode() == protocol.CodeSuccess {
		return nil
	}
	return &ResponseError{Request: code, Addr: addr, Code: resp.ResponseCode(), Remark: resp.Remark}
}
