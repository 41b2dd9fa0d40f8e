package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"mqctl/internal/render"
)

// Widths of the help text in cells.
const (
	helpWidth    = 100
	helpMinWidth = 60
)

// writeHelp prints the help of the command that line names, or of mqctl itself. width is that of the terminal, 0 for none.
func writeHelp(w io.Writer, app *cli.App, line arranged, width int) error {
	h := &helpText{width: helpWidth}
	if width > 0 {
		h.width = max(helpMinWidth, min(width, helpWidth))
	}
	if line.command == nil {
		h.app(app)
	} else {
		h.command(line.command, strings.Join(append([]string{"mqctl"}, line.path...), " "))
	}
	_, err := io.WriteString(w, h.out.String())
	return err
}

type helpText struct {
	out   strings.Builder
	width int
}

func (h *helpText) app(app *cli.App) {
	fmt.Fprintf(&h.out, "mqctl: %s\n\nUSAGE\n  mqctl [flags] COMMAND [arguments] [flags]      flags may stand anywhere, -- ends them\n", app.Usage)
	for _, category := range []string{categoryData, categoryAdmin, categoryLocal} {
		fmt.Fprintf(&h.out, "\n%s\n", category)
		for _, c := range app.Commands {
			if c.Category == category && !c.Hidden {
				h.commandRows("", c)
			}
		}
	}
	h.out.WriteString("\nFLAGS OF EVERY COMMAND\n")
	h.flags(app.Flags)
	h.out.WriteString("\nFIRST STEPS\n")
	h.examples("mqctl demo\tsee a cluster at work, nothing to set up\n" +
		"mqctl sandbox --listen :9876 --topic orders:8\ta cluster in this process\n" +
		"mqctl -n :9876 produce orders hello\tsend to it, from another terminal\n" +
		"mqctl -n :9876 consume orders -e\tread what is there, without a trace\n")
	h.out.WriteString("\nmqctl COMMAND --help says more. Exit codes: 0 ok, 1 failed, 2 usage, 3 cannot connect or timed out, " +
		"4 not found,\n5 denied, 6 partial, 7 refused, 130 after Ctrl-C.\n")
}

// commandRows lists a command, or what stands below it.
func (h *helpText) commandRows(prefix string, c *cli.Command) {
	name := strings.TrimSpace(prefix + " " + c.Name)
	if len(c.Subcommands) == 0 {
		h.row(strings.TrimSpace(name+" "+c.ArgsUsage), c.Usage, 34)
		return
	}
	for _, sub := range c.Subcommands {
		if !sub.Hidden {
			h.commandRows(name, sub)
		}
	}
}

func (h *helpText) command(c *cli.Command, name string) {
	usage := name + " "
	switch {
	case len(c.Subcommands) > 0:
		usage += "COMMAND"
	case c.ArgsUsage != "":
		usage += c.ArgsUsage + " [flags]"
	default:
		usage += "[flags]"
	}
	fmt.Fprintf(&h.out, "%s: %s\n\nUSAGE\n  %s\n", name, c.Usage, usage)
	if c.Description != "" {
		for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Description), "\n\n") {
			h.out.WriteString("\n")
			h.paragraph(paragraph)
		}
	}
	if c.UsageText != "" {
		h.out.WriteString("\nEXAMPLES\n")
		h.examples(c.UsageText)
	}
	if len(c.Subcommands) > 0 {
		h.out.WriteString("\nCOMMANDS\n")
		for _, sub := range c.Subcommands {
			if !sub.Hidden {
				h.row(strings.TrimSpace(sub.Name+" "+sub.ArgsUsage), sub.Usage, 34)
			}
		}
	}
	if len(c.Flags) > 0 {
		h.out.WriteString("\nFLAGS\n")
		h.flags(c.Flags)
	}
	h.out.WriteString("\nFlags of every command, such as -n, -o and -X: mqctl --help\n")
}

// paragraph prints running text.
func (h *helpText) paragraph(text string) {
	for _, line := range wrap(text, h.width-2) {
		h.out.WriteString("  " + line + "\n")
	}
}

// examples prints lines of a command and, behind a tab, what it does.
func (h *helpText) examples(text string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		command, comment, _ := strings.Cut(strings.TrimSpace(line), "\t")
		h.row(command, comment, 52)
	}
}

func (h *helpText) flags(flags []cli.Flag) {
	for _, f := range flags {
		if doc, ok := f.(cli.DocGenerationFlag); ok && f.Names()[0] != "help" {
			h.row(flagSynopsis(f, doc), strings.ReplaceAll(doc.GetUsage(), "`", ""), 26)
		}
	}
}

// flagSynopsis is "-g, --group NAME".
func flagSynopsis(f cli.Flag, doc cli.DocGenerationFlag) string {
	var short, long []string
	for _, name := range f.Names() {
		if len(name) == 1 {
			short = append(short, "-"+name)
		} else {
			long = append(long, "--"+name)
		}
	}
	text := strings.Join(append(short, long...), ", ")
	if len(short) == 0 {
		text = "    " + text
	}
	if !doc.TakesValue() {
		return text
	}
	if _, rest, ok := strings.Cut(doc.GetUsage(), "`"); ok {
		value, _, _ := strings.Cut(rest, "`")
		return text + " " + value
	}
	return text + " VALUE"
}

// row prints a term and its meaning side by side; a long term has its meaning on the next line.
func (h *helpText) row(term, meaning string, column int) {
	if h.width < 80 {
		column = min(column, 26)
	}
	line := "  " + render.PadRight(term, column-2)
	if render.Width(term) > column-4 {
		h.out.WriteString("  " + term + "\n")
		line = strings.Repeat(" ", column)
	}
	for i, part := range wrap(meaning, h.width-column) {
		if i > 0 {
			line = strings.Repeat(" ", column)
		}
		h.out.WriteString(line + part + "\n")
	}
	if meaning == "" && render.Width(term) <= column-4 {
		h.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// wrap splits text into lines of at most width cells, where words allow it.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case render.Width(line)+1+render.Width(word) > width:
			lines = append(lines, line)
			line = word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
