// Peer-go drives apache/rocketmq-client-go, so that mqctl can be compared with it and tested against it.
//
//	peer-go produce NS TOPIC N [options]             send N messages, print one JSON line per acknowledged one
//	peer-go consume NS GROUP TOPIC N TIMEOUT [options]  print one JSON line per received message until N distinct ones
//	                                                 have come; exit 1 after TIMEOUT seconds
//	peer-go bench produce|async|consume NS TOPIC N SIZE WORKERS  one line of speed figures
//
// produce: --keys PREFIX --tags A,B --size BYTES --props k=v,k=v --batch N --order SHARDS --delay-level N --tx commit|rollback|unknown
// consume: --mode push|orderly|broadcast --tags EXPRESSION --sql EXPRESSION
// both:    --access-key K --secret-key K
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"

	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/rlog"
)

const usageText = `usage: peer-go produce NS TOPIC N [--keys PREFIX] [--tags A,B] [--size BYTES] [--props k=v,...] [--batch N] [--order SHARDS] [--delay-level N] [--tx commit|rollback|unknown]
       peer-go consume NS GROUP TOPIC N TIMEOUT [--mode push|orderly|broadcast] [--tags EXPR | --sql EXPR]
       peer-go bench produce|async|consume NS TOPIC N SIZE WORKERS
       all: [--access-key K --secret-key K]`

var errUsage = errors.New("wrong arguments")

func main() {
	rlog.SetLogLevel("fatal")
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, os.Args[1:])
	switch {
	case err == nil:
		return
	case errors.Is(err, errUsage):
		fmt.Fprintf(os.Stderr, "peer-go: %v (--help shows the usage)\n", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "peer-go:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errUsage
	}
	switch args[0] {
	case "produce":
		return produce(ctx, args[1:])
	case "consume":
		return consume(ctx, args[1:])
	case "bench":
		return bench(ctx, args[1:])
	case "-h", "--help":
		fmt.Println(usageText)
		return nil
	}
	return fmt.Errorf("%w: no command %q", errUsage, args[0])
}

// split takes n positional arguments and parses what follows as options.
func split(args []string, n int, options *flag.FlagSet) ([]string, error) {
	if len(args) < n {
		return nil, fmt.Errorf("%w: %d of %d positional arguments", errUsage, len(args), n)
	}
	options.SetOutput(os.Stderr)
	if err := options.Parse(args[n:]); err != nil {
		return nil, fmt.Errorf("%w: %w", errUsage, err)
	}
	if options.NArg() > 0 {
		return nil, fmt.Errorf("%w: unexpected %q", errUsage, options.Arg(0))
	}
	return args[:n], nil
}

func number(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%w: %q is not a positive number", errUsage, s)
	}
	return n, nil
}

// keyOptions registers the credentials' options.
func keyOptions(options *flag.FlagSet) *primitive.Credentials {
	c := &primitive.Credentials{}
	options.StringVar(&c.AccessKey, "access-key", "", "")
	options.StringVar(&c.SecretKey, "secret-key", "", "")
	return c
}
