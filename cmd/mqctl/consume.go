package main

import (
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/format"
	"mqctl/internal/position"
)

func (p *program) consumeCommand() *cli.Command {
	return &cli.Command{
		Name: "consume", Category: categoryData, ArgsUsage: "TOPIC…", Usage: "read messages, with or without a group",
		Description: "Without -g this is a pure read: it joins nothing, commits nothing and disturbs nobody. It follows the topics until " +
			"Ctrl-C, unless -e, -c, --until, --idle or --for end it, and begins at the end while it follows, else at the start.\n\n" +
			"With -g it is a member of the group: queues are shared with the other members, and a message counts as consumed after its " +
			"output was written. Ctrl-C finishes what runs, commits and leaves.\n\n" +
			"A position is start, end, N, start+N, end-N, lag=N, @TIME or @-1h; a range is A..B. TIME is RFC 3339, '2006-01-02 15:04:05', 14 " +
			"digits, milliseconds, seconds, now, today or yesterday.\n\n" +
			"--where takes an expression over topic, broker, queue_id, offset, tags, keys, properties, body, json (the body as JSON), size, " +
			"born_time, store_time and reconsume_times, such as 'json.cents > 5000 && tags in [\"paid\", \"sent\"]'.",
		UsageText: "mqctl consume orders\tfollow what comes in\n" +
			"mqctl consume orders -e\tevery message there is, then end\n" +
			"mqctl consume orders --from @-1h..end -e -o jsonl\tthe last hour, for programs\n" +
			"mqctl consume orders -q broker-a/2 --from 120 -c 1\tone message\n" +
			"mqctl consume orders --from start --where 'json.cents > 5000'\tsome messages\n" +
			"mqctl consume orders -f '%s %q/%o %k %v\\n'\ta line of your own\n" +
			"mqctl consume orders -g billing --create --from start\tas a member of a group",
		Flags:  consumeFlags(),
		Action: p.consumeAction,
	}
}

func consumeFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "topic", Aliases: []string{"t"}, Usage: "a `TOPIC`, in place of an argument; may be repeated"},
		&cli.StringFlag{Name: "group", Aliases: []string{"g"}, Usage: "consume as a member of this `GROUP`"},
		&cli.BoolFlag{Name: "create", Usage: "create the group where it does not exist"},
		&cli.BoolFlag{Name: "yes", Aliases: []string{"y"}, Usage: "create the group without asking, as --create does"},
		&cli.StringFlag{Name: "from", Aliases: []string{"O"}, Usage: "`POSITION` to begin at (default end, or start with -e, -c or --until; with -g only queues without a commit begin there, by default by the rule of the Java client: the end, or the start of a queue so young that its first message is still in memory)"},
		&cli.StringFlag{Name: "until", Usage: "`POSITION` to end at, without -g"},
		&cli.StringSliceFlag{Name: "queue", Aliases: []string{"q"}, Usage: "only these `BROKER/QUEUE`s, without -g; a number alone is that queue of every broker; may be repeated"},
		&cli.StringFlag{Name: "tag", Usage: "only messages of these tags, filtered by the broker: an `EXPRESSION` such as 'A || B'"},
		&cli.StringFlag{Name: "sql", Usage: "only messages whose properties match this SQL92 `EXPRESSION`, filtered by the broker"},
		&cli.Int64Flag{Name: "count", Aliases: []string{"c"}, Usage: "end after `N` messages"},
		&cli.BoolFlag{Name: "exit", Aliases: []string{"e"}, Usage: "end at the end that each queue has now"},
		&cli.DurationFlag{Name: "idle", Usage: "end when nothing has come for this `TIME`"},
		&cli.DurationFlag{Name: "for", Usage: "end after this `TIME`"},
		&cli.StringFlag{Name: "key", Aliases: []string{"k"}, Usage: "print only messages with this `KEY`"},
		&cli.StringFlag{Name: "grep", Usage: "print only messages whose body matches this regular `EXPRESSION`"},
		&cli.StringFlag{Name: "where", Usage: "print only messages for which this `EXPRESSION` is true"},
		&cli.BoolFlag{Name: "ack-filtered", Usage: "with -g: messages that --key, --grep or --where leave out count as consumed"},
		&cli.StringFlag{Name: "ack", Value: "success", Usage: "with -g, `HOW` a message ends: success, later (every message is sent back) or hold (nothing is committed or sent back) (default success)"},
		&cli.StringFlag{Name: "mode", Value: "push", Usage: "with -g, the `KIND` of consumer: push (default push)"},
		&cli.BoolFlag{Name: "orderly", Usage: "with -g: consume each queue strictly in order"},
		&cli.BoolFlag{Name: "broadcast", Usage: "with -g: every member gets every message"},
		&cli.DurationFlag{Name: "sim-work", Usage: "with -g: pretend that a message takes this `TIME`"},
		&cli.Float64Flag{Name: "sim-fail", Usage: "with -g: pretend that a message fails with this `PROBABILITY`, 0 to 1"},
		&cli.StringFlag{Name: "format", Aliases: []string{"f"}, Usage: `print each message in this ` + "`FORMAT`" + `: %t topic, %b broker, %q queue, %o offset, %k keys, %g tags, %v body, %V its length, %h{%k=%v } properties, %m id, %M offset id, %d born, %s stored, %r reconsume times, %i counter; {hex} {base64} {json}; \n \t \xNN`},
		&cli.DurationFlag{Name: "stats", Usage: "print a line of numbers on stderr every `TIME`, such as 1s"},
		&cli.DurationFlag{Name: "drain-timeout", Value: 10 * time.Second, Usage: "with -g: the `TIME` that the end waits for running handlers (default 10s)"},
		&cli.StringFlag{Name: "cache-total", Usage: "`SIZE` of all cached messages before pulling holds back (default 256MiB)"},
	}
}

// consumeOptions is what consume is to do.
type consumeOptions struct {
	topics       []string
	group        string
	create       bool
	from         *position.Position
	until        *position.Position
	queues       admin.QueueSelector
	chosen       bool // queues says something
	tag, sql     string
	count        int64
	exit         bool
	idle, limit  time.Duration
	filter       *messageFilter
	ack          string
	orderly      bool
	broadcast    bool
	simWork      time.Duration
	simFail      float64
	stats        time.Duration
	drainTimeout time.Duration
	drainSet     bool
	cacheTotal   int64
}

// subscription is the filter that the broker applies.
func (o *consumeOptions) subscription(topic string) client.Subscription {
	if o.sql != "" {
		return client.Subscription{Topic: topic, Expression: o.sql, SQL: true}
	}
	return client.Subscription{Topic: topic, Expression: o.tag}
}

// follows reports whether nothing but a signal or a time limit ends the reading.
func (o *consumeOptions) follows() bool { return !o.exit && o.count == 0 && o.until == nil }

func (p *program) consumeOptions(c *cli.Context) (*consumeOptions, error) {
	o := &consumeOptions{
		topics: append(c.Args().Slice(), c.StringSlice("topic")...), group: c.String("group"), create: c.Bool("create") || c.Bool("yes"),
		tag: c.String("tag"), sql: c.String("sql"), count: c.Int64("count"), exit: c.Bool("exit"), idle: c.Duration("idle"), limit: c.Duration("for"),
		ack: c.String("ack"), orderly: c.Bool("orderly"), broadcast: c.Bool("broadcast"), simWork: c.Duration("sim-work"), simFail: c.Float64("sim-fail"),
		stats: c.Duration("stats"), drainTimeout: c.Duration("drain-timeout"), drainSet: c.IsSet("drain-timeout"), chosen: c.IsSet("queue"),
	}
	if err := o.readPositions(c); err != nil {
		return nil, err
	}
	var err error
	if o.queues, err = admin.ParseQueues(c.StringSlice("queue")...); err != nil {
		return nil, err
	}
	if o.filter, err = newMessageFilter(c.String("key"), c.String("grep"), c.String("where")); err != nil {
		return nil, err
	}
	if text := c.String("cache-total"); text != "" {
		if o.cacheTotal, err = parseSize(text); err != nil || o.cacheTotal < 1<<20 {
			return nil, usagef("--cache-total %s: want 1MiB or more", text)
		}
	}
	if err := o.checkCommon(c); err != nil {
		return nil, err
	}
	if o.group == "" {
		return o, o.checkRead(c)
	}
	return o, o.checkGroup(c)
}

// readPositions reads --from, which may be a range, and --until.
func (o *consumeOptions) readPositions(c *cli.Context) error {
	now := time.Now()
	if text := c.String("from"); strings.Contains(text, "..") {
		if c.IsSet("until") {
			return usagef("--from %s is a range, so --until has no place", text)
		}
		r, err := position.ParseRange(text, now, nil)
		if err != nil {
			return err
		}
		o.from, o.until = &r.From, &r.To
	} else if text != "" {
		at, err := position.Parse(text, now, nil)
		if err != nil {
			return err
		}
		o.from = &at
	}
	if text := c.String("until"); text != "" {
		at, err := position.Parse(text, now, nil)
		if err != nil {
			return err
		}
		o.until = &at
	}
	for _, at := range []*position.Position{o.from, o.until} {
		if at != nil && at.NeedsCommit() {
			return usagef("position %s counts from the commit of a group; consume begins there by itself with -g", at)
		}
	}
	return nil
}

func (o *consumeOptions) checkCommon(c *cli.Context) error {
	if len(o.topics) == 0 {
		return usagef("mqctl consume wants a TOPIC")
	}
	for i, t := range o.topics {
		if err := checkName("TOPIC", t); err != nil {
			return err
		}
		if slices.Contains(o.topics[:i], t) {
			return usagef("topic %s is given twice", t)
		}
	}
	for _, name := range []string{"idle", "for", "stats", "sim-work", "drain-timeout"} {
		if c.IsSet(name) && (c.Duration(name) < 0 || c.Duration(name) == 0 && name != "drain-timeout" && name != "sim-work") {
			return usagef("--%s %s: want more than 0", name, c.Duration(name))
		}
	}
	switch {
	case c.IsSet("count") && o.count < 1:
		return usagef("-c %d: want 1 or more", o.count)
	case o.tag != "" && o.sql != "":
		return usagef("--tag and --sql: brokers take one of them")
	case o.stats > 0 && o.stats < 100*time.Millisecond:
		return usagef("--stats %s: want 100ms or more", o.stats)
	case c.String("mode") != "push":
		return usagef("--mode %s: want push", c.String("mode"))
	}
	return nil
}

// groupOnly are the flags that mean something for members only.
var groupOnly = []string{"create", "ack", "ack-filtered", "mode", "orderly", "broadcast", "sim-work", "sim-fail", "drain-timeout", "yes"}

func (o *consumeOptions) checkRead(c *cli.Context) error {
	for _, name := range groupOnly {
		if c.IsSet(name) {
			return usagef("--%s is for members of a group; without -g nothing is joined or committed", name)
		}
	}
	return nil
}

func (o *consumeOptions) checkGroup(c *cli.Context) error {
	if err := checkName("GROUP", o.group); err != nil {
		return err
	}
	switch {
	case o.chosen:
		return usagef("-q reads chosen queues, so it needs no -g: members share the queues of a group among themselves")
	case o.until != nil:
		return usagef("--until is for reading without -g; a member ends with -e, -c, --idle or --for")
	case o.filter != nil && !c.Bool("ack-filtered"):
		return usagef("--key, --grep and --where with -g would consume what they leave out; --ack-filtered says that this is wanted, --tag and --sql filter at the broker")
	case o.ack != "success" && o.ack != "later" && o.ack != "hold":
		return usagef("--ack %s: want success, later or hold", o.ack)
	case o.simFail < 0 || o.simFail > 1:
		return usagef("--sim-fail %g: want a probability from 0 to 1", o.simFail)
	case o.orderly && o.broadcast:
		return usagef("--orderly and --broadcast exclude each other: only one member may hold a queue's lock")
	}
	return nil
}

func (p *program) consumeAction(c *cli.Context) error {
	o, err := p.consumeOptions(c)
	if err != nil {
		return err
	}
	var f *format.Format
	if c.IsSet("format") {
		if f, err = format.Parse(c.String("format")); err != nil {
			return err
		}
		if p.opt.output != "" {
			return usagef("-f and -o both say how to print messages")
		}
	}
	printer, err := p.newMessagePrinter(f, len(o.topics) > 1)
	if err != nil {
		return err
	}
	if o.group != "" {
		return p.consumeGroup(c.Context, o, printer)
	}
	return p.consumeRead(c.Context, o, printer)
}
