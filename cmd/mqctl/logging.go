package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/charmbracelet/log"
	"github.com/muesli/termenv"

	"mqctl/internal/safetext"
)

// newLogger makes the log that engines write to stderr: for eyes on a terminal, else as lines of text or JSON.
func newLogger(w io.Writer, terminal bool, o rootOptions) *slog.Logger {
	level := slog.LevelWarn
	switch {
	case o.quiet:
		return slog.New(slog.DiscardHandler)
	case o.verbose == 1:
		level = slog.LevelInfo
	case o.verbose > 1:
		level = slog.LevelDebug
	}
	var h slog.Handler
	switch {
	case o.logFormat == "json":
		h = slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	case terminal:
		h = terminalHandler(w, level)
	default:
		h = slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
	}
	return slog.New(safeHandler{h})
}

// terminalHandler is the log for eyes. The library must not see that w is a terminal: it would ask the terminal for its
// colours, which writes to it and waits for seconds where no answer comes.
func terminalHandler(w io.Writer, level slog.Level) slog.Handler {
	l := log.NewWithOptions(struct{ io.Writer }{w}, log.Options{Level: log.Level(level), ReportTimestamp: true, TimeFormat: time.TimeOnly})
	if wantsColor() {
		l.SetColorProfile(termenv.ANSI)
	}
	return l
}

// safeHandler makes what is logged fit for a terminal: names, remarks and errors are foreign text.
type safeHandler struct{ slog.Handler }

// Handle passes the record on with safe values.
func (h safeHandler) Handle(ctx context.Context, r slog.Record) error {
	safe := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		safe.AddAttrs(safeAttr(a))
		return true
	})
	return h.Handler.Handle(ctx, safe)
}

// WithAttrs is for values that every record has.
func (h safeHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	safe := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		safe[i] = safeAttr(a)
	}
	return safeHandler{h.Handler.WithAttrs(safe)}
}

// WithGroup keeps the wrapping.
func (h safeHandler) WithGroup(name string) slog.Handler {
	return safeHandler{h.Handler.WithGroup(name)}
}

func safeAttr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		return slog.String(a.Key, safetext.Display(v.String()))
	case slog.KindGroup:
		var inner []slog.Attr
		for _, x := range v.Group() {
			inner = append(inner, safeAttr(x))
		}
		return slog.Attr{Key: a.Key, Value: slog.GroupValue(inner...)}
	case slog.KindAny:
		if err, ok := v.Any().(error); ok {
			return slog.String(a.Key, errorText(err))
		}
		return slog.String(a.Key, safetext.Display(fmt.Sprint(v.Any())))
	}
	return slog.Attr{Key: a.Key, Value: v}
}
