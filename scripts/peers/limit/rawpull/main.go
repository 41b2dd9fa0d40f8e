// Rawpull is the floor for pulling from a real broker: one pull of 32 in flight per queue on one connection, frames read,
// messages counted by walking their length words.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"time"

	"mqctl/scripts/peers/limit/wire"
	"mqctl/scripts/peers/measure"
)

func main() {
	a := wire.Args("BROKER", "TOPIC", "QUEUES", "N")
	topic, queues, n := a[1], wire.Int(a[2]), wire.Int(a[3])
	conn, err := net.Dial("tcp", a[0])
	wire.Must(err)
	run := measure.Start()
	bw := bufio.NewWriterSize(conn, 1<<16)
	for q := range queues {
		pull(bw, topic, q, 0)
	}
	wire.Must(bw.Flush())
	br := bufio.NewReaderSize(conn, 1<<18)
	var buf []byte
	got := 0
	for got < n {
		header, body, whole, err := wire.Read(br, buf)
		wire.Must(err)
		buf = whole
		for len(body) > 4 {
			body = body[binary.BigEndian.Uint32(body):]
			got++
		}
		switch wire.Number(header, `"code":`) {
		case 0, 21:
		case 19, 20:
			<-time.After(10 * time.Millisecond)
		default:
			fmt.Fprintf(os.Stderr, "rawpull: %s\n", header)
			os.Exit(1)
		}
		pull(bw, topic, int(wire.Number(header, `"opaque":`)), wire.Number(header, `"nextBeginOffset":"`))
		if br.Buffered() < wire.HeadRoom {
			wire.Must(bw.Flush())
		}
	}
	fmt.Println(run.Line("rawpull", "pull", int64(got), 0))
}

// pull asks for the next 32 messages of a queue; the request's number is the queue, so that the answer names it.
func pull(bw *bufio.Writer, topic string, queue int, offset int64) {
	frame := fmt.Appendf(make([]byte, wire.HeadRoom, 512), `{"code":11,"language":"JAVA","version":455,"opaque":%d,"flag":0,"serializeTypeCurrentRPC":"JSON","extFields":{"consumerGroup":"raw_cg","topic":"%s","queueId":"%d","queueOffset":"%d","maxMsgNums":"32","sysFlag":"6","commitOffset":"0","suspendTimeoutMillis":"15000","subscription":"*","subVersion":"0","expressionType":"TAG"}}`, queue, topic, queue, offset)
	wire.Seal(frame, 0)
	_, err := bw.Write(frame)
	wire.Must(err)
}
