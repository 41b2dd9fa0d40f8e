package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"mqctl/internal/admin"
)

// completeCommand is what the shells' scripts call to get words.
const completeCommand = "__complete"

// completionLimit is how long a completion may ask a cluster: nobody waits longer for a Tab.
const completionLimit = 300 * time.Millisecond

// completionScripts ask mqctl itself for words, so they need no update when a flag is added.
var completionScripts = map[string]string{
	"bash": `# mqctl completion for bash: source <(mqctl completion bash)
_mqctl_words() {
  local word_found
  COMPREPLY=()
  while IFS= read -r word_found; do
    printf -v word_found %q "$word_found"
    COMPREPLY+=("$word_found")
  done < <(mqctl __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _mqctl_words mqctl
`,
	"zsh": `#compdef mqctl
# mqctl completion for zsh: source <(mqctl completion zsh)
_mqctl_words() {
  local -a words_found
  words_found=("${(@f)$(mqctl __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if (( ${#words_found[1]} )); then compadd -a -- words_found; else _files; fi
}
compdef _mqctl_words mqctl
`,
	"fish": `# mqctl completion for fish: mqctl completion fish | source
function __mqctl_words
  set -l before (commandline -opc)
  mqctl __complete $before[2..-1] (commandline -ct) 2>/dev/null
end
complete -c mqctl -a '(__mqctl_words)'
`,
	"pwsh": `# mqctl completion for PowerShell: mqctl completion pwsh | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName mqctl -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += '""' }
  mqctl __complete @words 2>$null | Where-Object { $_ } | ForEach-Object {
    $text = $_
    if ($text -notmatch '^[A-Za-z0-9_.:/=-]+$') { $text = "'" + $text.Replace("'", "''") + "'" }
    [System.Management.Automation.CompletionResult]::new($text, $_, 'ParameterValue', $_)
  }
}
`,
}

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Category: categoryLocal, ArgsUsage: "SHELL", Usage: "print a completion script for bash, zsh, fish or pwsh",
		Description: "Completes commands, flags and their values, and the names of topics and groups where a name server is set.",
		UsageText: "source <(mqctl completion bash)\tin this shell\n" +
			"mqctl completion zsh > ~/.zfunc/_mqctl\tfor every zsh\nmqctl completion fish | source\t",
		Action: func(c *cli.Context) error {
			script, ok := completionScripts[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usagef("mqctl completion wants one of %s", strings.Join(sortedKeys(completionScripts), ", "))
			}
			_, err := io.WriteString(p.stdout, script)
			return err
		},
	}
}

// valueWords are the values of flags that have few.
var valueWords = map[string][]string{
	"ack": {"success", "later", "hold"}, "in": {"lines", "jsonl"}, "send": {"sync", "async", "oneway"},
	"compress": {"none", "zlib", "lz4", "zstd"}, "log-format": {"text", "json"}, "from": {"start", "end"}, "until": {"end"},
	"mode": {"push"},
}

// complete prints the words that may stand in place of the last one. Whatever goes wrong, it is silent.
func (p *program) complete(ctx context.Context, app *cli.App, words []string) error {
	word := ""
	if n := len(words); n > 0 {
		word, words = strings.Trim(words[n-1], `"'`), words[:n-1]
	}
	line, _ := arrange(app, words) // what is wrong is still being typed
	p.command = strings.Join(line.path, " ")
	var found []string
	switch {
	case line.open == "output":
		found = formatNames(p.command)
	case line.open == "set":
		for _, s := range allSettings() {
			found = append(found, s.name+"=")
		}
	case line.open == "topic", line.open == "group":
		found = p.clusterNames(ctx, app, line, line.open)
	case line.open != "":
		found = valueWords[line.open]
	case strings.HasPrefix(word, "-"):
		found = longFlags(app, line)
	case line.command == nil || len(line.command.Subcommands) > 0:
		found = commandNames(app, line)
	case strings.HasPrefix(line.command.ArgsUsage, "SHELL"):
		found = sortedKeys(completionScripts)
	case strings.HasPrefix(line.command.ArgsUsage, "TOPIC"):
		found = p.clusterNames(ctx, app, line, "topic")
	case strings.HasPrefix(line.command.ArgsUsage, "GROUP"):
		found = p.clusterNames(ctx, app, line, "group")
	}
	slices.Sort(found)
	for _, f := range found {
		if strings.HasPrefix(f, word) {
			if _, err := fmt.Fprintln(p.stdout, f); err != nil {
				return err
			}
		}
	}
	return nil
}

func longFlags(app *cli.App, line arranged) (names []string) {
	flags := slices.Clone(app.Flags)
	if line.command != nil {
		flags = append(flags, line.command.Flags...)
	}
	for _, f := range flags {
		for _, n := range f.Names() {
			if len(n) > 1 {
				names = append(names, "--"+n)
			}
		}
	}
	return append(names, "--help")
}

func commandNames(app *cli.App, line arranged) (names []string) {
	commands := app.Commands
	if line.command != nil {
		commands = line.command.Subcommands
	}
	for _, c := range commands {
		if !c.Hidden {
			names = append(names, c.Name)
		}
	}
	return names
}

// clusterNames asks the cluster for its topics or groups.
func (p *program) clusterNames(ctx context.Context, app *cli.App, line arranged, kind string) (names []string) {
	ctx, cancel := context.WithTimeout(ctx, completionLimit)
	defer cancel()
	read := func(c *cli.Context) error {
		if err := p.before(c); err != nil {
			return err
		}
		conn, err := p.connect(ctx)
		if err != nil {
			return err
		}
		if kind == "group" {
			list, err := admin.New(conn).Groups(ctx, admin.GroupOptions{})
			if err != nil {
				return err
			}
			for _, g := range list.Groups {
				names = append(names, g.Group)
			}
			return nil
		}
		list, err := admin.New(conn).Topics(ctx, admin.TopicOptions{})
		for _, t := range list {
			names = append(names, t.Topic)
		}
		return err
	}
	app.Before, app.Action = nil, read
	if err := app.RunContext(ctx, append([]string{"mqctl"}, line.root...)); err != nil {
		return nil
	}
	return slices.DeleteFunc(names, func(name string) bool { return !offered(name) })
}

// offered says whether a name that a server sent may become a word on somebody's command line: it has only letters that
// names of topics and groups are made of, and is no flag. A server can send anything, and a shell or a terminal obeys much.
func offered(name string) bool {
	return name != "" && name[0] != '-' && strings.Trim(name, nameLetters) == ""
}

const nameLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789%|_.:/@=-"
