package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"
)

// tree is the real command tree with actions that record what arrived.
func tree(seen *[]string) *cli.App {
	p := newProgram(strings.NewReader(""), io.Discard, io.Discard)
	app := p.newApp()
	var hook func(commands []*cli.Command)
	hook = func(commands []*cli.Command) {
		for _, c := range commands {
			hook(c.Subcommands)
			if len(c.Subcommands) > 0 {
				continue
			}
			c.Action = func(c *cli.Context) error {
				*seen = append(*seen, commandName(c))
				for _, f := range slices.Concat(c.Command.Flags, c.App.Flags) {
					name := f.Names()[0]
					if name == "help" || !c.IsSet(name) {
						continue
					}
					switch f.(type) {
					case *cli.StringSliceFlag:
						for _, v := range c.StringSlice(name) {
							*seen = append(*seen, name+"="+v)
						}
					case *cli.BoolFlag:
						*seen = append(*seen, name+"="+map[bool]string{true: "true", false: "false"}[c.Bool(name)])
					default:
						*seen = append(*seen, name+"="+fmt.Sprint(c.Value(name)))
					}
				}
				*seen = append(*seen, c.Args().Slice()...)
				return nil
			}
		}
	}
	hook(app.Commands)
	return app
}

func TestC30_FlagsAreHonouredWhereverTheyStand(t *testing.T) {
	cases := map[string]string{
		"consume T -g G":                         "consume --group=G -- T",
		"consume -g G T":                         "consume --group=G -- T",
		"-g G consume T":                         "consume --group=G -- T",
		"consume T --group=G":                    "consume --group=G -- T",
		"consume T -g=G":                         "consume --group=G -- T",
		"consume T -group G":                     "consume --group=G -- T",
		"consume T -n h:1 -o json":               "--namesrv=h:1 --output=json consume -- T",
		"-n h:1 consume T U":                     "--namesrv=h:1 consume -- T U",
		"consume T -e -c 5":                      "consume --exit=true --count=5 -- T",
		"consume T -ec 5":                        "consume --exit=true --count=5 -- T",
		"consume T -ec5":                         "consume --exit=true --count=5 -- T",
		"consume T -ey":                          "consume --exit=true --yes=true -- T",
		"consume T -c5":                          "consume --count=5 -- T",
		"consume T --exit=false":                 "consume --exit=false -- T",
		"consume T -vv":                          "--verbose=true --verbose=true consume -- T",
		"consume T --from -5":                    "consume --from=-5 -- T",
		"consume T -O -5 --sim-fail -1":          "consume --from=-5 --sim-fail=-1 -- T",
		"consume T --tag -- U":                   "consume --tag=-- -- T U",
		"consume T -- -g G":                      "consume -- T -g G",
		"consume -- T":                           "consume -- T",
		"produce T -":                            "produce -- T -",
		"produce T -p a=1 -p b=2,3 x":            "produce --property=a=1 --property=b=2,3 -- T x",
		"produce T x --key=":                     "produce --key= -- T x",
		"produce help":                           "produce -- help",
		"topic create T --queues 4 -y --dry-run": "topic create --queues=4 --yes=true --dry-run=true -- T",
		"topic --dry-run create -y T":            "topic create --yes=true --dry-run=true -- T",
		"topic ls":                               "topic ls",
		"topic list --regex ^a":                  "topic ls --regex=^a",
		"offset lag a b -g c":                    "offset lag --group=c -- a b",
	}
	for typed, want := range cases {
		got, err := arrange(tree(new([]string)), strings.Fields(typed))
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		if line := strings.Join(got.line(), " "); line != want {
			t.Errorf("%s\n got %s\nwant %s", typed, line, want)
		}
	}
}

func TestC30_WhatIsNoFlagIsRefusedByName(t *testing.T) {
	cases := map[string]string{
		"consume T --gruop G":         "has no flag --gruop; did you mean --group?",
		"consume T -form x":           "has no flag -form; did you mean --for?",
		"consume T -x":                "mqctl consume has no flag -x",
		"consume T -ex":               "has no flag -ex",
		"consume T -5":                "has no flag -5; an argument that begins with - stands behind --",
		"topic create T --quues 4":    "mqctl topic create has no flag --quues; did you mean --queues?",
		"-y topic ls":                 "mqctl topic ls has no flag -y",
		"topic create T -g G":         "mqctl topic create has no flag -g",
		"consume T -g":                "-g needs a value",
		"consume T -ec":               "-c needs a value",
		"consume T -e true":           "-e takes no value behind a blank; write -e=true",
		"consume T --exit=maybe":      "want true or false",
		"consume T -c5=6":             "the value of -c is not clear",
		"consum T":                    `unknown command "consum"; did you mean mqctl consume?`,
		"topic lst":                   `unknown command "topic lst"; did you mean mqctl topic list?`,
		"zzzzzz":                      `unknown command "zzzzzz"; see mqctl --help`,
		"topicList":                   "here it is mqctl topic ls",
		"consume T -b h:1":            "-n HOST:PORT",
		"consume T -p 3":              "-q BROKER/Q",
		"consume T -s x":              "--from",
		"consume T --offset earliest": "the position is --from",
		"produce T -b body":           "the body is an argument",
		"produce T -H a=1":            "a property is -p NAME=VALUE",
		"topic create T -c cl":        "a cluster is --cluster",
		"-C -t x":                     "mqctl consume TOPIC",
	}
	for typed, want := range cases {
		_, err := arrange(tree(new([]string)), strings.Fields(typed))
		if !isUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", typed, err, want)
		}
	}
}

// TestC30_NothingIsLostOnTheWay runs command lines through urfave/cli and looks at what the actions see.
func TestC30_NothingIsLostOnTheWay(t *testing.T) {
	cases := map[string][]string{
		"consume T -g grp -n h:1 -e":           {"mqctl consume", "group=grp", "exit=true", "namesrv=h:1", "T"},
		"produce T body -k K -p a=1 -p b=2":    {"mqctl produce", "key=K", "property=a=1", "property=b=2", "T", "body"},
		"topic create T -y --attr x=1,y=2":     {"mqctl topic create", "attr=x=1,y=2", "yes=true", "T"},
		"consume help":                         {"mqctl consume", "help"},
		"consume -- -g":                        {"mqctl consume", "-g"},
		"consume group -- T":                   {"mqctl consume", "group", "T"},
		"topic create T --dry-run=false":       {"mqctl topic create", "dry-run=false", "T"},
		"produce T -- --tag x":                 {"mqctl produce", "T", "--tag", "x"},
		"consume T -f %k=%v\\n -o":             nil,
		"consume T --where a=='-x' -e --quiet": {"mqctl consume", "exit=true", "where=a=='-x'", "quiet=true", "T"},
	}
	for typed, want := range cases {
		var seen []string
		app := tree(&seen)
		line, err := arrange(app, strings.Fields(typed))
		if err == nil {
			err = app.Run(append([]string{"mqctl"}, line.line()...))
		}
		if want == nil {
			if err == nil {
				t.Errorf("%s is accepted", typed)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", typed, err)
			continue
		}
		slices.Sort(seen)
		slices.Sort(want)
		if diff := cmp.Diff(want, seen); diff != "" {
			t.Errorf("%s: %s", typed, diff)
		}
	}
}

func TestHelpIsFoundAnywhere(t *testing.T) {
	for typed, want := range map[string]string{
		"--help": "", "help": "", "help consume": "consume", "consume T -g G -h": "consume", "consume --help T": "consume",
		"topic --help": "topic", "help topic ls": "topic ls", "topic create -h": "topic create", "-g G help consume": "consume", "-g G --help": "",
	} {
		line, err := arrange(tree(new([]string)), strings.Fields(typed))
		if err != nil || !line.wantHelp || strings.Join(line.path, " ") != want {
			t.Errorf("%s: help %v of %q, %v", typed, line.wantHelp, line.path, err)
		}
	}
	if line, err := arrange(tree(new([]string)), []string{"consume", "--", "--help"}); err != nil || line.wantHelp {
		t.Errorf("behind -- it is no flag: %v, %v", line.wantHelp, err)
	}
}

func TestNearest(t *testing.T) {
	names := []string{"group", "grep", "from", "format", "until"}
	for word, want := range map[string]string{"gruop": "group", "frm": "from", "FROM": "from", "forma": "format", "unt": "until", "zzz": "", "x": ""} {
		if got := nearest(word, slices.Clone(names)); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"ab", "ba", 1}, {"kitten", "sitting", 3}, {"same", "same", 0}} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// FuzzArrange: whatever is typed, it is an error or nothing of it is lost.
func FuzzArrange(f *testing.F) {
	for _, s := range []string{
		"consume\x00T\x00-g\x00G", "-n\x00x\x00topic\x00create\x00T\x00-y", "consume\x00-ec5\x00T\x00--\x00-x", "produce\x00T\x00-p\x00a=1\x00-",
		"help\x00consume", "consume\x00T\x00--exit=false\x00--where=a",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, typed string) {
		words := strings.Split(typed, "\x00")
		app := tree(new([]string))
		line, err := arrange(app, words)
		if err != nil {
			if !isUsage(err) || err.Error() == "" {
				t.Fatalf("%q: %v", words, err)
			}
			return
		}
		for _, w := range slices.Concat(line.root, line.flags) {
			if !strings.HasPrefix(w, "--") || !strings.Contains(w, "=") {
				t.Fatalf("%q: flag %q is not --name=value", words, w)
			}
		}
		if line.wantHelp {
			return
		}
		dashes := 0
		for _, w := range words {
			if w == "--" {
				break
			}
			if len(w) > 1 && w[0] == '-' {
				dashes++
			}
		}
		if got := len(line.root) + len(line.flags); dashes > 0 && got == 0 {
			t.Fatalf("%q: every flag is gone: %q", words, line.line())
		}
		for _, w := range line.args {
			if !slices.Contains(words, w) {
				t.Fatalf("%q: argument %q out of nowhere", words, w)
			}
		}
		again, err := arrange(tree(new([]string)), line.line())
		if err != nil {
			t.Fatalf("%q: its own order %q: %v", words, line.line(), err)
		}
		if !slices.Equal(again.line(), line.line()) {
			t.Fatalf("%q: not stable: %q, then %q", words, line.line(), again.line())
		}
	})
}

func TestExitErrorsAreErrors(t *testing.T) {
	cause := errors.New("cause")
	if err := error(&exitError{exitPartial, cause}); !errors.Is(err, cause) || err.Error() != "cause" {
		t.Error(err)
	}
}
