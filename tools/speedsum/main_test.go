package main

import (
	"bytes"
	"strings"
	"testing"
)

func consumeRun(round, side, rate, cpu string) string {
	return "run\t" + round + "\tconsume\t" + side + "\tx consume n=100 wall=1.00 rate=" + rate + " cpu=1 cpu_us_per_msg=" + cpu + " rss_mib=16 bad=0\n"
}

func mqctlRun(round, work, rate, cpu, peak, failed string) string {
	return "run\t" + round + "\t" + work + "\tmqctl\t{\"rate\":" + rate + ",\"cpu_us_per_msg\":" + cpu + ",\"peak_rss_mib\":" + peak +
		",\"failed\":" + failed + ",\"settings\":{\"cache_limit_mib\":8}}\n"
}

func readAll(t *testing.T, text string) *report {
	t.Helper()
	r, err := read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	r.judge()
	return r
}

func TestMediansAndRatios(t *testing.T) {
	r := readAll(t, mqctlRun("1", "consume", "300", "2", "10", "0")+mqctlRun("2", "consume", "100", "1", "30", "0")+mqctlRun("3", "consume", "200", "4", "20", "0")+
		consumeRun("1", goClient, "50", "16")+consumeRun("2", goClient, "30", "12"))
	own, peer := r.of("consume", mqctl), r.of("consume", goClient)
	if want := (spread{200, 100, 300}); own.Rate != want {
		t.Errorf("rate = %+v, want %+v", own.Rate, want)
	}
	if want := (spread{14, 12, 16}); peer.CPU != want {
		t.Errorf("CPU of two runs = %+v, want %+v", peer.CPU, want)
	}
	if peer.RateRatio != 5 || peer.CPURatio != 1./7 || peer.PeakRatio != 1.25 {
		t.Errorf("ratios = %v, %v, %v, want 5, 1/7, 1.25", peer.RateRatio, peer.CPURatio, peer.PeakRatio)
	}
}

func goalNamed(t *testing.T, r *report, part string) goal {
	t.Helper()
	for _, g := range r.Goals {
		if strings.Contains(g.Text, part) {
			return g
		}
	}
	t.Fatalf("no goal with %q among %+v", part, r.Goals)
	return goal{}
}

func TestConsumeGoals(t *testing.T) {
	peers := consumeRun("1", goClient, "100", "16") + consumeRun("1", java, "110", "20") + consumeRun("1", floor, "500", "1")
	for _, c := range []struct {
		name, rate, cpu, peak string
		part                  string
		want                  bool
	}{
		{"75 % of the floor is less than 4 times the best client", "375", "2", "16", "throughput", true},
		{"below it", "374", "2", "16", "throughput", false},
		{"an eighth of the Go client", "1", "2", "16", "CPU", true},
		{"more than an eighth", "1", "2.01", "16", "CPU", false},
		{"1.5 times 8 MiB and 64", "1", "2", "76", "peak memory", true},
		{"more memory", "1", "2", "77", "peak memory", false},
	} {
		r := readAll(t, mqctlRun("1", "consume", c.rate, c.cpu, c.peak, "0")+peers)
		if g := goalNamed(t, r, c.part); g.Reached != c.want {
			t.Errorf("%s: reached = %v, want %v: %+v", c.name, g.Reached, c.want, g)
		}
	}
}

func TestProduceGoals(t *testing.T) {
	words := func(work, side, rate, cpu string) string {
		return strings.Replace(consumeRun("1", side, rate, cpu), "\tconsume\t", "\t"+work+"\t", 1)
	}
	text := mqctlRun("1", "produce", "200", "20", "16", "0") + mqctlRun("1", "batch", "1600", "1", "16", "1") +
		words("produce", goClient, "100", "80") + words("produce", java, "99", "200") + words("produce", floor, "300", "9")
	r := readAll(t, text)
	for part, want := range map[string]bool{
		"produce: throughput": true, "1/4 of the Go client": true, "bare sender": false, "batch: 8 times": true,
		"produce: no message": true, "batch: no message": false,
	} {
		if g := goalNamed(t, r, part); g.Reached != want {
			t.Errorf("reached = %v, want %v: %+v", g.Reached, want, g)
		}
	}
	if r.reached() {
		t.Error("the report says that every goal was reached")
	}
}

func TestFailedRunIsTold(t *testing.T) {
	r := readAll(t, mqctlRun("1", "consume", "1", "1", "1", "0")+"run\t2\tconsume\tjava\terror: it hung\n")
	if r.reached() || len(r.Failed) != 1 {
		t.Errorf("reached = %v, failed = %q", r.reached(), r.Failed)
	}
	var out bytes.Buffer
	if err := r.print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "round 2, consume, java: it hung") {
		t.Errorf("the report does not tell the failed run:\n%s", out.String())
	}
}

func TestMalformedResults(t *testing.T) {
	for _, text := range []string{"nonsense\n", "run\t1\tconsume\tjava\tno figures\n", "run\tx\tconsume\tmqctl\t{\"rate\":1,\"cpu_us_per_msg\":1}\n", "run\t1\tconsume\tmqctl\t{\n"} {
		if _, err := read(strings.NewReader(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}

func TestCount(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.6: "1,234,568"} {
		if got := count(x); got != want {
			t.Errorf("count(%v) = %q, want %q", x, got, want)
		}
	}
}
