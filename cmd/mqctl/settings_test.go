package main

import (
	"strings"
	"testing"
	"time"

	"mqctl/internal/client"
)

func TestSettingsOfEveryConfiguration(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range allSettings() {
		if seen[s.name] {
			t.Errorf("setting %s exists twice: one -X could not tell them apart", s.name)
		}
		seen[s.name] = true
		if s.help == "" {
			t.Errorf("setting %s has no meaning", s.name)
		}
		if s.def.Kind().String() != "bool" {
			low, high, ok := s.bounds()
			if !ok {
				t.Errorf("setting %s: the range %q cannot be read", s.name, s.limits)
			} else if low > high || s.def.Int() < low || s.def.Int() > high {
				t.Errorf("setting %s: default %s is not in %s", s.name, s.defaultText(), s.rangeText())
			}
		}
		if _, err := s.parse("nonsense"); err == nil {
			t.Errorf("setting %s takes nonsense", s.name)
		}
	}
	for _, name := range []string{"pull-batch", "call-timeout", "max-cached-count", "retries-sync", "latency-fault", "cache-total"} {
		if !seen[name] {
			t.Errorf("setting %s is missing", name)
		}
	}
}

func TestSettingsAreApplied(t *testing.T) {
	set, err := parseSettings([]string{"pull-batch=8", "call-timeout=250ms", "cache-total=64MiB", "latency-fault=true", "drain-timeout=0s", "pull-batch=9"})
	if err != nil {
		t.Fatal(err)
	}
	var c client.Config
	var consumer client.ConsumerConfig
	var producer client.ProducerConfig
	set.apply("client", &c)
	set.apply("consumer", &consumer)
	set.apply("producer", &producer)
	if c.CallTimeout != 250*time.Millisecond || c.DialTimeout != 0 {
		t.Errorf("client: %+v", c)
	}
	if consumer.PullBatchSize != 9 || consumer.CacheTotal != 64<<20 || consumer.Workers != 0 {
		t.Errorf("consumer: %+v", consumer)
	}
	if consumer.DrainTimeout != time.Nanosecond {
		t.Errorf("a drain timeout of 0 became %v: zero would stand for the default", consumer.DrainTimeout)
	}
	if !producer.LatencyFault {
		t.Errorf("producer: %+v", producer)
	}
}

func TestSettingsAreCheckedAtOnce(t *testing.T) {
	for item, want := range map[string]string{
		"pull-batch=0": "want 1 to 1024", "pull-batch=1025": "want 1 to 1024", "pull-batch=x": "want a whole number", "pull-batch=": "whole number",
		"call-timeout=5": "time span", "call-timeout=6m": "want 10ms to 5m", "max-frame=1": "want 1 KiB to 1 GiB", "latency-fault=maybe": "true or false",
		"pull_batch=8": "did you mean pull-batch?", "nonsense": "want KEY=VALUE", "max-reconsume=99999999999": "want -1 to 1000",
	} {
		if _, err := parseSettings([]string{item}); !isUsage(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("-X %s: %v, want %q", item, err, want)
		}
	}
}

func TestDurationsReadWell(t *testing.T) {
	for d, want := range map[time.Duration]string{
		15 * time.Minute: "15m", time.Hour: "1h", 90 * time.Second: "1m30s", 5 * time.Second: "5s", 0: "0s", 20 * time.Minute: "20m", 100 * time.Hour: "100h",
	} {
		if got := trimDuration(d); got != want {
			t.Errorf("%v is shown as %s, want %s", d, got, want)
		}
	}
}
