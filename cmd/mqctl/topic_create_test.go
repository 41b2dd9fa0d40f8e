package main

import (
	"strings"
	"testing"

	"mqctl/internal/admin"
)

func TestPlanIsShownWholeOnANarrowTerminal(t *testing.T) {
	long := strings.Repeat("why ", 30) + "end"
	plan := &admin.TopicPlan{Topic: "t", Brokers: []admin.TopicPlanBroker{
		{Broker: "broker-a", Addr: "127.0.0.1:10911", Action: admin.ActionChange, Note: "a note", Changes: []admin.Change{
			{Setting: "read queues", From: "4", To: "8"}, {Setting: "write queues", From: "4", To: "8"},
			{Setting: "cleanup.policy", To: "COMPACTION"},
		}},
		{Broker: "broker-b", Addr: "127.0.0.1:10921", Action: admin.ActionUnknown, Error: long},
	}}
	var out, asked strings.Builder
	p := &program{stdout: &out, stderr: &asked, outTerminal: true, errTerminal: true, width: 80}
	for _, asData := range []bool{true, false} {
		if err := p.writeTopicPlan(plan, asData); err != nil {
			t.Fatal(err)
		}
	}
	for _, text := range []string{out.String(), asked.String()} {
		for _, want := range []string{"change   read queues 4 → 8\n", " write queues 4 → 8\n", " cleanup.policy COMPACTION\n", " a note\n", long} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		for line := range strings.Lines(text) {
			if len([]rune(line)) > 81 && !strings.Contains(line, long) {
				t.Errorf("wider than the terminal: %q", line)
			}
		}
	}
}
