package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/render"
	"mqctl/internal/safetext"
)

// resultView is one stored message in the output of produce.
type resultView struct {
	MessageID       string        `json:"message_id"`
	OffsetMessageID string        `json:"offset_message_id"`
	Topic           string        `json:"topic"`
	Broker          string        `json:"broker"`
	QueueID         int32         `json:"queue_id"`
	Offset          int64         `json:"offset"` // of a delayed message in the broker's internal queue
	Status          string        `json:"status"`
	Attempts        int           `json:"attempts"`
	RT              time.Duration `json:"rt_us" unit:"duration"`
}

func newResultView(r client.SendResult, took time.Duration) resultView {
	return resultView{
		MessageID: r.MessageID, OffsetMessageID: r.OffsetMessageID, Topic: r.MessageQueue.Topic, Broker: r.MessageQueue.BrokerName,
		QueueID: r.MessageQueue.QueueID, Offset: r.Offset, Status: r.Status.String(), Attempts: r.Attempts, RT: took,
	}
}

// appendJSON writes v as its tags say, without the cost of reading them for each message.
func (v *resultView) appendJSON(dst []byte) []byte {
	text := func(name, value string) {
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(safetext.AppendJSONString(dst, value), ',')
	}
	number := func(name string, value int64) {
		dst = append(append(append(dst, '"'), name...), `":`...)
		dst = append(strconv.AppendInt(dst, value, 10), ',')
	}
	dst = append(dst, '{')
	text("message_id", v.MessageID)
	text("offset_message_id", v.OffsetMessageID)
	text("topic", v.Topic)
	text("broker", v.Broker)
	number("queue_id", int64(v.QueueID))
	number("offset", v.Offset)
	text("status", v.Status)
	number("attempts", int64(v.Attempts))
	number("rt_us", v.RT.Microseconds())
	dst[len(dst)-1] = '}'
	return dst
}

// resultPrinter prints results as they come. Its methods may be called by several goroutines.
type resultPrinter struct {
	p      *program
	format render.Format
	out    *flusher
	mu     sync.Mutex
	began  bool // something was printed
	width  int  // of the queue column
}

func (p *program) newResultPrinter() (*resultPrinter, error) {
	f := render.Format(p.opt.output)
	switch {
	case f == "" && p.outTerminal:
		f = render.FormatTable
	case f == "":
		f = render.FormatJSONL
	case f == "raw" || f == "hex":
		return nil, usagef("-o %s prints messages; produce has table, json, jsonl, yaml and csv", f)
	}
	return &resultPrinter{p: p, format: f, out: newFlusher(p.stdout)}, nil
}

func (r *resultPrinter) print(v resultView) error {
	var b strings.Builder
	r.mu.Lock()
	err := r.render(&b, v)
	r.mu.Unlock()
	if err != nil {
		return err
	}
	return r.out.write([]byte(b.String()))
}

func (r *resultPrinter) render(b *strings.Builder, v resultView) error {
	first := !r.began
	r.began = true
	switch r.format {
	case render.FormatTable, render.FormatWide:
		r.table(b, v, first)
		return nil
	case render.FormatJSON:
		if first {
			b.WriteString("[\n")
		} else {
			b.WriteString(",\n")
		}
		b.Write(v.appendJSON(nil))
		return nil
	case render.FormatJSONL:
		b.Write(append(v.appendJSON(nil), '\n'))
		return nil
	case render.FormatYAML:
		return render.Write(b, r.format, []resultView{v}, render.Options{})
	}
	return render.Write(b, r.format, v, render.Options{NoHeader: !first})
}

// table prints a line whose columns stay where they are while numbers grow.
func (r *resultPrinter) table(b *strings.Builder, v resultView, first bool) {
	queue := safetext.Display(v.Broker) + "/" + strconv.Itoa(int(v.QueueID))
	r.width = max(r.width, render.Width(queue), len("QUEUE"))
	if first {
		fmt.Fprintf(b, "%s  %10s  %-32s  %7s  %s\n", render.PadRight("QUEUE", r.width), "OFFSET", "MESSAGE ID", "RT", "STATUS")
	}
	status := v.Status
	if v.Attempts > 1 {
		status += fmt.Sprintf(", %d attempts", v.Attempts)
	}
	fmt.Fprintf(b, "%s  %10d  %-32s  %7s  %s\n", render.PadRight(queue, r.width), v.Offset, safetext.Display(v.MessageID),
		v.RT.Round(10*time.Microsecond), status)
}

// flush ends the output.
func (r *resultPrinter) flush() error {
	end := ""
	if r.format == render.FormatJSON {
		end = "\n]\n"
		if !r.began {
			end = "[]\n"
		}
	}
	if end == "" {
		return nil
	}
	_, err := io.WriteString(r.p.stdout, end)
	return err
}
