// Command mqctl is a client, workbench and test cluster for RocketMQ; `mqctl --help` lists what it does.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run carries out one command line and returns its exit code. The first INT or TERM ends the command in an orderly way;
// a second one returns at once, with whatever is under way left behind.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	signal.Ignore(syscall.SIGPIPE) // a write to a closed pipe is an error to act on: members leave their group first
	p := newProgram(stdin, stdout, stderr)
	done := make(chan int, 1)
	go func() { done <- p.main(ctx, args) }() // a second signal does not wait for it
	for interrupted := false; ; interrupted = true {
		select {
		case code := <-done:
			return code
		case s := <-signals:
			if interrupted {
				fmt.Fprintln(stderr, "mqctl: left at once"+p.lastWords())
				return exitInterrupted
			}
			cancel(&interruptedError{s})
		}
	}
}
