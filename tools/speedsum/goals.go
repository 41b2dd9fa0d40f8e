package main

import (
	"encoding/json"
	"fmt"
)

// goal is one demand on mqctl's medians, measured in this run.
type goal struct {
	Text    string  `json:"goal"`
	Have    float64 `json:"have"`
	Want    float64 `json:"want"`
	AtLeast bool    `json:"at_least"` // or at most
	Unit    string  `json:"unit"`
	Reached bool    `json:"reached"`
}

// The goals. They are ratios, since absolute figures differ from machine to machine.
const (
	sendOverClients  = 2.0    // throughput of single messages over that of the better official client
	sendCPUOfGo      = 1. / 4 // client CPU of the Go client's
	sendCPUOfFloor   = 2.0
	batchOverSingle  = 8.0
	pullOverClients  = 4.0  // throughput of a consumer, or
	pullOfFloor      = 0.75 // this of the bare puller's, whichever is less
	pullCPUOfGo      = 1. / 8
	cacheFactor      = 1.5 // peak memory of a consumer over what its cache may hold,
	cacheMiB         = 64. // plus this
	bestClient       = "the better official client"
	notMeasuredGoals = "not measured here: admin answers against mqadmin, mqctl --help (scripts/bench-help), 1,000 queues, the tui"
)

// judge compares what was measured with the goals; a goal for which a side is missing is left out.
func (r *report) judge() {
	for _, name := range []string{"produce", "async"} {
		r.judgeSend(name)
	}
	if batch, single := r.of("batch", mqctl), r.of("produce", mqctl); batch != nil && single != nil {
		r.want(fmt.Sprintf("batch: %.0f times the rate of single messages", batchOverSingle), batch.Rate.Median, batchOverSingle*single.Rate.Median, true, "msg/s")
	}
	r.judgeConsume()
	for _, w := range r.Works {
		if s := w.find(mqctl); s != nil {
			r.want(w.Name+": no message of mqctl's failed", float64(s.Bad), 0, false, "messages")
		}
	}
}

func (r *report) judgeSend(name string) {
	own := r.of(name, mqctl)
	if own == nil {
		return
	}
	if best := r.best(name); best > 0 {
		r.want(fmt.Sprintf("%s: throughput %.0f times %s", name, sendOverClients, bestClient), own.Rate.Median, sendOverClients*best, true, "msg/s")
	}
	if s := r.of(name, goClient); s != nil {
		r.want(fmt.Sprintf("%s: CPU 1/%.0f of the Go client's", name, 1/sendCPUOfGo), own.CPU.Median, sendCPUOfGo*s.CPU.Median, false, "µs/msg")
	}
	if s := r.of(name, floor); s != nil {
		r.want(fmt.Sprintf("%s: CPU %.0f times the bare sender's", name, sendCPUOfFloor), own.CPU.Median, sendCPUOfFloor*s.CPU.Median, false, "µs/msg")
	}
}

func (r *report) judgeConsume() {
	own, bare, best := r.of("consume", mqctl), r.of("consume", floor), r.best("consume")
	if own == nil {
		return
	}
	if bare != nil && best > 0 {
		r.want(fmt.Sprintf("consume: throughput %.0f times %s, or %.0f %% of the bare puller", pullOverClients, bestClient, 100*pullOfFloor),
			own.Rate.Median, min(pullOverClients*best, pullOfFloor*bare.Rate.Median), true, "msg/s")
	}
	if s := r.of("consume", goClient); s != nil {
		r.want(fmt.Sprintf("consume: CPU 1/%.0f of the Go client's", 1/pullCPUOfGo), own.CPU.Median, pullCPUOfGo*s.CPU.Median, false, "µs/msg")
	}
	var settings struct {
		Limit float64 `json:"cache_limit_mib"`
	}
	if json.Unmarshal(r.Engine["consume"], &settings) == nil && settings.Limit > 0 {
		r.want(fmt.Sprintf("consume: peak memory %.1f times the cache's limit plus %.0f MiB", cacheFactor, cacheMiB), own.Peak.Max, cacheFactor*settings.Limit+cacheMiB, false, "MiB")
	}
}

func (r *report) want(text string, have, want float64, atLeast bool, unit string) {
	g := goal{Text: text, Have: have, Want: want, AtLeast: atLeast, Unit: unit, Reached: have <= want}
	if atLeast {
		g.Reached = have >= want
	}
	r.Goals = append(r.Goals, g)
}

// of is a side's runs at a work, nil when there is none.
func (r *report) of(workName, sideName string) *side {
	for _, w := range r.Works {
		if w.Name == workName {
			return w.find(sideName)
		}
	}
	return nil
}

// best is the rate of the better official client, 0 unless both were measured.
func (r *report) best(name string) float64 {
	a, b := r.of(name, goClient), r.of(name, java)
	if a == nil || b == nil {
		return 0
	}
	return max(a.Rate.Median, b.Rate.Median)
}

func (r *report) reached() bool {
	for _, g := range r.Goals {
		if !g.Reached {
			return false
		}
	}
	return len(r.Goals) > 0 && len(r.Failed) == 0
}
