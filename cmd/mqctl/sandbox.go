package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/client"
	"mqctl/internal/demo"
	"mqctl/internal/render"
	"mqctl/internal/sandbox"
)

// sandboxView is what mqctl sandbox prints when it is ready.
type sandboxView struct {
	NameServer string          `json:"name_server"`
	Brokers    []sandboxBroker `json:"brokers"`
	Topics     []sandboxTopic  `json:"topics"`
}

type sandboxBroker struct {
	Broker string `json:"broker" col:"BROKER"`
	Addr   string `json:"addr" col:"ADDRESS"`
}

type sandboxTopic struct {
	Topic  string `json:"topic"`
	Queues int    `json:"queues"` // at each broker
}

func (p *program) sandboxCommand() *cli.Command {
	return &cli.Command{
		Name: "sandbox", Category: categoryLocal, Usage: "run a name server and brokers in this process",
		Description: "A RocketMQ cluster to try things on: official clients and mqctl work with it. Everything is kept in memory and " +
			"gone at the end. It listens on 127.0.0.1 only and has no access control.\n\n" +
			"A fault is REQUEST:ACTION[,…]. REQUEST is send, pull, commit, heartbeat, lock, send-back, route, a Java constant, a number, " +
			"or * for all. The actions are delay=D, wait=D, error=CODE, remark=TEXT, drop, lose, close, badframe; what narrows them is " +
			"p=0.1, times=N, broker=NAME, topic=NAME, group=NAME.",
		UsageText: "mqctl sandbox --topic orders:8\ta topic with 8 queues on 127.0.0.1:9876\n" +
			"mqctl sandbox --brokers 2 --rate 200/s\ttwo brokers, and messages to read\n" +
			"mqctl sandbox --fault 'pull:delay=300ms,p=0.2'\tone pull in five comes late",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "listen", Value: ":9876", Usage: "`ADDRESS` of the name server; port 0 is a free one (default :9876)"},
			&cli.StringSliceFlag{Name: "topic", Aliases: []string{"t"}, Usage: "topic to begin with, `NAME[:QUEUES]`; 8 queues at each broker without a number; may be repeated"},
			&cli.IntFlag{Name: "brokers", Value: 1, Usage: "`NUMBER` of brokers (default 1)"},
			&cli.StringFlag{Name: "rate", Usage: "send messages to every topic at this `RATE`, such as 200/s"},
			&cli.StringSliceFlag{Name: "fault", Usage: "`FAULT` to inject, such as pull:delay=300ms; may be repeated"},
			&cli.StringFlag{Name: "max-memory", Usage: "`SIZE` of all stored messages; beyond it the oldest go (default 1GiB)"},
			&cli.BoolFlag{Name: "i-know", Usage: "allow a listen address that other machines can reach"},
		},
		Action: p.sandboxAction,
	}
}

func (p *program) sandboxAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	opt, err := p.sandboxOptions(c)
	if err != nil {
		return err
	}
	rate := 0.0
	if text := c.String("rate"); text != "" {
		if rate, err = parseRate(text); err != nil {
			return usagef("--rate %s: %v", text, err)
		}
		if len(opt.Topics) == 0 {
			opt.Topics = []sandbox.TopicSpec{{Name: "orders"}}
		}
	}
	var faults []sandbox.Fault
	for _, text := range c.StringSlice("fault") {
		f, err := sandbox.ParseFault(text)
		if err != nil {
			return usagef("--fault: %v", err)
		}
		faults = append(faults, f)
	}
	box, err := sandbox.New(opt)
	if err != nil {
		return p.explainListen(err)
	}
	defer box.Close()
	for _, f := range faults {
		box.Inject(f)
	}
	if opt.AllowRemote {
		p.note("WARNING: everyone who reaches %s can read and change everything in this sandbox", box.NameServers()[0])
	}
	if err := p.writeSandbox(box, opt, rate, len(faults)); err != nil {
		return err
	}
	if rate > 0 {
		if err := p.feedSandbox(c.Context, box, opt, rate); err != nil {
			return err
		}
	}
	<-c.Context.Done()
	return stopped(c.Context)
}

func (p *program) sandboxOptions(c *cli.Context) (sandbox.Options, error) {
	opt := sandbox.Options{Listen: c.String("listen"), Brokers: c.Int("brokers"), AllowRemote: c.Bool("i-know"), Logger: p.log}
	if opt.Brokers < 1 {
		return opt, usagef("--brokers %d: want 1 or more", opt.Brokers)
	}
	if text := c.String("max-memory"); text != "" {
		n, err := parseSize(text)
		if err != nil || n < 1 {
			return opt, usagef("--max-memory %s: want a size such as 512MiB", text)
		}
		opt.MaxMemory = n
	}
	for _, text := range c.StringSlice("topic") {
		name, number, ok := strings.Cut(text, ":")
		spec := sandbox.TopicSpec{Name: name}
		if ok {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 {
				return opt, usagef("--topic %s: want NAME:QUEUES, such as orders:8", text)
			}
			spec.Queues = n
		}
		opt.Topics = append(opt.Topics, spec)
	}
	return opt, nil
}

func (p *program) explainListen(err error) error {
	if strings.Contains(err.Error(), syscall.EADDRINUSE.Error()) {
		return withHint(err, "another port is --listen :9877, a free one --listen :0")
	}
	if errors.Is(err, sandbox.ErrNotLoopback) {
		return withHint(err, "--i-know allows an address that other machines can reach")
	}
	return err
}

func (p *program) writeSandbox(box *sandbox.Sandbox, opt sandbox.Options, rate float64, faults int) error {
	view := sandboxView{NameServer: box.NameServers()[0], Topics: []sandboxTopic{}}
	for _, name := range box.Brokers() {
		view.Brokers = append(view.Brokers, sandboxBroker{name, box.BrokerAddr(name)})
	}
	topic := "orders"
	for i, t := range opt.Topics {
		queues := t.Queues
		if queues == 0 {
			queues = len(box.Queues(t.Name)) / len(view.Brokers)
		}
		view.Topics = append(view.Topics, sandboxTopic{t.Name, queues})
		if i == 0 {
			topic = t.Name
		}
	}
	d := render.Document{Data: view, Rows: view.Brokers}
	d.Head = []string{"sandbox is ready   name server " + view.NameServer}
	for _, t := range view.Topics {
		d.Foot = append(d.Foot, fmt.Sprintf("topic %s, %s a broker", t.Topic, countOf(t.Queues, "queue")))
	}
	if rate > 0 {
		d.Foot = append(d.Foot, fmt.Sprintf("%g messages a second to every topic", rate))
	}
	if faults > 0 {
		d.Foot = append(d.Foot, countOf(faults, "fault")+" injected")
	}
	d.Foot = append(d.Foot,
		"send   mqctl -n "+view.NameServer+" produce "+topic+" hello",
		"read   mqctl -n "+view.NameServer+" consume "+topic+" -e",
		"stop   Ctrl-C; nothing is kept")
	return p.write(d)
}

// feedSandbox sends messages to every topic until ctx ends.
func (p *program) feedSandbox(ctx context.Context, box *sandbox.Sandbox, opt sandbox.Options, rate float64) error {
	conn, err := client.New(client.Config{NameServers: box.NameServers(), Logger: p.log})
	if err != nil {
		return err
	}
	if err := conn.Start(ctx); err != nil {
		return err
	}
	producer, err := conn.StartProducer(ctx, client.ProducerConfig{})
	if err != nil {
		return joinFirst(err, p.closeClient(ctx, conn, closeLimit))
	}
	var feeds sync.WaitGroup
	for _, t := range opt.Topics {
		feeds.Go(func() { demo.Feed(ctx, producer, t.Name, rate, p.log) })
	}
	feeds.Wait()
	return p.closeClient(ctx, conn, closeLimit)
}

// stopped is the result of a command that runs until a signal: an orderly end.
func stopped(ctx context.Context) error {
	if s, ok := context.Cause(ctx).(*interruptedError); ok && s.signal != syscall.SIGTERM {
		return &exitError{code: exitInterrupted}
	}
	return nil
}

// parseRate reads a number per second: 200, 200/s, 5k/s, 2.5/s, 60/m.
func parseRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "/")
	per := time.Second
	switch unit {
	case "", "s":
	case "m":
		per = time.Minute
	default:
		return 0, fmt.Errorf("want a rate such as 200/s, 5k/s or 60/m")
	}
	factor := 1.0
	for suffix, f := range map[string]float64{"k": 1e3, "M": 1e6} {
		if rest, ok := strings.CutSuffix(number, suffix); ok {
			number, factor = rest, f
		}
	}
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !(n > 0) || n*factor > 1e9 {
		return 0, fmt.Errorf("want a rate such as 200/s, 5k/s or 60/m")
	}
	return n * factor / per.Seconds(), nil
}
