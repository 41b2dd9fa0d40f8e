// Raw is the floor for sending to a real broker: SEND_MESSAGE_V2 frames with a JSON header, INFLIGHT of them unanswered
// on one connection, answers only counted. No client library can need less.
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net"
	"time"

	"mqctl/scripts/peers/limit/wire"
	"mqctl/scripts/peers/measure"
)

func main() {
	a := wire.Args("BROKER", "TOPIC", "N", "SIZE", "INFLIGHT")
	topic, n, size, inflight := a[1], wire.Int(a[2]), wire.Int(a[3]), wire.Int(a[4])
	conn, err := net.Dial("tcp", a[0])
	wire.Must(err)
	body := bytes.Repeat([]byte("x"), size)
	run := measure.Start()
	slots := make(chan struct{}, inflight)
	bad := make(chan int64)
	go func() { bad <- answers(conn, n, slots) }()
	bw := bufio.NewWriterSize(conn, 1<<16)
	frame := make([]byte, 0, 1024+size)
	for i := range n {
		select {
		case slots <- struct{}{}:
		default:
			wire.Must(bw.Flush())
			slots <- struct{}{}
		}
		frame = fmt.Appendf(frame[:wire.HeadRoom], `{"code":310,"language":"JAVA","version":455,"opaque":%d,"flag":0,"serializeTypeCurrentRPC":"JSON","extFields":{"a":"raw_pg","b":"%s","c":"TBW102","d":"4","e":"%d","f":"0","g":"%d","h":"0","i":"UNIQ_KEY\u0001%032X\u0002WAIT\u0001true","j":"0","k":"false","m":"false"}}`, i+1, topic, i%8, time.Now().UnixMilli(), i)
		frame = append(frame, body...)
		wire.Seal(frame, size)
		_, err = bw.Write(frame)
		wire.Must(err)
	}
	wire.Must(bw.Flush())
	failed := <-bad
	fmt.Println(run.Line("raw", "send", int64(n)-failed, failed))
}

// answers frees a slot per answer and counts those whose code is not 0.
func answers(conn net.Conn, n int, slots <-chan struct{}) (bad int64) {
	br := bufio.NewReaderSize(conn, 1<<16)
	var buf []byte
	for range n {
		header, _, whole, err := wire.Read(br, buf)
		wire.Must(err)
		buf = whole
		if wire.Number(header, `"code":`) != 0 {
			bad++
		}
		<-slots
	}
	return bad
}
