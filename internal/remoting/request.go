package remoting

import (
	"context"
	"fmt"
	"slices"
	"time"

	"mqctl/internal/protocol"
)

// Call sends a request and waits for its answer, as long as ctx allows. req is not changed.
func (c *Conn) Call(ctx context.Context, req *protocol.Command) (*protocol.Command, error) {
	resp, _, err := c.call(ctx, req, 0)
	return resp, err
}

// Start sends a request and calls done with its answer or error, exactly once. done may run on the connection's reader
// and must not block; when the request could not be sent it runs before Start returns. Start itself waits, as long as
// ctx allows, while too much is queued. limit 0 stands for none: then the answer or the end of the connection decides.
func (c *Conn) Start(ctx context.Context, req *protocol.Command, limit time.Duration, done func(*protocol.Command, error)) {
	if queued, err := c.start(ctx, req, limit, done); !queued && err != nil {
		done(nil, err)
	}
}

// Oneway sends a request that nobody answers. It returns when the request is queued.
func (c *Conn) Oneway(ctx context.Context, req *protocol.Command) error {
	_, err := c.oneway(ctx, req)
	return err
}

// call reports besides the result whether the request may have left; if not, it can be sent on another connection.
func (c *Conn) call(ctx context.Context, req *protocol.Command, limit time.Duration) (resp *protocol.Command, queued bool, err error) {
	w, opaque, err := c.register(req, nil, limit)
	if err != nil {
		return nil, false, err
	}
	if err := c.post(ctx, req, opaque, limit); err != nil {
		if c.calls.take(opaque) == nil {
			<-w.answer // the connection ended or the limit passed; err says as much
		}
		c.calls.recycle(w)
		return nil, false, c.errorFor(req.RequestCode(), err) // w may serve another request already
	}
	select {
	case a := <-w.answer:
		c.calls.recycle(w)
		return a.cmd, true, a.err
	case <-ctx.Done():
	}
	if c.calls.take(opaque) == nil {
		a := <-w.answer // taken by somebody at the same moment
		c.calls.recycle(w)
		return a.cmd, true, a.err
	}
	now := c.now()
	err = endOfContext(ctx, time.Duration(now-w.start), "")
	_, timedOut := err.(*limitError)
	silent := timedOut && c.showsSilence(w, now)
	c.calls.recycle(w)
	if silent {
		c.die(c.silence(now))
	}
	return nil, true, c.errorFor(req.RequestCode(), err)
}

// start reports whether done will be called, or was, by somebody else.
func (c *Conn) start(ctx context.Context, req *protocol.Command, limit time.Duration, done func(*protocol.Command, error)) (queued bool, err error) {
	_, opaque, err := c.register(req, done, limit)
	if err != nil {
		return false, err
	}
	if err := c.post(ctx, req, opaque, limit); err != nil {
		if w := c.calls.take(opaque); w != nil {
			c.calls.recycle(w)
			return false, c.errorFor(req.RequestCode(), err)
		}
	}
	return true, nil
}

func (c *Conn) oneway(ctx context.Context, req *protocol.Command) (queued bool, err error) {
	copied := *req
	copied.SetOneway()
	if err := c.post(ctx, &copied, c.calls.opaque(), 0); err != nil {
		return false, c.errorFor(req.RequestCode(), err)
	}
	return true, nil
}

// register puts a request into the table. A waiter with a callback may be completed and reused at any moment from then on.
func (c *Conn) register(req *protocol.Command, done func(*protocol.Command, error), limit time.Duration) (*waiter, int32, error) {
	now := c.now()
	deadline := int64(never)
	if limit > 0 {
		deadline = now + int64(limit)
	}
	w, opaque, err := c.calls.add(req.RequestCode(), done, now, deadline, c.in.readsDone.Load())
	if err != nil {
		return nil, 0, c.errorFor(req.RequestCode(), err)
	}
	if deadline < c.watch.due() {
		c.checkAt(deadline)
	}
	return w, opaque, nil
}

// post queues a request, waiting for room if need be. It works on a copy: callers may send one command several times.
func (c *Conn) post(ctx context.Context, req *protocol.Command, opaque int32, limit time.Duration) error {
	if ctx.Err() != nil {
		return endOfContext(ctx, 0, "it was over before the request was sent")
	}
	if c.cfg.prepare != nil {
		var err error
		if req, err = c.prepared(req); err != nil {
			return err
		}
	}
	cmd := *req
	cmd.Opaque = opaque
	if cmd.Serialize == protocol.SerializeJSON && c.binary.Load() && !c.cfg.jsonOnly {
		cmd.Serialize = protocol.SerializeRocketMQ
	}
	room, err := c.queue(&cmd, maxQueued)
	if room == nil {
		return err
	}
	return c.postLater(ctx, cmd, room, limit)
}

// prepared is req with the last touch, usually a signature. The copy's fields have no spare room, so that what prepare
// appends cannot meet what it appends to another copy.
func (c *Conn) prepared(req *protocol.Command) (*protocol.Command, error) {
	cmd := *req
	cmd.Ext = slices.Clip(cmd.Ext)
	if err := c.cfg.prepare(c.addr, &cmd); err != nil {
		return nil, fmt.Errorf("preparing the request: %w", err)
	}
	return &cmd, nil
}

// postLater is the rest of post when the queue was full.
func (c *Conn) postLater(ctx context.Context, cmd protocol.Command, room <-chan struct{}, limit time.Duration) error {
	began := c.now()
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	for room != nil {
		select {
		case <-room:
		case <-ctx.Done():
			return endOfContext(ctx, time.Duration(c.now()-began), "too much is queued for the peer")
		}
		var err error
		if room, err = c.queue(&cmd, maxQueued); err != nil {
			return err
		}
	}
	return nil
}

// Send queues a command as it is: an answer, or a request that nobody waits for. Requests get a number of their own. It
// never waits: a peer that leaves too much unread is cut.
func (c *Conn) Send(cmd *protocol.Command) error {
	copied := *cmd
	if !copied.IsResponse() {
		copied.Opaque = c.calls.opaque()
	}
	if err := c.checkBacklog(len(cmd.Body)); err != nil {
		return c.sendError(err)
	}
	if _, err := c.queue(&copied, 0); err != nil {
		return c.sendError(err)
	}
	return nil
}

// SendRaw queues bytes that need not be a frame. It never waits.
func (c *Conn) SendRaw(b []byte) error {
	if err := c.checkBacklog(len(b)); err != nil {
		return c.sendError(err)
	}
	if _, err := c.out.putRaw(b, 0); err != nil {
		return c.sendError(err)
	}
	return nil
}

func (c *Conn) checkBacklog(more int) error {
	waiting := c.out.waiting()
	if waiting == 0 || waiting+more <= c.cfg.maxPending {
		return nil
	}
	err := lost("the peer reads too slowly: %d bytes wait for it", waiting)
	c.die(err)
	return err
}

func (c *Conn) sendError(err error) error { return &Error{Addr: c.addr, Op: "send", Err: err} }

// queue encodes a command for the writer, by way of the wire log when there is one.
func (c *Conn) queue(cmd *protocol.Command, limit int) (room <-chan struct{}, err error) {
	if c.cfg.wire == nil {
		return c.out.put(cmd, c.cfg.maxFrame, limit)
	}
	return c.queueLogged(*cmd, limit)
}

// queueLogged logs a frame before the peer can answer it, so that the log never shows the answer first.
func (c *Conn) queueLogged(cmd protocol.Command, limit int) (room <-chan struct{}, err error) {
	frame, err := protocol.AppendFrame(nil, &cmd)
	if err != nil {
		return nil, err
	}
	if len(frame) > c.cfg.maxFrame {
		return nil, fmt.Errorf("%w: %d bytes, the limit is %d", ErrTooLarge, len(frame), c.cfg.maxFrame)
	}
	if room, err = c.out.roomFor(limit); room != nil || err != nil {
		return room, err
	}
	c.cfg.wire.outgoing(c.addr, &cmd, frame)
	return c.out.putRaw(frame, 0)
}
