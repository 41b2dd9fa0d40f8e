package main

import (
	"strings"
	"testing"

	"mqctl/internal/protocol"
)

func message(body string, props ...string) *protocol.MessageExt {
	var p protocol.Properties
	for i := 0; i+1 < len(props); i += 2 {
		p.Set(props[i], props[i+1])
	}
	return &protocol.MessageExt{Topic: "t", BrokerName: "b", QueueID: 3, QueueOffset: 42, StoreTimestamp: 1732946400000,
		BornTimestamp: 1732946400000, Body: []byte(body), RawProperties: p.AppendTo(nil)}
}

func TestMessageFilter(t *testing.T) {
	m := message(`{"cents":900,"items":[{"sku":"a"}]}`, "KEYS", "K1 K2", "TAGS", "paid", "shop", "berlin")
	cases := []struct {
		key, grep, where string
		want             bool
	}{
		{"", "", "", true},
		{"K1", "", "", true}, {"K2", "", "", true}, {"K", "", "", false}, {"K1 K2", "", "", true},
		{"", `"cents":9\d\d`, "", true}, {"", "^x", "", false},
		{"", "", `json.cents == 900`, true},
		{"", "", `json.items[0].sku == "a" && any(json.items, .sku == "a")`, true},
		{"", "", `properties["shop"] == "berlin" && tags in ["paid", "sent"]`, true},
		{"", "", `properties["none"] == ""`, true},
		{"", "", `topic == "t" && broker == "b" && queue_id == 3 && offset == 42 && size > 10 && reconsume_times == 0`, true},
		{"", "", `body contains "cents" && keys startsWith "K1"`, true},
		{"", "", `store_time.Year() == 2024 && born_time == store_time`, true},
		{"", "", `message_id != ""`, true},
		{"K1", "cents", `json.cents > 1000`, false},
		{"K9", "cents", `json.cents > 100`, false},
	}
	for _, c := range cases {
		f, err := newMessageFilter(c.key, c.grep, c.where)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		if got, err := f.match(m); got != c.want || err != nil {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
}

func TestFilterParsesJSONOnlyForExpressionsThatUseIt(t *testing.T) {
	for where, want := range map[string]bool{`json != nil`: true, `size > 1 && json.a == 1`: true, `size > 1`: false, `body contains "json"`: false} {
		f, err := newMessageFilter("", "", where)
		if err != nil || f.needJSON != want {
			t.Errorf("%s: %v, %v", where, f.needJSON, err)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for _, where := range []string{"size >", "size", `"a"`, "nothing == 1", "topic > 1"} {
		if _, err := newMessageFilter("", "", where); !isUsage(err) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", where, err)
		}
	}
	if _, err := newMessageFilter("", "(", ""); !isUsage(err) {
		t.Errorf("grep: %v", err)
	}
	f, err := newMessageFilter("", "", "json.cents > 5")
	if err != nil {
		t.Fatal(err)
	}
	ok, err := f.match(message("no json"))
	if ok || err == nil || !strings.Contains(err.Error(), "t/b/3 at 42") || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, %v", ok, err)
	}
	if f.scanned.Load() != 1 || f.matched.Load() != 0 {
		t.Errorf("scanned %d, matched %d", f.scanned.Load(), f.matched.Load())
	}
}

func TestNoFilterMatchesEverything(t *testing.T) {
	f, err := newMessageFilter("", "", "")
	if f != nil || err != nil {
		t.Fatalf("%v, %v", f, err)
	}
	if ok, err := f.match(message("x")); !ok || err != nil {
		t.Errorf("%v, %v", ok, err)
	}
}
