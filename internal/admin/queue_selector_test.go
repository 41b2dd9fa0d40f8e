package admin_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mqctl/internal/admin"
	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// grid is n queues of topic t at each broker.
func grid(n int32, brokers ...string) (list []protocol.MessageQueue) {
	for _, b := range brokers {
		for id := range n {
			list = append(list, protocol.MessageQueue{Topic: "t", BrokerName: b, QueueID: id})
		}
	}
	return list
}

func names(queues []protocol.MessageQueue) string {
	list := make([]string, len(queues))
	for i, mq := range queues {
		list[i] = strings.TrimPrefix(mq.String(), "t/")
	}
	return strings.Join(list, " ")
}

func TestQueueSelector(t *testing.T) {
	queues := append(grid(3, "broker-b", "broker-a"), grid(1, "c")...)
	for text, want := range map[string]string{
		"broker-a/0":              "broker-a/0",
		"broker-a/0,1":            "broker-a/0 broker-a/1",
		"broker-a/2, broker-b/0":  "broker-a/2 broker-b/0",
		"1":                       "broker-a/1 broker-b/1",
		"0":                       "broker-a/0 broker-b/0 c/0",
		"1,c/0":                   "broker-a/1 broker-b/1 c/0",
		"c/0 broker-a/1,0":        "broker-a/0 broker-a/1 c/0",
		"broker-b/1,1,broker-b/1": "broker-b/1",
		"1 broker-a/1":            "broker-a/1 broker-b/1",
		"":                        "broker-a/0 broker-a/1 broker-a/2 broker-b/0 broker-b/1 broker-b/2 c/0",
	} {
		var args []string
		if text != "" {
			args = strings.Split(strings.ReplaceAll(text, ", ", ",\t"), " ")
		}
		s, err := admin.ParseQueues(args...)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		got, err := s.Select("t", queues)
		if err != nil || names(got) != want {
			t.Errorf("%q selects %s, %v; want %s", text, names(got), err, want)
		}
		if want := text != "" && text[0] >= '0' && text[0] <= '9'; s.Everywhere() != want {
			t.Errorf("%q: everywhere is %v", text, s.Everywhere())
		}
	}
	if queues[0].BrokerName != "broker-b" {
		t.Error("the queues that were given have been sorted")
	}
}

func TestQueueSelectorErrors(t *testing.T) {
	queues := grid(3, "broker-a", "broker-b")
	for text, want := range map[string]string{
		"":                "an item is empty",
		"broker-a/0,":     "an item is empty",
		"broker-a/":       "no queue number",
		"broker-a":        `"broker-a" is no queue number`,
		"/3":              "broker's name is missing",
		"t/broker-a/0":    "topic does not belong",
		"broker-a/-1":     "no queue number",
		"broker-a/+1":     "no queue number",
		"broker-a/1.0":    "no queue number",
		"99999999999":     "no queue number",
		"broker-a/0-2":    "no queue number",
		"broker-a/3":      "broker-a has 0 to 2",
		"7":               "broker-a has 0 to 2, broker-b has 0 to 2",
		"broker-a/0,1,5":  "broker-a/5",
		"0,broker-x/0":    "broker-a, broker-b",
		"broker-\n\x1b/x": "no queue number",
	} {
		s, err := admin.ParseQueues(text)
		if err == nil {
			_, err = s.Select("t", queues)
		}
		oneLine(t, err)
		var input *admin.InputError
		if !strings.Contains(err.Error(), want) || !errors.As(err, &input) && !errors.Is(err, client.ErrBrokerNotFound) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestQueueSelectorOfATopicWithoutQueues(t *testing.T) {
	for _, text := range []string{"0", "broker-a/0"} {
		s, err := admin.ParseQueues(text)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Select("t", nil); err == nil {
			t.Errorf("%q selects something", text)
		}
	}
}

func TestQueueSelectorFindsWhatItNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		queues := grid(int32(rapid.IntRange(1, 5).Draw(t, "queues")), "a", "b-1", "c.d")
		want := rapid.SliceOfNDistinct(rapid.SampledFrom(queues), 1, len(queues), rapid.ID).Draw(t, "picked")
		var args []string
		for _, mq := range want {
			args = append(args, strings.TrimPrefix(mq.String(), "t/"))
		}
		s, err := admin.ParseQueues(strings.Join(args, ","))
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Select("t", queues)
		slices.SortFunc(want, protocol.CompareMessageQueues)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v selects %v, %v", args, got, err)
		}
	})
}
