package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
	"mqctl/internal/stats"
)

// lagRow is a queue in the table of offset lag.
type lagRow struct {
	Topic   string      `json:"topic" col:"TOPIC"`
	Queue   string      `json:"queue" col:"QUEUE"`
	Commit  string      `json:"commit" col:"COMMIT,right,drop=2"` // or none, or ? where it could not be read
	Max     *int64      `json:"max" col:"MAX,drop=3" unit:"count"`
	Lag     *int64      `json:"lag" col:"LAG" unit:"count"`
	In      *stats.Rate `json:"in_rate" col:"IN/S" unit:"rate"`
	Out     *stats.Rate `json:"out_rate" col:"OUT/S" unit:"rate"`
	Drain   string      `json:"drain" col:"DRAIN,right,drop=4"` // or never
	Verdict string      `json:"verdict" col:"VERDICT,state" none:"?"`
	Note    string      `json:"note" col:"NOTE,drop=1"`
}

// lagDataRow is a queue in csv and jsonl.
type lagDataRow struct {
	Group string `json:"group"`
	admin.QueueLag
}

const usualSample = 10 * time.Second

func (p *program) offsetLagCommand() *cli.Command {
	return &cli.Command{
		Name: "lag", ArgsUsage: "GROUP…", Usage: "show how far groups are behind",
		Description: "COMMIT is what the group has finished, MAX the end of the queue, LAG what lies between. What is unknown is ? and left out " +
			"of the sums, never 0: a queue without a commit has an unknown lag, and messages that were deleted before they were read are no lag.\n\n" +
			"Rates, the time to drain and some verdicts take a second sample, 10s later on a terminal; elsewhere there is one sample unless " +
			"--sample says more. OK: keeps up. LAGGING: the commit moves slower than the end. STALLED: it stands still. UNOWNED: nobody " +
			"is online. REWOUND: it went back. AHEAD: it lies beyond the end.",
		UsageText: "mqctl offset lag order-service\tevery queue, worst first\n" +
			"mqctl offset lag order-service --sample 0 -o json\tone sample, for programs\n" +
			"mqctl offset lag a b --only-lag --top 10\tthe worst queues of two groups",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "group", Aliases: []string{"g"}, Usage: "a `GROUP`, in place of the argument; may be repeated"},
			&cli.StringSliceFlag{Name: "topic", Aliases: []string{"t"}, Usage: "only this `TOPIC`; may be repeated"},
			&cli.DurationFlag{Name: "sample", Usage: "`TIME` between two samples, 0 for one sample (default 10s on a terminal, else 0)"},
			&cli.BoolFlag{Name: "only-lag", Usage: "leave out queues that are not behind"},
			&cli.IntFlag{Name: "top", Usage: "only the worst `N` queues of each group"},
		},
		Action: p.offsetLagAction,
	}
}

// lagQuestion is what one run of offset lag asks.
type lagQuestion struct {
	groups  []string
	topics  []string
	sample  time.Duration
	onlyLag bool
	top     int
}

func (p *program) lagQuestion(c *cli.Context) (q lagQuestion, err error) {
	q = lagQuestion{
		groups: append(c.Args().Slice(), c.StringSlice("group")...), topics: c.StringSlice("topic"),
		onlyLag: c.Bool("only-lag"), top: c.Int("top"), sample: c.Duration("sample"),
	}
	if len(q.groups) == 0 {
		return q, usagef("%s wants a GROUP", commandName(c))
	}
	for _, g := range q.groups {
		if err := checkName("GROUP", g); err != nil {
			return q, err
		}
	}
	for _, t := range q.topics {
		if err := checkName("TOPIC", t); err != nil {
			return q, err
		}
	}
	if q.sample < 0 || c.IsSet("top") && q.top < 1 {
		return q, usagef("--sample and --top want more than 0")
	}
	if !c.IsSet("sample") && p.outTerminal && p.forEyes() && p.opt.watch == 0 {
		q.sample = usualSample
	}
	return q, nil
}

func (p *program) offsetLagAction(c *cli.Context) error {
	q, err := p.lagQuestion(c)
	if err != nil {
		return err
	}
	conn, err := p.connect(c.Context)
	if err != nil {
		return err
	}
	a := admin.New(conn)
	var before []*admin.LagReport
	return p.watch(c, func() error {
		reports, err := p.askLag(c.Context, a, q)
		if err != nil {
			return err
		}
		if p.opt.watch > 0 {
			since(reports, before)
			before = reports
			return p.writeLag(q, reports)
		}
		if q.sample == 0 {
			return p.writeLag(q, reports)
		}
		return p.sampleAgain(c.Context, a, q, reports)
	})
}

// sampleAgain shows the first sample at once on a terminal, and the second in its place.
func (p *program) sampleAgain(ctx context.Context, a *admin.Admin, q lagQuestion, first []*admin.LagReport) error {
	shown := 0
	if p.outTerminal && p.forEyes() {
		var text strings.Builder
		if err := p.renderLag(&text, q, first); err != nil {
			return err
		}
		fmt.Fprintf(&text, "\nrates in %s …\n", trimDuration(q.sample))
		shown = strings.Count(text.String(), "\n")
		if _, err := io.WriteString(p.stdout, text.String()); err != nil {
			return err
		}
	}
	wait := time.NewTimer(q.sample)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	second, err := p.askLag(ctx, a, q)
	if err != nil {
		return err
	}
	since(second, first)
	if _, err := io.WriteString(p.stdout, p.redraw(shown)); err != nil {
		return err
	}
	return p.writeLag(q, second)
}

func since(now, before []*admin.LagReport) {
	for i := range min(len(now), len(before)) {
		now[i].Since(before[i])
	}
}

func (p *program) askLag(ctx context.Context, a *admin.Admin, q lagQuestion) ([]*admin.LagReport, error) {
	ctx, cancel := p.withDeadline(ctx)
	defer cancel()
	reports := make([]*admin.LagReport, len(q.groups))
	var unknown []error
	for i, g := range q.groups {
		var err error
		reports[i], err = a.Lag(ctx, g, admin.LagOptions{Topics: q.topics})
		switch {
		case errors.Is(err, client.ErrGroupNotFound): // takes nothing away from the other groups
			reports[i] = unknownGroup(g, err)
			unknown = append(unknown, err)
		case err != nil:
			return nil, err
		}
	}
	if len(unknown) == len(reports) {
		return nil, errors.Join(unknown...)
	}
	return reports, nil
}

// unknownGroup stands for a group that no broker knows, among others.
func unknownGroup(group string, err error) *admin.LagReport {
	return &admin.LagReport{
		Group: group, At: time.Now(), Queues: []admin.QueueLag{}, Partial: true, Failures: []error{err}, Error: client.ErrGroupNotFound.Error(),
	}
}

func (p *program) writeLag(q lagQuestion, reports []*admin.LagReport) error {
	if err := p.renderLag(p.stdout, q, reports); err != nil {
		return err
	}
	missing, causes := false, []error(nil)
	for _, r := range reports {
		missing, causes = missing || r.Partial, append(causes, r.Failures...)
	}
	return partOf(missing, causes)
}

func (p *program) renderLag(w io.Writer, q lagQuestion, reports []*admin.LagReport) error {
	if p.forEyes() {
		return p.renderLagTables(w, q, reports)
	}
	d := render.Document{Data: reports}
	if len(reports) == 1 {
		d.Data = reports[0]
	}
	rows := []lagDataRow{}
	for _, r := range reports {
		r.Queues = q.choose(r.Queues)
		for _, row := range r.Queues {
			rows = append(rows, lagDataRow{r.Group, row})
		}
		if r.Error != "" {
			rows = append(rows, lagDataRow{r.Group, admin.QueueLag{Verdict: admin.VerdictUnknown, Error: r.Error}})
		}
	}
	d.Rows = rows
	return render.Write(w, render.Format(p.opt.output), d, p.renderOptions())
}

func (p *program) renderLagTables(w io.Writer, q lagQuestion, reports []*admin.LagReport) error {
	f := render.FormatTable
	if p.opt.output != "" {
		f = render.Format(p.opt.output)
	}
	for i, r := range reports {
		if i > 0 {
			if _, err := io.WriteString(w, "\n"); err != nil {
				return err
			}
		}
		if err := render.Write(w, f, p.lagDocument(q, r), p.renderOptions()); err != nil {
			return err
		}
	}
	return nil
}

// choose sorts trouble first and leaves out what was not asked for.
func (q lagQuestion) choose(queues []admin.QueueLag) []admin.QueueLag {
	list := slices.Clone(queues)
	slices.SortStableFunc(list, func(a, b admin.QueueLag) int {
		return cmp.Or(cmp.Compare(lagOf(b), lagOf(a)), cmp.Compare(severity(b.Verdict), severity(a.Verdict)))
	})
	if q.onlyLag {
		list = slices.DeleteFunc(list, func(l admin.QueueLag) bool { return l.Lag != nil && *l.Lag == 0 })
	}
	if q.top > 0 && len(list) > q.top {
		list = list[:q.top]
	}
	return list
}

func lagOf(q admin.QueueLag) int64 {
	if q.Lag == nil {
		return -1
	}
	return *q.Lag
}

// severities orders verdicts from fine to worst.
var severities = []string{admin.VerdictOK, "", admin.VerdictUnknown, admin.VerdictAhead, admin.VerdictRewound, admin.VerdictLagging,
	admin.VerdictUnowned, admin.VerdictStalled}

func severity(verdict string) int { return slices.Index(severities, verdict) }

// lagDocument is a group's page: the sum on top, then queue by queue, then what the numbers leave out.
func (p *program) lagDocument(q lagQuestion, r *admin.LagReport) render.Document {
	if r.Error != "" {
		return render.Document{Data: r, Head: []string{r.Group + "   " + admin.VerdictUnknown + "   " + r.Error}}
	}
	d := render.Document{Data: r, Head: []string{lagHead(r)}}
	rows := []lagRow{}
	for _, l := range q.choose(r.Queues) {
		rows = append(rows, newLagRow(r, l, p.outTerminal))
	}
	d.Rows = rows
	if len(rows) == 0 {
		d.Rows = nil
		d.Head = append(d.Head, "no queue is behind")
		if len(r.Queues) == 0 {
			d.Head[1] = nothingOf(r)
		}
	}
	if r.Unknown > 0 {
		d.Foot = append(d.Foot, countOf(r.Unknown, "queue")+" of unknown lag, left out of the sum.")
	}
	if r.Expired > 0 {
		d.Foot = append(d.Foot, fmt.Sprintf("%s messages were deleted before the group read them; they are no lag.", render.Count(r.Expired)))
	}
	return d
}

// nothingOf says why a group has no queue at all: that it has no member takes every broker's word.
func nothingOf(r *admin.LagReport) string {
	if r.Partial || r.Members == nil {
		return "no offsets were found; whether the group has members or offsets elsewhere could not be read"
	}
	return "the group has no member and no offsets"
}

// commitText is none only where the broker said that there is no commit.
func commitText(l admin.QueueLag, human bool) string {
	switch {
	case l.Commit != nil && human:
		return render.Count(*l.Commit)
	case l.Commit != nil:
		return strconv.FormatInt(*l.Commit, 10)
	case l.NeverCommitted:
		return "none"
	}
	return "?"
}

func newLagRow(r *admin.LagReport, l admin.QueueLag, human bool) lagRow {
	row := lagRow{
		Topic: l.Topic, Queue: l.Broker, Commit: commitText(l, human), Max: l.Max, Lag: l.Lag, In: l.InRate, Out: l.OutRate, Verdict: l.Verdict, Note: l.Note,
	}
	if l.Topic == protocol.RetryTopic(r.Group) {
		row.Topic = protocol.RetryTopicPrefix
	}
	if l.QueueID != nil {
		row.Queue += "/" + strconv.Itoa(int(*l.QueueID))
	}
	if l.LagMost != nil {
		row.Note = strings.TrimPrefix(row.Note+fmt.Sprintf("; at most %s wait", render.Count(*l.LagMost)), "; ")
	}
	if l.Error != "" {
		row.Note = l.Error
	}
	switch {
	case l.NeverDrain:
		row.Drain = "never"
	case l.Drain != nil:
		row.Drain = render.Duration(*l.Drain)
	case l.Lag != nil && *l.Lag == 0 && l.OutRate != nil:
		row.Drain = "0"
	default:
		row.Drain = "?"
	}
	return row
}

func lagHead(r *admin.LagReport) string {
	worst := ""
	in, out, rated := 0.0, 0.0, false
	for _, q := range r.Queues {
		if severity(q.Verdict) > severity(worst) || worst == "" {
			worst = q.Verdict
		}
		if q.InRate != nil && q.OutRate != nil {
			in, out, rated = in+float64(*q.InRate), out+float64(*q.OutRate), true
		}
	}
	parts := []string{r.Group}
	if worst != "" {
		parts = append(parts, worst)
	}
	lag := "lag ?"
	if r.Lag != nil {
		lag = "lag " + render.Count(*r.Lag)
	}
	parts = append(parts, lag)
	if rated {
		parts = append(parts, "in "+render.PerSecond(in)+"/s", "out "+render.PerSecond(out)+"/s")
	}
	members := "members ?"
	if r.Members != nil {
		members = countOf(*r.Members, "member")
	}
	return strings.Join(append(parts, members), "   ")
}
