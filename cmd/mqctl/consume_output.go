package main

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/format"
	"mqctl/internal/protocol"
	"mqctl/internal/render"
	"mqctl/internal/safetext"
)

// messagePrinter writes messages in one format. It is not safe for several goroutines.
type messagePrinter struct {
	p         *program
	kind      string // jsonl, json, raw, hex, table, wide or format
	format    *format.Format
	n         int64 // messages printed
	topics    bool  // several: the table names them
	queues    int   // widths of columns, which only grow
	offsets   int
	tags      int
	keys      int
	topicSize int
}

func (p *program) newMessagePrinter(f *format.Format, topics bool) (*messagePrinter, error) {
	mp := &messagePrinter{p: p, kind: p.opt.output, format: f, topics: topics,
		queues: len("broker-a/0"), offsets: len("OFFSET"), tags: 6, keys: 12, topicSize: len("TOPIC")}
	switch {
	case f != nil:
		mp.kind = "format"
	case mp.kind == "" && p.outTerminal:
		mp.kind = "table"
	case mp.kind == "":
		mp.kind = "jsonl"
	case mp.kind == "yaml" || mp.kind == "csv":
		return nil, usagef("-o %s does not suit messages; consume has table, wide, json, jsonl, raw and hex, and -f", mp.kind)
	}
	return mp, nil
}

// append appends one message, with a header where it is the first.
func (mp *messagePrinter) append(dst []byte, m *protocol.MessageExt) []byte {
	mp.n++
	switch mp.kind {
	case "format":
		return mp.format.Append(dst, m, mp.n, mp.p.outTerminal)
	case "json":
		if mp.n == 1 {
			dst = append(dst, "[\n"...)
		} else {
			dst = append(dst, ",\n"...)
		}
		return format.AppendJSON(dst, m)
	case "raw":
		return append(dst, m.Body...)
	case "hex":
		return mp.hex(dst, m)
	case "table", "wide":
		return mp.row(dst, m)
	}
	return format.AppendJSONL(dst, m)
}

// end is what follows the last message.
func (mp *messagePrinter) end() string {
	switch {
	case mp.kind == "json" && mp.n == 0:
		return "[]\n"
	case mp.kind == "json":
		return "\n]\n"
	case mp.kind == "raw" && mp.p.outTerminal && mp.n > 0:
		return "\n" // the prompt begins a line; where bytes must be exact there is no terminal
	}
	return ""
}

// hex is a line about the message, and its bytes with their text.
func (mp *messagePrinter) hex(dst []byte, m *protocol.MessageExt) []byte {
	dst = fmt.Appendf(dst, "%s/%d  %d bytes", safetext.Display(m.MessageQueue().String()), m.QueueOffset, len(m.Body))
	if tags := m.Tags(); tags != "" {
		dst = append(dst, "  tag "+safetext.Display(tags)...)
	}
	if keys := m.Keys(); keys != "" {
		dst = append(dst, "  keys "+safetext.Display(keys)...)
	}
	dst = append(dst, '\n')
	return append(dst, hex.Dump(m.Body)...)
}

// timeOfDay is how the table shows when a message was stored.
const timeOfDay = "01-02 15:04:05.000"

// row is a line of the table.
func (mp *messagePrinter) row(dst []byte, m *protocol.MessageExt) []byte {
	queue := safetext.Display(m.BrokerName) + "/" + strconv.Itoa(int(m.QueueID))
	offset := strconv.FormatInt(m.QueueOffset, 10)
	tags, keys, topic := safetext.Display(m.Tags()), safetext.Display(m.Keys()), safetext.Display(m.Topic)
	mp.queues = max(mp.queues, render.Width(queue))
	mp.offsets = max(mp.offsets, len(offset))
	mp.tags = max(mp.tags, min(render.Width(tags), 20))
	mp.keys = max(mp.keys, min(render.Width(keys), 24))
	mp.topicSize = max(mp.topicSize, min(render.Width(topic), 40))
	var head, b strings.Builder
	column := func(title, text string, width int, right bool) {
		if right {
			head.WriteString(render.PadLeft(title, width) + "  ")
			b.WriteString(render.PadLeft(text, width) + "  ")
			return
		}
		if mp.p.outTerminal {
			text = render.Truncate(text, width)
		}
		head.WriteString(render.PadRight(title, width) + "  ")
		b.WriteString(render.PadRight(text, width) + "  ")
	}
	column("STORED", m.StoreTime().In(time.Local).Format(timeOfDay), len(timeOfDay), false)
	if mp.topics {
		column("TOPIC", topic, mp.topicSize, false)
	}
	column("QUEUE", queue, mp.queues, false)
	column("OFFSET", offset, mp.offsets, true)
	if mp.kind == "wide" {
		column("MESSAGE ID", safetext.Display(m.MessageID()), 32, false)
		column("SIZE", render.Bytes(int64(len(m.Body))), 8, true)
		column("RETRY", strconv.Itoa(int(m.ReconsumeTimes)), 5, true)
	}
	column("TAG", tags, mp.tags, false)
	column("KEYS", keys, mp.keys, false)
	head.WriteString("BODY")
	b.WriteString(mp.body(m))
	if mp.n == 1 {
		dst = append(append(dst, head.String()...), '\n')
	}
	line := b.String()
	if mp.p.outTerminal && mp.kind != "wide" {
		line = render.Truncate(line, mp.p.width)
	}
	return append(append(dst, strings.TrimRight(line, " ")...), '\n')
}

// maxShown is how much of a body a table looks at on a terminal, in bytes: no line is longer.
const maxShown = 4096

func (mp *messagePrinter) body(m *protocol.MessageExt) string {
	text := ""
	if m.BodyErr != nil {
		text = "! " + errorText(m.BodyErr) + ": "
	}
	body := m.Body
	if mp.p.outTerminal && len(body) > maxShown {
		body = body[:maxShown]
	}
	return text + safetext.DisplayBytes(body)
}
