package remoting

import (
	"runtime/debug"

	"mqctl/internal/protocol"
)

// inboxSize is how many requests of the peers may wait for the callback worker.
const inboxSize = 256

// responseFlag marks an answer, Java's RPC_TYPE bit.
const responseFlag = 1

// inboundRequest is a request of a peer on its way to the handler.
type inboundRequest struct {
	from *Conn
	req  *protocol.Command
}

// startWorker starts the goroutine that runs the handler, if there is one; Close ends it and waits for it.
func (p *Pool) startWorker() {
	p.worker = make(chan struct{})
	if p.cfg.Handler == nil {
		close(p.worker)
		return
	}
	p.inbox = make(chan inboundRequest, inboxSize)
	go func() {
		defer close(p.worker)
		for {
			select {
			case <-p.quit:
				return
			case r := <-p.inbox:
				p.handle(r.from, r.req)
			}
		}
	}()
}

// receive runs on a connection's reader, which must go on reading answers whatever the handler does.
func (p *Pool) receive(c *Conn, req *protocol.Command) {
	if p.cfg.Handler == nil {
		respond(c, req, protocol.NewResponse(req, protocol.CodeRequestCodeNotSupported, "this client answers no requests", nil, nil))
		return
	}
	select {
	case p.inbox <- inboundRequest{c, req}:
	default:
		p.conn.log.Warn("request dropped, too many are waiting", "addr", c.addr, "request", req.RequestCode())
		respond(c, req, protocol.NewResponse(req, protocol.CodeSystemBusy, "too many requests are waiting", nil, nil))
	}
}

func (p *Pool) handle(c *Conn, req *protocol.Command) {
	defer recoverHandler(c, req)
	if resp := p.cfg.Handler(c.ctx, c, req); resp != nil {
		respond(c, req, resp)
	}
}

// recoverHandler is deferred around handlers: a panic is logged and answered, and the connection goes on.
func recoverHandler(c *Conn, req *protocol.Command) {
	p := recover()
	if p == nil {
		return
	}
	c.cfg.log.Error("a handler panicked", "addr", c.addr, "request", req.RequestCode(), "panic", p, "stack", string(debug.Stack()))
	respond(c, req, protocol.NewResponse(req, protocol.CodeSystemError, "internal error while handling the request", nil, nil))
}

// respond sends an answer, unless the request wants none. That the answer cannot be sent any more is the peer's loss.
func respond(c *Conn, req, resp *protocol.Command) {
	if req.IsOneway() {
		return
	}
	answer := *resp
	answer.Opaque = req.Opaque
	answer.Flag |= responseFlag
	if err := c.Send(&answer); err != nil {
		c.cfg.log.Debug("answer not sent", "addr", c.addr, "request", req.RequestCode(), "err", err)
	}
}
