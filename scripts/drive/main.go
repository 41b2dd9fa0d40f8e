//go:build unix

// Drive does with mqctl's engine the work that the drivers of scripts/peers do with the official clients, and prints one
// JSON line of figures; scripts/compare-clients compares them. `drive --help` shows the usage.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"strconv"
	"syscall"
	"time"

	"mqctl/internal/client"
)

const usageText = `usage: drive [options] produce|async|batch|consume NS TOPIC N SIZE WORKERS
       drive topic NS TOPIC QUEUES   create the topic with so many queues
       drive stored NS TOPIC         print how many messages the topic holds

  produce   WORKERS goroutines send single messages and wait for each answer
  async     single messages with callbacks, WORKERS of them unanswered
  batch     as produce, but --batch messages a request
  consume   a push consumer of a new group with WORKERS consume threads reads TOPIC from its start; the run ends when N
            messages were handled and the committed offset of every queue equals its end

N is the number of messages, SIZE that of a body in bytes. CPU time and peak memory are those of the whole process by
getrusage; of a consumer from before it starts, of a producer after a first message that fetches the route and dials.

  --batch N           messages a request (batch), or handed to the handler at once (consume); default 32
  --pull N            messages asked for in one pull; default 32
  --limit TIME        ends a run whose messages never come; default 5m
  --cpuprofile FILE   --memprofile FILE   profiles of the measured part`

var errUsage = errors.New("wrong arguments")

// job is what the command line asks for.
type job struct {
	work                   string
	nameServers            []string
	topic                  string
	messages               int64
	size, workers          int
	batch, pull            int
	limit                  time.Duration
	cpuProfile, memProfile string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "drive: %v (--help shows the usage)\n", err)
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "drive:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	j := &job{}
	options := flag.NewFlagSet("drive", flag.ContinueOnError)
	options.SetOutput(io.Discard)
	options.IntVar(&j.batch, "batch", 32, "")
	options.IntVar(&j.pull, "pull", 32, "")
	options.DurationVar(&j.limit, "limit", 5*time.Minute, "")
	options.StringVar(&j.cpuProfile, "cpuprofile", "", "")
	options.StringVar(&j.memProfile, "memprofile", "", "")
	if err := options.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, err = fmt.Fprintln(out, usageText)
		return err
	} else if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	if err := j.read(options.Args()); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, j.limit)
	defer cancel()
	switch j.work {
	case "topic":
		return j.createTopic(ctx)
	case "stored":
		return j.printStored(ctx, out)
	}
	figures, err := j.measured(ctx)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(figures)
}

// read takes the positional arguments.
func (j *job) read(args []string) error {
	want := map[string]int{"produce": 6, "async": 6, "batch": 6, "consume": 6, "topic": 4, "stored": 3}
	if len(args) == 0 || want[args[0]] == 0 {
		return fmt.Errorf("%w: want produce, async, batch, consume, topic or stored", errUsage)
	}
	if j.work = args[0]; len(args) != want[j.work] {
		return fmt.Errorf("%w: %s takes %d arguments, not %d", errUsage, j.work, want[j.work]-1, len(args)-1)
	}
	var err error
	if j.nameServers, err = client.ParseNameServers(args[1]); err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	j.topic = args[2]
	var numbers [3]int
	for i, text := range args[3:] {
		if numbers[i], err = strconv.Atoi(text); err != nil || numbers[i] < 1 {
			return fmt.Errorf("%w: %q is not a positive number", errUsage, text)
		}
	}
	j.messages, j.size, j.workers = int64(numbers[0]), numbers[1], numbers[2]
	return nil
}

// measured runs the work under the profilers, if any.
func (j *job) measured(ctx context.Context) (*figures, error) {
	work := j.produce
	if j.work == "consume" {
		work = j.consume
	}
	f, err := work(ctx)
	if err != nil || j.memProfile == "" {
		return f, err
	}
	file, err := os.Create(j.memProfile)
	if err != nil {
		return nil, err
	}
	runtime.GC() // the profile is complete up to the latest collection only
	return f, errors.Join(pprof.Lookup("allocs").WriteTo(file, 0), file.Close())
}

// profile starts the CPU profile and returns what ends it.
func (j *job) profile() (stop func() error, err error) {
	if j.cpuProfile == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(j.cpuProfile)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, err
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}
