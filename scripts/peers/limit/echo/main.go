// Echo is the floor of framed request and answer over loopback TCP without RocketMQ: INFLIGHT requests of 1,100 bytes on
// one connection to a child process that answers each with 200 bytes. It tells what the machine itself can do.
package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"

	"mqctl/scripts/peers/limit/wire"
	"mqctl/scripts/peers/measure"
)

const (
	requests    = 1_000_000
	requestSize = 1100
	answerSize  = 200
)

func main() {
	a := wire.Args("INFLIGHT|serve")
	if a[0] == "serve" {
		wire.Must(serve())
		return
	}
	inflight := wire.Int(a[0])
	child := exec.Command(os.Args[0], "serve")
	out, err := child.StdoutPipe()
	wire.Must(err)
	wire.Must(child.Start())
	var addr string
	_, err = fmt.Fscan(out, &addr)
	wire.Must(err)
	conn, err := net.Dial("tcp", addr)
	wire.Must(err)
	run := measure.Start()
	wire.Must(exchange(conn, inflight))
	fmt.Println(run.Line("echo", fmt.Sprintf("w=%d", inflight), requests, 0))
	wire.Must(conn.Close())
	wire.Must(child.Wait())
}

// serve answers the frames of one connection and ends with it.
func serve() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	c, err := l.Accept()
	if err != nil {
		return err
	}
	br, bw := bufio.NewReaderSize(c, 1<<16), bufio.NewWriterSize(c, 1<<16)
	answer := make([]byte, 4+answerSize)
	binary.BigEndian.PutUint32(answer, answerSize)
	for {
		if err := skipFrame(br); err != nil {
			return nil
		}
		if _, err := bw.Write(answer); err != nil {
			return err
		}
		if br.Buffered() < 4 {
			if err := bw.Flush(); err != nil {
				return err
			}
		}
	}
}

func exchange(conn net.Conn, inflight int) error {
	slots := make(chan struct{}, inflight)
	done := make(chan error)
	go func() {
		br := bufio.NewReaderSize(conn, 1<<16)
		for range requests {
			if err := skipFrame(br); err != nil {
				done <- err
				return
			}
			<-slots
		}
		done <- nil
	}()
	bw := bufio.NewWriterSize(conn, 1<<16)
	frame := make([]byte, 4+requestSize)
	binary.BigEndian.PutUint32(frame, requestSize)
	for range requests {
		select {
		case slots <- struct{}{}:
		default:
			if err := bw.Flush(); err != nil {
				return err
			}
			slots <- struct{}{}
		}
		if _, err := bw.Write(frame); err != nil {
			return err
		}
	}
	if err := bw.Flush(); err != nil {
		return err
	}
	return <-done
}

func skipFrame(br *bufio.Reader) error {
	var word [4]byte
	if _, err := io.ReadFull(br, word[:]); err != nil {
		return err
	}
	_, err := br.Discard(int(binary.BigEndian.Uint32(word[:])))
	return err
}
