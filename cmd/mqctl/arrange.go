package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"
)

// arranged is a command line in the order that urfave/cli reads without loss. By itself it stops at the first argument
// that is no flag and silently takes every flag behind it for an argument.
type arranged struct {
	path     []string     // names of the command and those above it
	command  *cli.Command // nil: mqctl itself
	root     []string     // flags of mqctl, as --name=value
	flags    []string     // flags of the command, as --name=value
	args     []string
	wantHelp bool
	open     string // a flag at the end that has no value yet; arrange failed then
}

// line is the whole command line without the program's name.
func (a arranged) line() []string {
	words := slices.Concat(a.root, a.path, a.flags)
	if len(a.args) == 0 {
		return words
	}
	return append(append(words, "--"), a.args...)
}

// flagInfo is what must be known about a flag to read it.
type flagInfo struct {
	name   string // the first of its names
	isBool bool
}

type flagTable map[string]flagInfo

func (t flagTable) add(flags []cli.Flag) flagTable {
	for _, f := range flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			t[name] = flagInfo{name: f.Names()[0], isBool: isBool}
		}
	}
	return t
}

// arranger walks once over the words of a command line.
type arranger struct {
	arranged
	app     *cli.App
	words   []string
	pos     int
	root    flagTable
	local   flagTable // of the command reached so far
	any     flagTable // of every command, to read flags that stand before their command
	pending []waitingFlag
}

// waitingFlag is a flag that stands before the command that it may belong to.
type waitingFlag struct {
	name, typed, value string
}

// arrange reorders words: flags of mqctl to the front, then the command, its flags, and behind -- the arguments. Value
// flags take the next word even if it begins with -. What begins with - and is no flag is a usage error that names it.
func arrange(app *cli.App, words []string) (arranged, error) {
	a := &arranger{app: app, words: words, root: flagTable{}.add(app.Flags), local: flagTable{}, any: flagTable{}}
	a.learn(app.Commands)
	for a.pos < len(words) {
		word := words[a.pos]
		a.pos++
		var err error
		switch {
		case word == "--":
			a.args = append(a.args, words[a.pos:]...)
			a.pos = len(words)
		case len(word) > 1 && word[0] == '-':
			err = a.flag(word)
		case len(a.children()) > 0:
			err = a.enter(word)
		default:
			a.args = append(a.args, word)
		}
		if err != nil {
			return a.arranged, err
		}
	}
	if err := a.settle(); err != nil {
		return a.arranged, err
	}
	return a.arranged, nil
}

func (a *arranger) learn(commands []*cli.Command) {
	for _, c := range commands {
		a.any.add(c.Flags)
		a.learn(c.Subcommands)
	}
}

func (a *arranger) children() []*cli.Command {
	if a.command == nil {
		return a.app.Commands
	}
	return a.command.Subcommands
}

// enter goes down to a command.
func (a *arranger) enter(word string) error {
	if word == "help" && a.command == nil && !a.wantHelp {
		a.wantHelp = true
		return nil
	}
	for _, c := range a.children() {
		if c.HasName(word) {
			a.command = c
			a.path = append(a.path, c.Name)
			a.local = flagTable{}.add(c.Flags)
			return nil
		}
	}
	var names []string
	for _, c := range a.children() {
		if !c.Hidden {
			names = append(names, c.Names()...)
		}
	}
	text := fmt.Sprintf("unknown command %q", strings.Join(append(slices.Clone(a.path), word), " "))
	if hint := foreignCommand(a.path, word); hint != "" {
		return usagef("%s: %s", text, hint)
	}
	if near := nearest(word, names); near != "" {
		return usagef("%s; did you mean %s?", text, strings.Join(append([]string{"mqctl"}, append(slices.Clone(a.path), near)...), " "))
	}
	return usagef("%s; see mqctl %s", text, strings.Join(append(slices.Clone(a.path), "--help"), " "))
}

// flag reads one word that begins with -.
func (a *arranger) flag(word string) error {
	name := strings.TrimPrefix(strings.TrimPrefix(word, "-"), "-")
	name, value, hasValue := strings.Cut(name, "=")
	if name == "h" || name == "help" {
		a.wantHelp = true
		return nil
	}
	info, known := a.lookup(name)
	if !known {
		if !strings.HasPrefix(word, "--") && len(name) > 1 {
			if done, err := a.combined(word, name, value, hasValue); done {
				return err
			}
		}
		return a.unknown(word, name)
	}
	typed, _, _ := strings.Cut(word, "=")
	return a.take(name, typed, info, value, hasValue)
}

func (a *arranger) lookup(name string) (flagInfo, bool) {
	for _, t := range []flagTable{a.local, a.root} {
		if info, ok := t[name]; ok {
			return info, true
		}
	}
	if len(a.children()) > 0 { // the command is still to come
		info, ok := a.any[name]
		return info, ok
	}
	return flagInfo{}, false
}

// take reads the value of a known flag and puts it where it belongs.
func (a *arranger) take(name, typed string, info flagInfo, value string, hasValue bool) error {
	switch {
	case info.isBool && !hasValue:
		value = "true"
		if a.pos < len(a.words) && (a.words[a.pos] == "true" || a.words[a.pos] == "false") {
			return usagef("%s takes no value behind a blank; write %s=%s", typed, typed, a.words[a.pos])
		}
	case info.isBool:
		if _, err := strconv.ParseBool(value); err != nil {
			return usagef("%s=%s: want true or false", typed, value)
		}
	case !hasValue && a.pos == len(a.words):
		a.open = info.name
		return usagef("%s needs a value", typed)
	case !hasValue:
		value = a.words[a.pos]
		a.pos++
	}
	a.put(name, typed, value)
	return nil
}

func (a *arranger) put(name, typed, value string) {
	if info, ok := a.local[name]; ok {
		a.flags = append(a.flags, "--"+info.name+"="+value)
		return
	}
	if info, ok := a.root[name]; ok {
		a.arranged.root = append(a.arranged.root, "--"+info.name+"="+value)
		return
	}
	a.pending = append(a.pending, waitingFlag{name: name, typed: typed, value: value})
}

// combined reads -ey as -e -y, -ec5 and -ec 5 as -e -c 5. A value may stick to its letter only when it begins with a
// digit: otherwise a misspelt word such as -form would set something.
func (a *arranger) combined(word, name, value string, hasValue bool) (done bool, err error) {
	for i := 0; i < len(name); i++ {
		letter := name[i : i+1]
		info, known := a.lookup(letter)
		rest := name[i+1:]
		switch {
		case !known:
			return false, nil
		case info.isBool && rest == "" && hasValue:
			return true, a.take(letter, "-"+letter, info, value, true)
		case info.isBool:
			continue
		case rest == "":
			i = len(name)
		case rest[0] < '0' || rest[0] > '9':
			return false, nil
		case hasValue:
			return true, usagef("%s: the value of -%s is not clear; write -%s %s=%s", word, letter, letter, rest, value)
		default:
			i = len(name)
		}
	}
	for i := range len(name) {
		letter := name[i : i+1]
		info, _ := a.lookup(letter)
		if info.isBool {
			a.put(letter, "-"+letter, "true")
			continue
		}
		if rest := name[i+1:]; rest != "" {
			a.put(letter, "-"+letter, rest)
			return true, nil
		}
		return true, a.take(letter, "-"+letter, info, value, hasValue)
	}
	return true, nil
}

// settle gives the flags that came before their command to it.
func (a *arranger) settle() error {
	for _, f := range a.pending {
		info, ok := a.local[f.name]
		if !ok {
			if a.wantHelp {
				continue
			}
			return a.unknown(f.typed, f.name)
		}
		a.flags = append(a.flags, "--"+info.name+"="+f.value)
	}
	return nil
}

// unknown is the error for a flag that the command does not have.
func (a *arranger) unknown(word, name string) error {
	where := strings.Join(append([]string{"mqctl"}, a.path...), " ")
	typed, _, _ := strings.Cut(word, "=")
	if hint := foreignFlag(a.path, typed); hint != "" {
		return usagef("%s has no flag %s: %s", where, typed, hint)
	}
	if _, err := strconv.ParseFloat(typed, 64); err == nil {
		return usagef("%s has no flag %s; an argument that begins with - stands behind --", where, typed)
	}
	var names []string
	for _, t := range []flagTable{a.local, a.root} {
		for n := range t {
			if len(n) > 1 {
				names = append(names, n)
			}
		}
	}
	if near := nearest(name, names); near != "" {
		return usagef("%s has no flag %s; did you mean --%s?", where, typed, near)
	}
	return usagef("%s has no flag %s; see %s --help", where, typed, where)
}

// nearest is the name that a typing error most likely stands for, "" when none is near.
func nearest(word string, names []string) string {
	slices.Sort(names)
	best, distance := "", min(3, len(word)/2+1)
	for _, name := range names {
		if d := editDistance(strings.ToLower(word), name); d < distance {
			best, distance = name, d
		}
	}
	if best == "" && len(word) >= 3 {
		for _, name := range names {
			if strings.HasPrefix(name, word) {
				return name
			}
		}
	}
	return best
}

// editDistance counts insertions, deletions, changes and swaps of neighbours.
func editDistance(a, b string) int {
	before, row := make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	var twoBefore []int
	for i := 1; i <= len(a); i++ {
		twoBefore, before = before, row
		row = make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(before[j]+1, row[j-1]+1, before[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], twoBefore[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
