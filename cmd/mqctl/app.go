package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"mqctl/internal/position"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
)

// Categories of commands and flags in the help.
const (
	categoryData  = "MESSAGES"
	categoryAdmin = "ADMINISTRATION"
	categoryLocal = "LOCAL"
)

// rootOptions is what the flags of mqctl itself say.
type rootOptions struct {
	nameServers string
	settings    settings
	output      string // "" is the default of the command
	timeout     time.Duration
	watch       time.Duration // 0 is once
	quiet       bool
	verbose     int
	readOnly    bool
	wire        string
	maxFrame    int
	logFormat   string
}

// newApp is the command tree. It is made anew for each run: urfave/cli keeps state in it.
func (p *program) newApp() *cli.App {
	return &cli.App{
		Name:                      "mqctl",
		HelpName:                  "mqctl",
		Usage:                     "produce, consume and look after RocketMQ",
		HideVersion:               true,
		HideHelpCommand:           true,
		DisableSliceFlagSeparator: true,
		Writer:                    p.stdout,
		ErrWriter:                 p.stderr,
		Reader:                    p.stdin,
		Flags:                     p.rootFlags(),
		Before:                    p.before,
		OnUsageError:              onUsageError,
		ExitErrHandler:            func(*cli.Context, error) {}, // main maps errors to exit codes
		Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return p.versionAction(c)
			}
			return usagef("no command; see mqctl --help")
		},
		Commands: p.finish([]*cli.Command{
			p.demoCommand(), p.sandboxCommand(), p.consumeCommand(), p.produceCommand(),
			p.topicCommand(), p.offsetCommand(), p.wireCommand(), p.completionCommand(), p.versionCommand(),
			alias("topics", p.topicLsCommand()), alias("lag", p.offsetLagCommand()),
		}, ""),
	}
}

// alias is a command under another name, which the help leaves out.
func alias(name string, c *cli.Command) *cli.Command {
	c.Name, c.Hidden = name, true
	return c
}

// watchable are the commands that --watch repeats: those that read the cluster and end by themselves.
var watchable = []string{"topic ls", "topic route", "topics", "offset topic", "offset lag", "lag"}

// finish sets what all commands have in common.
func (p *program) finish(commands []*cli.Command, path string) []*cli.Command {
	for _, c := range commands {
		name := strings.TrimSpace(path + " " + c.Name)
		c.HideHelpCommand = true // else a topic named help would be a command
		c.OnUsageError = onUsageError
		p.finish(c.Subcommands, name)
		action := c.Action
		if action == nil {
			continue
		}
		c.Action = func(c *cli.Context) error {
			if p.opt.watch > 0 && !slices.Contains(watchable, name) {
				return usagef("mqctl %s has no --watch: --watch repeats commands that read, %s", name, strings.Join(watchable, ", "))
			}
			return action(c)
		}
	}
	return commands
}

func (p *program) rootFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "namesrv", Aliases: []string{"n"}, EnvVars: setVariables("MQCTL_NAMESRV", "NAMESRV_ADDR"),
			Usage: "name servers, `HOST:PORT` separated by ; or , [$MQCTL_NAMESRV, $NAMESRV_ADDR]"},
		&cli.StringFlag{Name: "output", Aliases: []string{"o"}, EnvVars: setVariables("MQCTL_OUTPUT"),
			Usage: "output `FORMAT`: table, wide, json, jsonl, yaml, csv; consume has raw and hex as well [$MQCTL_OUTPUT]"},
		&cli.DurationFlag{Name: "timeout", EnvVars: setVariables("MQCTL_TIMEOUT"), Value: 5 * time.Second,
			Usage: "time `LIMIT` of a question or change as a whole (default 5s) [$MQCTL_TIMEOUT]"},
		&cli.StringSliceFlag{Name: "set", Aliases: []string{"X"},
			Usage: "`KEY=VALUE` for any setting of the engine; -X list shows them"},
		&cli.DurationFlag{Name: "watch", Usage: "repeat a command that reads every `TIME`, such as 2s"},
		&cli.BoolFlag{Name: "read-only", EnvVars: setVariables("MQCTL_READ_ONLY"), Usage: "refuse every command that writes [$MQCTL_READ_ONLY]"},
		&cli.StringFlag{Name: "wire", EnvVars: setVariables("MQCTL_WIRE"), Usage: "write every frame to `FILE`; mqctl wire FILE reads it [$MQCTL_WIRE]"},
		&cli.StringFlag{Name: "max-frame", EnvVars: setVariables("MQCTL_MAX_FRAME"),
			Usage: "largest frame accepted from a server, a `SIZE` such as 16MiB (default 16MiB) [$MQCTL_MAX_FRAME]"},
		&cli.BoolFlag{Name: "quiet", Usage: "say nothing but data and errors"},
		&cli.BoolFlag{Name: "verbose", Aliases: []string{"v"}, Count: new(int), Usage: "log what the engine does; twice for details"},
		&cli.StringFlag{Name: "log-format", EnvVars: setVariables("MQCTL_LOG_FORMAT"), Value: "text", Usage: "`FORMAT` of the log on stderr: text or json (default text) [$MQCTL_LOG_FORMAT]"},
		&cli.BoolFlag{Name: "version", Aliases: []string{"V"}, Usage: "print the version"},
	}
}

// setVariables is the names of those variables that are set to something: an empty one must not hide the next.
func setVariables(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return os.Getenv(name) == "" })
}

// wantsRoot reports whether the flags of mqctl itself are something to do.
func wantsRoot(root []string) bool {
	return slices.Contains(root, "--version=true") || slices.Contains(root, "--set=list")
}

// before reads the flags of mqctl itself.
func (p *program) before(c *cli.Context) error {
	p.opt = rootOptions{
		nameServers: c.String("namesrv"), output: c.String("output"), timeout: c.Duration("timeout"), watch: c.Duration("watch"),
		quiet: c.Bool("quiet"), verbose: c.Count("verbose"), readOnly: c.Bool("read-only"), wire: c.String("wire"), logFormat: c.String("log-format"),
	}
	if p.opt.timeout <= 0 {
		return usagef("--timeout %s: want more than 0", p.opt.timeout)
	}
	if p.opt.watch < 0 || p.opt.watch > 0 && p.opt.watch < 100*time.Millisecond {
		return usagef("--watch %s: want 100ms or more", p.opt.watch)
	}
	if p.opt.logFormat != "text" && p.opt.logFormat != "json" {
		return usagef("--log-format %q: want text or json", p.opt.logFormat)
	}
	if err := checkOutput(p.opt.output, p.command); err != nil {
		p.opt.output = ""
		return err
	}
	if text := c.String("max-frame"); text != "" {
		n, err := parseSize(text)
		if err != nil || n < 1024 || n > 1<<30 {
			return usagef("--max-frame %q: want a size from 1KiB to 1GiB, such as %dMiB", text, protocol.DefaultMaxFrame>>20)
		}
		p.opt.maxFrame = int(n)
	}
	p.log = newLogger(p.stderr, p.errTerminal, p.opt)
	if slices.Contains(c.StringSlice("set"), "list") {
		return joinFirst(p.listSettings(), &exitError{code: exitOK})
	}
	var err error
	p.opt.settings, err = parseSettings(c.StringSlice("set"))
	return err
}

// messageFormats are the values of -o that only commands printing messages have.
var messageFormats = []string{"raw", "hex"}

// checkOutput refuses what is no output format of the command, above all the positions that -o has in kcat and rpk. It is
// asked before the command does anything.
func checkOutput(output, command string) error {
	if output == "" {
		return nil
	}
	if slices.Contains(messageFormats, output) {
		if command == "consume" {
			return nil
		}
		return usagef("-o %s prints messages, which %s does not", output, strings.TrimSpace("mqctl "+command))
	}
	_, err := render.ParseFormat(output)
	if err == nil {
		return nil
	}
	looksLikePosition := slices.Contains([]string{"beginning", "earliest", "latest", "stored", "oldest", "newest"}, output) ||
		strings.HasPrefix(output, "s@") || strings.HasPrefix(output, "e@") || strings.ContainsAny(output, ":+@")
	if _, perr := position.Parse(output, time.Now(), nil); perr == nil {
		looksLikePosition = true
	}
	if strings.Trim(output, "-+0123456789") == "" {
		looksLikePosition = true
	}
	if looksLikePosition {
		return usagef("-o is the output format; the position is --from (or -O), such as --from start")
	}
	return usagef("-o %s: want %s", output, strings.Join(formatNames(command), ", "))
}

// formatNames are the values of -o that a command has.
func formatNames(command string) (names []string) {
	for _, f := range render.Formats() {
		if command != "consume" || f != render.FormatYAML && f != render.FormatCSV {
			names = append(names, string(f))
		}
	}
	if command == "consume" {
		names = append(names, messageFormats...)
	}
	return names
}

// onUsageError turns what urfave/cli says about a flag's value into one line.
func onUsageError(c *cli.Context, err error, _ bool) error {
	text := err.Error()
	if value, rest, ok := strings.Cut(strings.TrimPrefix(text, "invalid value "), " for flag -"); ok {
		name, _, _ := strings.Cut(rest, ":")
		want := "it cannot be read"
		for _, f := range append(slices.Clone(c.Command.Flags), c.App.Flags...) {
			if !slices.Contains(f.Names(), name) {
				continue
			}
			switch f.(type) {
			case *cli.DurationFlag:
				want = "want a time span with its unit, such as 500ms, 5s or 1m30s"
			case *cli.IntFlag, *cli.Int64Flag:
				want = "want a whole number"
			case *cli.Float64Flag:
				want = "want a number"
			}
		}
		return usagef("--%s %s: %s", name, value, want)
	}
	return usagef("%s", text)
}

// parseSize reads a number of bytes: 16MiB is 16777216, 16MB is 16000000.
func parseSize(text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > 1<<62 {
		return 0, errors.New("want a size such as 16MiB")
	}
	return int64(n), nil
}
