// Reachsend shows what a whole synchronous send path can reach: WORKERS goroutines on one connection, a coalescing writer,
// waiter slots, a time limit per call, a hand-written header. It is a sketch: no routes, no retries.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"mqctl/scripts/peers/limit/wire"
	"mqctl/scripts/peers/measure"
)

type result struct{ code, offset int64 }

type sender struct {
	topic   string
	body    []byte
	n       int64
	out     chan []byte
	waiters [1 << 16]atomic.Pointer[chan result]
	frames  sync.Pool
	number  atomic.Int64
	ok, bad atomic.Int64
}

func main() {
	a := wire.Args("BROKER", "TOPIC", "N", "SIZE", "WORKERS")
	conn, err := net.Dial("tcp", a[0])
	wire.Must(err)
	s := &sender{topic: a[1], n: int64(wire.Int(a[2])), body: bytes.Repeat([]byte("x"), wire.Int(a[3])), out: make(chan []byte, 1024)}
	s.frames.New = func() any { return make([]byte, 0, 2048) }
	//lint:ignore SA6002 a slice header a frame is what this sketch pays
	go wire.Drain(conn, s.out, func(f []byte) { s.frames.Put(f[:0]) })
	go s.receive(conn)
	run := measure.Start()
	var wg sync.WaitGroup
	for range wire.Int(a[4]) {
		wg.Go(s.work)
	}
	wg.Wait()
	fmt.Println(run.Line("reachsend", "send", s.ok.Load(), s.bad.Load()))
}

func (s *sender) receive(conn net.Conn) {
	br := bufio.NewReaderSize(conn, 1<<16)
	var buf []byte
	for {
		header, _, whole, err := wire.Read(br, buf)
		if err != nil {
			return
		}
		buf = whole
		if ch := s.waiters[wire.Number(header, `"opaque":`)&0xffff].Swap(nil); ch != nil {
			*ch <- result{wire.Number(header, `"code":`), wire.Number(header, `"queueOffset":"`)}
		}
	}
}

func (s *sender) work() {
	answer := make(chan result, 1)
	timer := time.NewTimer(time.Hour)
	for {
		id := s.number.Add(1)
		if id > s.n {
			return
		}
		frame := fmt.Appendf(s.frames.Get().([]byte)[:wire.HeadRoom], `{"code":310,"language":"GO","version":513,"opaque":%d,"flag":0,"serializeTypeCurrentRPC":"JSON","extFields":{"a":"reach_pg","b":"%s","c":"TBW102","d":"4","e":"%d","f":"0","g":"%d","h":"0","i":"UNIQ_KEY\u0001%032X\u0002WAIT\u0001true","j":"0","k":"false","m":"false"}}`, id, s.topic, id%8, time.Now().UnixMilli(), id)
		frame = append(frame, s.body...)
		wire.Seal(frame, len(s.body))
		s.waiters[id&0xffff].Store(&answer)
		timer.Reset(3 * time.Second)
		s.out <- frame
		select {
		case r := <-answer:
			if r.code == 0 {
				s.ok.Add(1)
			} else {
				s.bad.Add(1)
			}
		case <-timer.C:
			s.bad.Add(1)
			answer = make(chan result, 1)
		}
	}
}
