package main

import (
	"strings"
	"testing"
	"time"

	"mqctl/internal/render"
)

// TestResultsLookAsTheirTagsSay: the quick way of writing a result must not drift from the general one.
func TestResultsLookAsTheirTagsSay(t *testing.T) {
	for _, v := range []resultView{
		{},
		{MessageID: "ID", OffsetMessageID: "7F00", Topic: "t\x1b", Broker: "b\u202e", QueueID: 3, Offset: 1 << 40, Status: "SEND_OK", Attempts: 2, RT: 1500 * time.Microsecond},
	} {
		var want strings.Builder
		if err := render.Write(&want, render.FormatJSONL, v, render.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := string(v.appendJSON(nil)) + "\n"; got != want.String() {
			t.Errorf("got  %swant %s", got, want.String())
		}
	}
}
