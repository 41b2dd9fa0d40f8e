package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
	"mqctl/internal/render"
	"mqctl/internal/safetext"
)

// wireView is one frame of a wire log.
type wireView struct {
	Line      int               `json:"line"`
	Time      string            `json:"time"`
	Direction string            `json:"direction"` // out or in
	Addr      string            `json:"addr"`
	Name      string            `json:"name"` // the request's Java constant, and the answer's code
	Opaque    *int32            `json:"opaque"`
	Code      *int32            `json:"code"`
	Flag      *int32            `json:"flag"`
	Remark    string            `json:"remark"`
	Fields    map[string]string `json:"fields"`
	Size      int               `json:"size" unit:"bytes"`
	BodySize  int               `json:"body_size" unit:"bytes"`
	Body      *string           `json:"body"` // nil where it is not text
	Error     string            `json:"error"`
}

func (p *program) wireCommand() *cli.Command {
	return &cli.Command{
		Name: "wire", Category: categoryLocal, ArgsUsage: "FILE", Usage: "read what --wire has written",
		Description: "Prints one line a frame: when, to or from whom, what it is, its fields, and its body where that is text. " +
			"Secrets were replaced when the file was written. - reads standard input.",
		UsageText: "mqctl --wire trace.txt topic ls -n localhost:9876\twrite every frame to a file\n" +
			"mqctl wire trace.txt\tread it\nmqctl wire trace.txt -o jsonl | jq .name\tfor programs",
		Action: p.wireAction,
	}
}

func (p *program) wireAction(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("mqctl wire wants one FILE, as --wire has written it")
	}
	in := p.stdin
	if name := c.Args().First(); name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		in = f
	}
	maxFrame := protocol.DefaultMaxFrame
	if p.opt.maxFrame > 0 {
		maxFrame = p.opt.maxFrame
	}
	bad := 0
	rows := []wireView{}
	for entry, err := range remoting.ReadWireLog(in, maxFrame) {
		view := newWireView(entry, err)
		if err != nil {
			bad++
		}
		switch p.opt.output {
		case "", "table", "wide":
			if err := p.writeWireLine(view); err != nil {
				return err
			}
		case "jsonl":
			if err := p.write(view); err != nil {
				return err
			}
		default:
			rows = append(rows, view)
		}
	}
	if len(rows) > 0 || p.opt.output == "json" || p.opt.output == "yaml" || p.opt.output == "csv" {
		if err := p.write(rows); err != nil {
			return err
		}
	}
	if bad > 0 {
		return partial("%s: %d lines could not be read", c.Args().First(), bad)
	}
	return nil
}

// newWireView makes a row of an entry and of what its comment says.
func newWireView(e remoting.WireEntry, err error) wireView {
	v := wireView{Line: e.Line, Size: len(e.Data), Fields: map[string]string{}, Direction: "in"}
	if e.Mark == remoting.WireOut {
		v.Direction = "out"
	}
	if n := len(e.Comment); n > 0 {
		if words := strings.Fields(e.Comment[n-1]); len(words) >= 5 && (words[1] == "in" || words[1] == "out") {
			v.Time, v.Addr = words[0], words[2]
			v.Name = strings.Join(words[3:len(words)-2], " ")
		}
	}
	if err != nil {
		v.Error = err.Error()
	}
	body := e.Data
	if cmd := e.Command; cmd != nil {
		code, flag, opaque := cmd.Code, cmd.Flag, cmd.Opaque
		v.Code, v.Flag, v.Opaque, v.Remark = &code, &flag, &opaque, cmd.Remark
		for _, f := range cmd.Ext {
			v.Fields[f.Key] = f.Value
		}
		body = cmd.Body
	} else if e.Mark != remoting.WireBody {
		return v
	}
	v.BodySize = len(body)
	if text := string(body); utf8.ValidString(text) {
		v.Body = &text
	}
	return v
}

// writeWireLine prints a frame on one line.
func (p *program) writeWireLine(v wireView) error {
	var b strings.Builder
	at := v.Time
	if _, clock, ok := strings.Cut(at, "T"); ok {
		at = strings.TrimSuffix(clock, "Z")
	}
	arrow := "<"
	if v.Direction == "out" {
		arrow = ">"
	}
	fmt.Fprintf(&b, "%-15s %s %-21s", safetext.Display(at), arrow, safetext.Display(v.Addr))
	if v.Opaque != nil {
		fmt.Fprintf(&b, " %5d", *v.Opaque)
	}
	b.WriteString(" " + safetext.Display(v.Name))
	if v.Error != "" {
		b.WriteString("  ! " + safetext.Display(v.Error))
	}
	if v.Remark != "" {
		b.WriteString("  remark=" + safetext.Display(v.Remark))
	}
	for _, name := range sortedKeys(v.Fields) {
		b.WriteString("  " + safetext.Display(name+"="+v.Fields[name]))
	}
	switch {
	case v.BodySize > 0 && v.Body != nil:
		b.WriteString("  body=" + safetext.Display(*v.Body))
	case v.BodySize > 0:
		fmt.Fprintf(&b, "  body of %d bytes", v.BodySize)
	}
	line := b.String()
	if p.outTerminal && p.opt.output != "wide" {
		line = render.Truncate(line, p.width)
	}
	_, err := io.WriteString(p.stdout, line+"\n")
	return err
}
