package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
)

func (p *program) topicCreateCommand() *cli.Command {
	return &cli.Command{
		Name: "create", ArgsUsage: "TOPIC", Usage: "create a topic, or change one",
		Description: "Shows a plan first: what each broker has and will have. What no flag names stays as it is at brokers that have the " +
			"topic. On a terminal the topic's name is then to be typed; -y goes on without, and off a terminal nothing happens without it.",
		UsageText: "mqctl topic create orders --queues 8\t8 queues to read and write at each broker\n" +
			"mqctl topic create orders --queues 16 --dry-run\tthe plan alone\n" +
			"mqctl topic create fifo --attr message.type=FIFO -y\tfor scripts",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "topic", Aliases: []string{"t"}, Usage: "the `TOPIC`, in place of the argument"},
			&cli.IntFlag{Name: "queues", Usage: "`NUMBER` of queues at each broker (default of a new topic: 8)"},
			&cli.StringFlag{Name: "perm", Usage: "`PERM`issions: rw, r or w (default of a new topic: rw)"},
			&cli.BoolFlag{Name: "order", Usage: "mark it as an ordered topic; --order=false takes that away"},
			&cli.StringSliceFlag{Name: "attr", Usage: "attribute `NAME=VALUE`, of brokers since 5.0; without a value it is removed; may be repeated"},
			&cli.StringFlag{Name: "cluster", Usage: "create it at every broker of this `CLUSTER` (default: the only one)"},
			&cli.StringSliceFlag{Name: "broker", Aliases: []string{"b"}, Usage: "create it at this `BROKER` only; may be repeated"},
		}, confirmFlags()...),
		Action: p.topicCreateAction,
	}
}

// perms are the values of --perm.
var perms = map[string]protocol.Perm{
	"rw": protocol.PermRead | protocol.PermWrite, "wr": protocol.PermRead | protocol.PermWrite, "r": protocol.PermRead, "w": protocol.PermWrite,
	"6": protocol.PermRead | protocol.PermWrite, "4": protocol.PermRead, "2": protocol.PermWrite,
}

func (p *program) topicSpec(c *cli.Context) (admin.TopicSpec, error) {
	topic, err := oneName(c, "topic", "TOPIC")
	s := admin.TopicSpec{Name: topic, Queues: c.Int("queues"), Targets: admin.Targets{Cluster: c.String("cluster"), Brokers: c.StringSlice("broker")}}
	if err != nil {
		return s, err
	}
	if c.IsSet("queues") && s.Queues < 1 {
		return s, usagef("--queues %d: want 1 or more", s.Queues)
	}
	if text := c.String("perm"); text != "" {
		var ok bool
		if s.Perm, ok = perms[strings.ToLower(text)]; !ok {
			return s, usagef("--perm %s: want rw, r or w", text)
		}
	}
	if c.IsSet("order") {
		order := c.Bool("order")
		s.Order = &order
	}
	for _, text := range c.StringSlice("attr") {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return s, usagef("--attr %s: want NAME=VALUE, such as message.type=FIFO", text)
		}
		if s.Attributes == nil {
			s.Attributes = map[string]string{}
		}
		s.Attributes[strings.TrimPrefix(name, "+")] = value
	}
	return s, s.Validate()
}

func (p *program) topicCreateAction(c *cli.Context) error {
	spec, err := p.topicSpec(c)
	if err != nil {
		return err
	}
	if err := p.refuseReadOnly("mqctl topic create"); err != nil && !c.Bool("dry-run") {
		return err
	}
	conn, err := p.connect(c.Context)
	if err != nil {
		return err
	}
	a := admin.New(conn)
	ctx, cancel := p.withDeadline(c.Context)
	plan, err := a.PlanTopic(ctx, spec)
	cancel()
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		if err := p.writeTopicPlan(plan, true); err != nil {
			return err
		}
		p.note("dry run: nothing was changed")
		return partOf(plan.Partial, plan.Failures)
	}
	if !p.opt.quiet || !c.Bool("yes") {
		if err := p.writeTopicPlan(plan, false); err != nil {
			return err
		}
	}
	if plan.Writes() == 0 {
		p.note("nothing to do")
		return partOf(plan.Partial, plan.Failures)
	}
	goOn, err := p.confirm(c, "topic", spec.Name)
	if err != nil || !goOn {
		return err
	}
	return p.applyTopic(c.Context, a, plan)
}

// planRow is a broker in the table of a plan or of its result.
type planRow struct {
	Broker string `json:"broker" col:"BROKER"`
	Addr   string `json:"addr" col:"ADDRESS"`
	Action string `json:"action" col:"ACTION"`
	Text   string `json:"text" col:"WHAT"`
}

// writeTopicPlan shows a plan: as data when it is all there is, for people otherwise.
func (p *program) writeTopicPlan(plan *admin.TopicPlan, asData bool) error {
	d := render.Document{Data: plan, Rows: plan.Brokers}
	if !asData || p.forEyes() {
		rows := []planRow{}
		for _, b := range plan.Brokers {
			rows = append(rows, planRows(b)...)
		}
		d.Rows = rows
	}
	d.Head = []string{fmt.Sprintf("PLAN   topic %s   nothing has changed yet", plan.Topic)}
	o := p.renderOptions()
	o.Width = 0 // a plan is shown whole: what is cut off cannot be agreed to
	if asData {
		return render.Write(p.stdout, render.Format(cmp.Or(p.opt.output, string(render.FormatTable))), d, o)
	}
	return render.Write(p.stderr, render.FormatTable, d, render.Options{Human: p.errTerminal})
}

// planRows is the plan for one broker, a line for each setting, which fits where all of them in one line would not.
func planRows(b admin.TopicPlanBroker) []planRow {
	texts := []string{}
	for _, change := range b.Changes {
		texts = append(texts, change.String())
	}
	if text := cmp.Or(b.Error, b.Text); len(texts) == 0 {
		texts = append(texts, text)
	}
	if b.Note != "" {
		texts = append(texts, b.Note)
	}
	rows := []planRow{{Broker: b.Broker, Addr: b.Addr, Action: b.Action, Text: texts[0]}}
	for _, text := range texts[1:] {
		rows = append(rows, planRow{Text: text})
	}
	return rows
}

func (p *program) applyTopic(ctx context.Context, a *admin.Admin, plan *admin.TopicPlan) error {
	ctx, cancel := p.withDeadline(ctx)
	defer cancel()
	result, err := a.ApplyTopic(ctx, plan)
	if result != nil {
		if werr := p.write(p.appliedDocument(result)); werr != nil {
			return werr
		}
	}
	if err != nil {
		return err
	}
	return partOf(result.Partial, result.Failures)
}

// appliedDocument is what became of a plan.
func (p *program) appliedDocument(result *admin.Applied) render.Document {
	d := render.Document{Data: result, Rows: result.Brokers}
	if !p.forEyes() {
		return d
	}
	rows := []planRow{}
	for _, b := range result.Brokers {
		text := "done"
		if !b.Done {
			text = cmp.Or(b.Error, "not done")
		}
		rows = append(rows, planRow{b.Broker, b.Addr, b.Action, text})
	}
	d.Rows = rows
	return d
}
