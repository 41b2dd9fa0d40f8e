package main

import (
	"io"
	"strings"
	"testing"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/render"
)

var timeZero = time.Unix(0, 0)

// leaves calls f for every command without others below it.
func leaves(commands []*cli.Command, path []string, f func(path []string, c *cli.Command)) {
	for _, c := range commands {
		here := append(append([]string{}, path...), c.Name)
		if len(c.Subcommands) == 0 {
			f(here, c)
		}
		leaves(c.Subcommands, here, f)
	}
}

// TestEveryCommandHasExamplesThatParse: an example in the help is a command line that arrange takes.
func TestEveryCommandHasExamplesThatParse(t *testing.T) {
	app := newProgram(strings.NewReader(""), io.Discard, io.Discard).newApp()
	leaves(app.Commands, nil, func(path []string, c *cli.Command) {
		if c.UsageText == "" || c.Usage == "" {
			t.Errorf("%v has no example or no usage", path)
		}
		for line := range strings.SplitSeq(c.UsageText, "\n") {
			example, _, _ := strings.Cut(line, "\t")
			for part := range strings.SplitSeq(example, "|") {
				_, words, ok := strings.Cut(" "+strings.TrimSpace(strings.Trim(part, " ")), " mqctl ")
				if !ok {
					continue
				}
				words, _, _ = strings.Cut(words, " > ")
				words = strings.NewReplacer("'", "", ")", "").Replace(words)
				if _, err := arrange(app, strings.Fields(words)); err != nil && !strings.Contains(part, "'") {
					t.Errorf("%v: example %q: %v", path, part, err)
				}
			}
		}
	})
}

// TestEveryFlagSaysItsUnitAndDefault: durations and sizes need words for what is meant.
func TestEveryFlagSaysItsUnitAndDefault(t *testing.T) {
	app := newProgram(strings.NewReader(""), io.Discard, io.Discard).newApp()
	check := func(path []string, f cli.Flag) {
		doc := f.(cli.DocGenerationFlag)
		usage := doc.GetUsage()
		if usage == "" || doc.TakesValue() && strings.Count(usage, "`") != 2 {
			t.Errorf("%v %v: usage %q names no value", path, f.Names(), usage)
		}
		set := doc.GetDefaultText() != "" && doc.GetDefaultText() != "false" && doc.GetDefaultText() != "0" && doc.GetDefaultText() != "0s"
		if set && doc.TakesValue() && !strings.Contains(usage, "default") {
			t.Errorf("%v %v: default %s is not said", path, f.Names(), doc.GetDefaultText())
		}
	}
	for _, f := range app.Flags {
		check(nil, f)
	}
	leaves(app.Commands, nil, func(path []string, c *cli.Command) {
		for _, f := range c.Flags {
			check(path, f)
		}
	})
}

// TestFlagLettersHaveOneMeaning: a letter of mqctl itself is no other flag of a command.
func TestFlagLettersHaveOneMeaning(t *testing.T) {
	app := newProgram(strings.NewReader(""), io.Discard, io.Discard).newApp()
	root := flagTable{}.add(app.Flags)
	meaning := map[string]string{"t": "topic", "g": "group", "b": "broker", "q": "queue", "k": "key", "p": "property", "f": "format", "c": "count",
		"e": "exit", "y": "yes", "O": "from"}
	leaves(app.Commands, nil, func(path []string, c *cli.Command) {
		for name, info := range (flagTable{}).add(c.Flags) {
			if _, taken := root[name]; taken {
				t.Errorf("%v: -%s is a flag of mqctl itself", path, name)
			}
			if len(name) == 1 && meaning[name] != info.name {
				t.Errorf("%v: -%s is --%s here, elsewhere --%s", path, name, info.name, meaning[name])
			}
		}
	})
}

func TestHelpFitsTheTerminal(t *testing.T) {
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard)
	app := p.newApp()
	for _, width := range []int{60, 80, 100, 200} {
		leaves(app.Commands, nil, func(path []string, c *cli.Command) {
			var out strings.Builder
			if err := writeHelp(&out, app, arranged{path: path, command: c}, width); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(out.String()) {
				if got := render.Width(strings.TrimRight(line, "\n")); got > max(width, 60) && width > 80 {
					t.Errorf("%v at %d: a line of %d cells: %s", path, width, got, line)
				}
				if strings.HasSuffix(line, " \n") {
					t.Errorf("%v: blanks at the end of %q", path, line)
				}
			}
		})
	}
}

func TestRatesAndSizes(t *testing.T) {
	for text, want := range map[string]float64{"200": 200, "200/s": 200, "5k/s": 5000, "2.5/s": 2.5, "60/m": 1, "1M": 1e6} {
		if got, err := parseRate(text); err != nil || got != want {
			t.Errorf("rate %s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "0", "-1", "fast", "5/h", "NaN", "1e30"} {
		if got, err := parseRate(text); err == nil {
			t.Errorf("rate %q is %v", text, got)
		}
	}
	for text, want := range map[string]int64{"1024": 1024, "16MiB": 16 << 20, "1kB": 1000, "1 GiB": 1 << 30} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("size %s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "x", "-5", "99999999EiB"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("size %q is %v", text, got)
		}
	}
}

func TestCountsInWords(t *testing.T) {
	for n, want := range map[int]string{0: "0 queues", 1: "1 queue", 2: "2 queues", 52984: "52,984 queues"} {
		if got := countOf(n, "queue"); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
