package remoting

import (
	"runtime"
	"time"
)

const (
	// maxWrite is the most that one Write gets, in bytes, so that the write limit is a lowest speed and not a largest burst.
	maxWrite = 1 << 20
	// lastWords is how long the reader may go on after a write failed: a peer that is no broker says so before it hangs up.
	lastWords = 200 * time.Millisecond
)

// writeLoop writes whatever has been sent since its last write, in one piece.
func (c *Conn) writeLoop() {
	defer c.release()
	for {
		batch, ok := c.out.take(runtime.Gosched)
		if !ok {
			c.die(ErrClosed)
			return
		}
		if err := c.write(batch); err != nil {
			c.writeFailed(writeError(err))
			return
		}
		c.out.wrote(batch)
	}
}

func (c *Conn) write(batch []byte) error {
	for len(batch) > 0 {
		c.writes.Add(1) // before the peer can answer
		c.writeBegan.Store(c.now())
		n, err := c.nc.Write(batch[:min(len(batch), maxWrite)])
		c.writeBegan.Store(0)
		if n > 0 {
			c.lastWrite.Store(c.now())
			c.bytesOut.Add(uint64(n))
		}
		if err != nil {
			return err
		}
		batch = batch[n:]
	}
	return nil
}

// writeFailed leaves the end to the reader, which may find the reason among the bytes that arrived.
func (c *Conn) writeFailed(err error) {
	c.cfg.detach(c)
	c.writeErr.Store(&err)
	c.out.close(err, true)
	if c.nc.SetReadDeadline(time.Now().Add(lastWords)) != nil {
		c.die(err)
	}
}

// readerCause is why the connection ends when the reader met err.
func (c *Conn) readerCause(err error) error {
	w := c.writeErr.Load()
	if w != nil && isTimeout(err) {
		return *w
	}
	return err
}
