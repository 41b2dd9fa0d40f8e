package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/format"
	"mqctl/internal/protocol"
)

func (p *program) produceCommand() *cli.Command {
	return &cli.Command{
		Name: "produce", Category: categoryData, ArgsUsage: "TOPIC [BODY|@FILE|-]", Usage: "send messages",
		Description: "The body is an argument, the content of @FILE, or comes from standard input: one message a line, unless --in says " +
			"otherwise. A body that begins with @ is written with @@. Brokers do not store empty bodies, so an empty line is an error.\n\n" +
			"--in jsonl reads what consume -o jsonl writes and sends the same bytes; properties that brokers and clients make are not sent " +
			"again. --in FORMAT takes the verbs of -f, such as '%k:%v\\n'; '%v' alone is all of standard input in one message.\n\n" +
			"The first message that cannot be sent ends the run. Each message that was stored is one line of output.",
		UsageText: "mqctl produce orders 'hello' -k ORD-1 --tag new\tone message\n" +
			"mqctl produce orders @order.json -p source=test\tthe content of a file\n" +
			"seq 100 | mqctl produce orders --send async\tone message a line\n" +
			"mqctl consume orders -e -o jsonl | mqctl produce copy --in jsonl\tcopy a topic\n" +
			"mqctl produce orders ping -c 1000 --rate 50/s\tthe same message at a rate",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "topic", Aliases: []string{"t"}, Usage: "the `TOPIC`, in place of the argument"},
			&cli.StringFlag{Name: "in", Value: "lines", Usage: "what standard input holds: lines, jsonl or a `FORMAT` (default lines)"},
			&cli.StringFlag{Name: "key", Aliases: []string{"k"}, Usage: "index `KEY`; several are separated by blanks"},
			&cli.StringFlag{Name: "tag", Usage: "the message's `TAG`"},
			&cli.StringSliceFlag{Name: "property", Aliases: []string{"p"}, Usage: "property `NAME=VALUE`; may be repeated"},
			&cli.IntFlag{Name: "delay-level", Usage: "deliver later: `LEVEL` 1 to 18 are 1s 5s 10s 30s 1m … 10m 20m 30m 1h 2h"},
			&cli.StringFlag{Name: "order", Usage: "sharding `KEY`: messages of one key go to one queue, in order"},
			&cli.StringFlag{Name: "queue", Aliases: []string{"q"}, Usage: "the one `BROKER/QUEUE` to send to"},
			&cli.StringFlag{Name: "send", Value: "sync", Usage: "`HOW`: sync waits for each answer, async for none before the end, oneway for none at all (default sync)"},
			&cli.IntFlag{Name: "batch", Usage: "send `N` messages in one request"},
			&cli.StringFlag{Name: "compress", Usage: "pack bodies of 4KiB and more by `KIND`: zlib, lz4, zstd or none (default zlib, which every client reads)"},
			&cli.Int64Flag{Name: "count", Aliases: []string{"c"}, Usage: "send `N` messages: the argument so often, or so many of standard input"},
			&cli.StringFlag{Name: "rate", Usage: "at most this `RATE`, such as 50/s"},
			&cli.StringFlag{Name: "group", Aliases: []string{"g"}, Value: client.DefaultProducerGroup, Usage: "producer `GROUP` (default " + client.DefaultProducerGroup + ")"},
		},
		Action: p.produceAction,
	}
}

// produceOptions is what produce is to do.
type produceOptions struct {
	topic      string
	body       []byte // of the argument; nil: standard input
	in         string
	key, tag   *string
	properties protocol.Properties
	level      int
	order      string
	queue      string
	send       string
	batch      int
	count      int64 // 0 is no limit
	rate       float64
	compress   string
	group      string
}

// maxDelayLevel is the last of the delay levels that brokers have by default.
const maxDelayLevel = 18

func (p *program) produceOptions(c *cli.Context) (o produceOptions, err error) {
	o = produceOptions{
		in: c.String("in"), level: c.Int("delay-level"), order: c.String("order"), queue: c.String("queue"), send: c.String("send"),
		batch: c.Int("batch"), count: c.Int64("count"), compress: c.String("compress"), group: c.String("group"),
	}
	args := c.Args().Slice()
	if o.topic = c.String("topic"); o.topic == "" {
		if len(args) == 0 {
			return o, usagef("mqctl produce wants a TOPIC")
		}
		o.topic, args = args[0], args[1:]
	}
	if err := checkName("TOPIC", o.topic); err != nil {
		return o, err
	}
	if err := checkName("GROUP", o.group); err != nil {
		return o, err
	}
	if len(args) > 1 {
		return o, usagef("mqctl produce wants one BODY, got %d; quote a body with blanks", len(args))
	}
	if len(args) == 1 {
		if o.body, err = p.bodyArgument(args[0]); err != nil {
			return o, err
		}
		if o.body != nil && c.IsSet("in") {
			return o, usagef("--in says how to read standard input, but there is a BODY")
		}
	}
	if c.IsSet("key") {
		key := c.String("key")
		o.key = &key
	}
	if c.IsSet("tag") {
		tag := c.String("tag")
		o.tag = &tag
	}
	for _, text := range c.StringSlice("property") {
		if err := o.addProperty(text); err != nil {
			return o, err
		}
	}
	if text := c.String("rate"); text != "" {
		if o.rate, err = parseRate(text); err != nil {
			return o, usagef("--rate %s: %v", text, err)
		}
	}
	return o, o.check(c)
}

// bodyArgument is the body that an argument says, nil for standard input.
func (p *program) bodyArgument(text string) ([]byte, error) {
	switch {
	case text == "-":
		return nil, nil
	case strings.HasPrefix(text, "@@"):
		return []byte(text[1:]), nil
	case text == "@-":
		return readAll(p.stdin)
	case strings.HasPrefix(text, "@"):
		f, err := os.Open(text[1:])
		if err != nil {
			return nil, err
		}
		body, err := readAll(f)
		return body, errors.Join(err, f.Close())
	}
	return []byte(text), nil
}

// maxBodyFile bounds a body that is read from a file: far more than brokers take.
const maxBodyFile = 1 << 30

func readAll(r io.Reader) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(r, maxBodyFile+1))
	if err == nil && len(body) > maxBodyFile {
		err = usagef("the body is larger than 1 GiB")
	}
	if body == nil {
		body = []byte{}
	}
	return body, err
}

func (o *produceOptions) addProperty(text string) error {
	name, value, ok := strings.Cut(text, "=")
	switch {
	case !ok || name == "":
		return usagef("-p %s: want NAME=VALUE", text)
	case value == "":
		return usagef("-p %s: the value is empty, and brokers do not store that", text)
	case name == protocol.PropertyTags:
		return usagef("-p %s: the tag is --tag", text)
	case name == protocol.PropertyKeys:
		return usagef("-p %s: the key is -k", text)
	case name == protocol.PropertyDelayLevel:
		return usagef("-p %s: the delay is --delay-level", text)
	case format.Reserved(name):
		return usagef("-p %s: brokers and clients keep that name for themselves", text)
	}
	if _, twice := o.properties.Get(name); twice {
		return usagef("-p %s: the property is given twice", text)
	}
	o.properties.Set(name, value)
	return nil
}

func (o *produceOptions) check(c *cli.Context) error {
	switch {
	case o.send != "sync" && o.send != "async" && o.send != "oneway":
		return usagef("--send %s: want sync, async or oneway", o.send)
	case c.IsSet("delay-level") && (o.level < 1 || o.level > maxDelayLevel):
		return usagef("--delay-level %d: want 1 to %d", o.level, maxDelayLevel)
	case c.IsSet("count") && o.count < 1:
		return usagef("-c %d: want 1 or more", o.count)
	case c.IsSet("batch") && (o.batch < 1 || o.batch > protocol.MaxBatchParts):
		return usagef("--batch %d: want 1 to %d", o.batch, protocol.MaxBatchParts)
	case o.batch > 0 && (o.send != "sync" || o.order != "" || o.queue != "" || o.level > 0):
		return usagef("--batch goes with --send sync, and without --order, -q and --delay-level")
	case o.order != "" && o.queue != "":
		return usagef("--order and -q both choose the queue")
	case o.send != "sync" && (o.order != "" || o.queue != ""):
		return usagef("--order and -q wait for each answer: they go with --send sync")
	case o.compress != "" && compressions[o.compress] == nil:
		return usagef("--compress %s: want zlib, lz4, zstd or none", o.compress)
	}
	if o.body != nil && o.count == 0 {
		o.count = 1
	}
	return nil
}

// compressions are the values of --compress.
var compressions = map[string]func(*client.ProducerConfig){
	"zlib": func(c *client.ProducerConfig) { c.Compress = protocol.CompressZlib },
	"lz4":  func(c *client.ProducerConfig) { c.Compress = protocol.CompressLZ4 },
	"zstd": func(c *client.ProducerConfig) { c.Compress = protocol.CompressZstd },
	"none": func(c *client.ProducerConfig) { c.CompressOver = -1 },
}

func (p *program) produceAction(c *cli.Context) error {
	o, err := p.produceOptions(c)
	if err != nil {
		return err
	}
	if err := p.refuseReadOnly("mqctl produce"); err != nil {
		return err
	}
	source, err := p.messageSource(o)
	if err != nil {
		return err
	}
	out, err := p.newResultPrinter()
	if err != nil {
		return err
	}
	conn, err := p.connect(c.Context)
	if err != nil {
		return err
	}
	run := &produceRun{program: p, o: o, source: source, out: out, began: time.Now()}
	if o.queue != "" {
		if run.queue, err = p.oneQueue(c.Context, conn, o.topic, o.queue); err != nil {
			return err
		}
	}
	cfg := client.ProducerConfig{Group: o.group}
	if choose := compressions[o.compress]; choose != nil {
		choose(&cfg)
	}
	p.opt.settings.apply("producer", &cfg)
	if run.producer, err = conn.StartProducer(c.Context, cfg); err != nil {
		return err
	}
	return run.run(c.Context)
}

// oneQueue finds the queue that -q names.
func (p *program) oneQueue(ctx context.Context, conn *client.Client, topic, text string) (protocol.MessageQueue, error) {
	selector, err := admin.ParseQueues(text)
	if err != nil {
		return protocol.MessageQueue{}, err
	}
	ctx, cancel := p.withDeadline(ctx)
	defer cancel()
	route, err := conn.Route(ctx, topic)
	if err != nil {
		return protocol.MessageQueue{}, hintCreate(err, topic)
	}
	found, err := selector.Select(topic, route.Publish)
	if err != nil {
		return protocol.MessageQueue{}, err
	}
	if len(found) != 1 {
		return protocol.MessageQueue{}, usagef("-q %s is %d queues; a message goes to one, BROKER/QUEUE", text, len(found))
	}
	return found[0], nil
}

// hintCreate adds how to create a topic that does not exist.
func hintCreate(err error, topic string) error {
	if errors.Is(err, client.ErrTopicNotFound) {
		return withHint(err, "create it with mqctl topic create %s", topic)
	}
	return err
}

// messageSource gives the messages to send, io.EOF after the last.
func (p *program) messageSource(o produceOptions) (func() (*protocol.Message, error), error) {
	left := o.count
	limited := func(next func() (*protocol.Message, error)) func() (*protocol.Message, error) {
		return func() (*protocol.Message, error) {
			if o.count > 0 && left == 0 {
				return nil, io.EOF
			}
			left--
			m, err := next()
			if err != nil {
				return nil, err
			}
			o.dress(m)
			return m, nil
		}
	}
	if o.body != nil {
		if len(o.body) == 0 {
			return nil, usagef("the body is empty, and brokers do not store that")
		}
		return limited(func() (*protocol.Message, error) { return &protocol.Message{Body: bytes.Clone(o.body)}, nil }), nil
	}
	if p.inTerminal {
		p.note("reading %s from the terminal; Ctrl-D ends", o.in)
	}
	reader, err := format.NewReader(p.stdin, o.in)
	if err != nil {
		return nil, usagef("--in: %v", err)
	}
	return limited(reader.Read), nil
}

// dress gives a message what the flags say.
func (o *produceOptions) dress(m *protocol.Message) {
	m.Topic = o.topic
	if o.key != nil {
		m.Properties.Set(protocol.PropertyKeys, *o.key)
	}
	if o.tag != nil {
		m.Properties.Set(protocol.PropertyTags, *o.tag)
	}
	for _, x := range o.properties {
		m.Properties.Set(x.Name, x.Value)
	}
	if o.order != "" {
		m.Properties.Set(protocol.PropertyShardingKey, o.order)
	}
	if o.level > 0 {
		m.Properties.Set(protocol.PropertyDelayLevel, strconv.Itoa(o.level))
	}
}

// errorAt says which message of the input an error is about.
func errorAt(n int64, o produceOptions, err error) error {
	if o.body != nil && o.count <= 1 {
		return hintCreate(err, o.topic)
	}
	return hintCreate(fmt.Errorf("message %d: %w", n, err), o.topic)
}
