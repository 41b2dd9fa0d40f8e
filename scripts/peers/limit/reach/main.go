// Reach shows what a whole consume path can reach: one connection, a coalescing writer, a loop per queue, every message
// decoded in full, a worker pool, an acknowledgement ring per queue. It is a sketch: no routes, no errors, no rebalance.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/scripts/peers/limit/wire"
	"mqctl/scripts/peers/measure"
)

type message struct {
	queueID                  int32
	offset, physical         int64
	born, store              int64
	sysFlag, reconsume       int32
	body, topic, propertyMap []byte
}

type answer struct {
	code       int64
	next       int64
	body, back []byte
}

type job struct {
	queue    *queue
	messages []message
	back     []byte
}

type consumer struct {
	topic   string
	n       int64
	out     chan []byte
	answers []chan answer
	jobs    chan job
	buffers sync.Pool
	batches sync.Pool
	got     atomic.Int64
	done    chan struct{}
	once    sync.Once
}

func main() {
	a := wire.Args("BROKER", "TOPIC", "QUEUES", "N", "WORKERS")
	conn, err := net.Dial("tcp", a[0])
	wire.Must(err)
	c := &consumer{topic: a[1], n: int64(wire.Int(a[3])), out: make(chan []byte, 1024), answers: make([]chan answer, wire.Int(a[2])),
		jobs: make(chan job, 256), done: make(chan struct{})}
	for i := range c.answers {
		c.answers[i] = make(chan answer, 1)
	}
	run := measure.Start()
	go wire.Drain(conn, c.out, nil)
	go c.receive(conn)
	for range wire.Int(a[4]) {
		go c.work()
	}
	for i := range c.answers {
		go c.pullLoop(i)
	}
	<-c.done
	fmt.Println(run.Line("reach", "consume", c.got.Load(), 0))
}

func (c *consumer) receive(conn net.Conn) {
	br := bufio.NewReaderSize(conn, 1<<18)
	for {
		buf, _ := c.buffers.Get().([]byte)
		header, body, whole, err := wire.Read(br, buf)
		if err != nil {
			return
		}
		c.answers[wire.Number(header, `"opaque":`)] <- answer{wire.Number(header, `"code":`), wire.Number(header, `"nextBeginOffset":"`), body, whole}
	}
}

func (c *consumer) pullLoop(i int) {
	q := &queue{}
	var offset int64
	for {
		frame := fmt.Appendf(make([]byte, wire.HeadRoom, 512), `{"code":11,"language":"GO","version":513,"opaque":%d,"flag":0,"serializeTypeCurrentRPC":"JSON","extFields":{"consumerGroup":"reach_cg","topic":"%s","queueId":"%d","queueOffset":"%d","maxMsgNums":"32","sysFlag":"6","commitOffset":"0","suspendTimeoutMillis":"15000","subscription":"*","subVersion":"0","expressionType":"TAG"}}`, i, c.topic, i, offset)
		wire.Seal(frame, 0)
		c.out <- frame
		a := <-c.answers[i]
		offset = a.next
		if a.code != 0 {
			<-time.After(10 * time.Millisecond)
			continue
		}
		batch, _ := c.batches.Get().([]message)
		batch = decode(a.body, batch[:0])
		q.put(batch)
		c.jobs <- job{q, batch, a.back}
	}
}

func (c *consumer) work() {
	for j := range c.jobs {
		j.queue.ack(j.messages)
		n := int64(len(j.messages))
		//lint:ignore SA6002 a slice header a batch is what this sketch pays
		c.batches.Put(j.messages)
		//lint:ignore SA6002 the same
		c.buffers.Put(j.back)
		if c.got.Add(n) >= c.n {
			c.once.Do(func() { close(c.done) })
		}
	}
}

// queue keeps an acknowledged mark per message in offset order; its base is the offset that could be committed.
type queue struct {
	mu   sync.Mutex
	base int64
	done []bool
}

func (q *queue) put(batch []message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.done) == 0 {
		q.base = batch[0].offset
	}
	for range batch {
		q.done = append(q.done, false)
	}
}

func (q *queue) ack(batch []message) int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range batch {
		q.done[m.offset-q.base] = true
	}
	i := 0
	for i < len(q.done) && q.done[i] {
		i++
	}
	q.done = q.done[i:]
	q.base += int64(i)
	return q.base
}

// decode reads every field of every stored message in b.
func decode(b []byte, out []message) []message {
	be := binary.BigEndian
	for len(b) > 4 {
		m := b[:be.Uint32(b)]
		b = b[len(m):]
		x := message{
			queueID: int32(be.Uint32(m[12:])), offset: int64(be.Uint64(m[20:])), physical: int64(be.Uint64(m[28:])),
			sysFlag: int32(be.Uint32(m[36:])), born: int64(be.Uint64(m[40:])),
		}
		p := 48 + 8
		if x.sysFlag&16 != 0 {
			p += 12
		}
		x.store = int64(be.Uint64(m[p:]))
		p += 8 + 8
		if x.sysFlag&32 != 0 {
			p += 12
		}
		x.reconsume = int32(be.Uint32(m[p:]))
		p += 4 + 8
		n := int(be.Uint32(m[p:]))
		p += 4
		x.body = m[p : p+n]
		p += n
		n = int(m[p])
		p++
		x.topic = m[p : p+n]
		p += n
		n = int(be.Uint16(m[p:]))
		p += 2
		x.propertyMap = m[p : p+n]
		out = append(out, x)
	}
	return out
}
