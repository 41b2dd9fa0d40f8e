package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// The sides, mqctl first.
const (
	mqctl    = "mqctl"
	goClient = "go-client"
	java     = "java"
	floor    = "floor"
)

// report is everything that was measured. Maps are keyed as in the results.
type report struct {
	About    []note                     `json:"about"`
	Settings []note                     `json:"settings"`
	Works    []*work                    `json:"works"`
	Goals    []goal                     `json:"goals"`
	Failed   []string                   `json:"failed_runs"`
	Engine   map[string]json.RawMessage `json:"engine_settings"` // by work: what mqctl's driver says it ran with
}

type note struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// work is one kind of work, done by several sides.
type work struct {
	Name  string  `json:"work"`
	Sides []*side `json:"sides"`
}

// side is the runs of one side at one work. The ratios are mqctl's medians divided by this side's.
type side struct {
	Name      string   `json:"side"`
	Runs      []sample `json:"runs"`
	Rate      spread   `json:"rate"`
	CPU       spread   `json:"cpu_us_per_msg"`
	Peak      spread   `json:"peak_rss_mib"`
	Bad       int64    `json:"failed_messages"`
	RateRatio float64  `json:"mqctl_rate_ratio"`
	CPURatio  float64  `json:"mqctl_cpu_ratio"`
	PeakRatio float64  `json:"mqctl_peak_ratio"`
}

// sample is one run.
type sample struct {
	Round    int     `json:"round"`
	Messages int64   `json:"messages"`
	Failed   int64   `json:"failed"`
	Wall     float64 `json:"wall_s"`
	Rate     float64 `json:"rate"`
	CPU      float64 `json:"cpu_us_per_msg"`
	Peak     float64 `json:"peak_rss_mib"`
}

// spread is the median over the rounds, the least and the most.
type spread struct {
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`
}

func read(in io.Reader) (*report, error) {
	r := &report{Failed: []string{}, Engine: map[string]json.RawMessage{}}
	sc := bufio.NewScanner(in)
	sc.Buffer(nil, 1<<20)
	for sc.Scan() {
		f := strings.SplitN(sc.Text(), "\t", 5)
		var err error
		switch {
		case len(f) == 3 && f[0] == "about":
			r.About = append(r.About, note{f[1], f[2]})
		case len(f) == 3 && f[0] == "settings":
			r.Settings = append(r.Settings, note{f[1], f[2]})
		case len(f) == 5 && f[0] == "run":
			err = r.add(f[1], f[2], f[3], f[4])
		default:
			err = fmt.Errorf("not a line of results: %q", sc.Text())
		}
		if err != nil {
			return nil, err
		}
	}
	if err := sc.Err(); err != nil {
		return nil, err
	}
	for _, w := range r.Works {
		w.finish()
	}
	return r, nil
}

func (r *report) add(round, workName, sideName, text string) error {
	if message, failed := strings.CutPrefix(text, "error:"); failed {
		r.Failed = append(r.Failed, fmt.Sprintf("round %s, %s, %s: %s", round, workName, sideName, strings.TrimSpace(message)))
		return nil
	}
	var s sample
	var err error
	if strings.HasPrefix(text, "{") {
		err = r.fromJSON(&s, workName, text)
	} else {
		err = s.fromWords(text)
	}
	if err == nil && (s.Rate <= 0 || s.CPU <= 0) {
		err = fmt.Errorf("no figures in %q", text)
	}
	if err != nil {
		return fmt.Errorf("round %s, %s, %s: %w", round, workName, sideName, err)
	}
	if s.Round, err = strconv.Atoi(round); err != nil {
		return fmt.Errorf("round %q: %w", round, err)
	}
	x := r.work(workName).side(sideName)
	x.Runs = append(x.Runs, s)
	return nil
}

func (r *report) fromJSON(s *sample, workName, text string) error {
	if err := json.Unmarshal([]byte(text), s); err != nil {
		return err
	}
	var more struct{ Settings json.RawMessage }
	if err := json.Unmarshal([]byte(text), &more); err != nil {
		return err
	}
	if more.Settings != nil {
		r.Engine[workName] = more.Settings
	}
	return nil
}

// fromWords reads the name=value words that the other drivers print.
func (s *sample) fromWords(text string) error {
	for word := range strings.FieldsSeq(text) {
		name, value, ok := strings.Cut(word, "=")
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
		switch name {
		case "n":
			s.Messages = int64(x)
		case "bad":
			s.Failed = int64(x)
		case "wall":
			s.Wall = x
		case "rate":
			s.Rate = x
		case "cpu_us_per_msg":
			s.CPU = x
		case "rss_mib":
			s.Peak = x
		}
	}
	return nil
}

func (r *report) work(name string) *work {
	for _, w := range r.Works {
		if w.Name == name {
			return w
		}
	}
	r.Works = append(r.Works, &work{Name: name})
	return r.Works[len(r.Works)-1]
}

func (w *work) side(name string) *side {
	if s := w.find(name); s != nil {
		return s
	}
	w.Sides = append(w.Sides, &side{Name: name})
	return w.Sides[len(w.Sides)-1]
}

func (w *work) find(name string) *side {
	for _, s := range w.Sides {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// finish sorts the sides, and makes medians and ratios.
func (w *work) finish() {
	order := []string{mqctl, goClient, java, floor}
	slices.SortStableFunc(w.Sides, func(a, b *side) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	for _, s := range w.Sides {
		s.Rate = spreadOf(s.Runs, func(x sample) float64 { return x.Rate })
		s.CPU = spreadOf(s.Runs, func(x sample) float64 { return x.CPU })
		s.Peak = spreadOf(s.Runs, func(x sample) float64 { return x.Peak })
		for _, x := range s.Runs {
			s.Bad += x.Failed
		}
	}
	own := w.find(mqctl)
	if own == nil {
		return
	}
	for _, s := range w.Sides {
		s.RateRatio = ratio(own.Rate, s.Rate)
		s.CPURatio = ratio(own.CPU, s.CPU)
		s.PeakRatio = ratio(own.Peak, s.Peak)
	}
}

func ratio(a, b spread) float64 {
	if b.Median == 0 {
		return 0
	}
	return a.Median / b.Median
}

func spreadOf(runs []sample, of func(sample) float64) spread {
	values := make([]float64, len(runs))
	for i, x := range runs {
		values[i] = of(x)
	}
	slices.Sort(values)
	n := len(values)
	s := spread{Median: values[n/2], Min: values[0], Max: values[n-1]}
	if n%2 == 0 {
		s.Median = (values[n/2-1] + values[n/2]) / 2
	}
	return s
}
