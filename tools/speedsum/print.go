package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// titles says what the works are.
var titles = map[string]string{
	"consume": "consume: push consumer, concurrent",
	"produce": "produce: single messages, synchronous",
	"async":   "async: single messages, callbacks",
	"batch":   "batch: synchronous",
}

// print writes the report for people. A tabwriter keeps the first error, so that only Flush needs to be looked at.
func (r *report) print(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, n := range r.About {
		fmt.Fprintf(w, "%s\t%s\n", n.Name, n.Text)
	}
	fmt.Fprintln(w, "\nsettings\t")
	for _, x := range r.Works {
		if s := r.Engine[x.Name]; s != nil {
			fmt.Fprintf(w, "  mqctl %s\t%s\n", x.Name, words(string(s)))
		}
	}
	for _, n := range r.Settings {
		fmt.Fprintf(w, "  %s\t%s\n", n.Name, n.Text)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, x := range r.Works {
		if err := x.print(out); err != nil {
			return err
		}
	}
	return r.printGoals(out)
}

// words makes a JSON object of plain values readable.
func words(object string) string {
	return strings.NewReplacer("{", "", "}", "", `"`, "", ":", " ", ",", ", ").Replace(object)
}

func (x *work) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n", titles[x.Name])
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\tmsg/s\tmin\tmax\tCPU µs/msg\tmin\tmax\tpeak MiB\trate ×\tCPU ×\tmemory ×\tfailed\t")
	for _, s := range x.Sides {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%.2f\t%.2f\t%.2f\t%.0f\t%s\t%s\t%s\t%d\t\n", s.Name, count(s.Rate.Median), count(s.Rate.Min), count(s.Rate.Max),
			s.CPU.Median, s.CPU.Min, s.CPU.Max, s.Peak.Median, s.times(s.RateRatio), s.times(s.CPURatio), s.times(s.PeakRatio), s.Bad)
	}
	return w.Flush()
}

// times is mqctl's figure as a multiple of this side's.
func (s *side) times(x float64) string {
	if s.Name == mqctl || x == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", x)
}

func (r *report) printGoals(out io.Writer) error {
	fmt.Fprintln(out, "\nmedians of all rounds; the columns with × are mqctl's figure divided by that row's\n\ngoals")
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, g := range r.Goals {
		verdict, bound := "reached", "at most"
		if g.AtLeast {
			bound = "at least"
		}
		if !g.Reached {
			verdict = "NOT REACHED"
		}
		fmt.Fprintf(w, "  %s\t%s\t%s %s, %s %s\n", verdict, g.Text, figure(g.Have), g.Unit, bound, figure(g.Want))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "  "+notMeasuredGoals)
	for _, f := range r.Failed {
		fmt.Fprintln(out, "failed run:", f)
	}
	return nil
}

// figure is a number with as many digits as it deserves.
func figure(x float64) string {
	if x < 100 {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	return count(x)
}

// count is a whole number with its thousands apart.
func count(x float64) string {
	s := strconv.FormatFloat(x, 'f', 0, 64)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
