package admin

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// QueueSelector names queues of a topic: the argument of -q. The zero value selects every queue.
type QueueSelector struct {
	parts []selected
}

// selected is one queue number, at every broker that has it when broker is "".
type selected struct {
	broker  string
	queueID int32
}

// ParseQueues reads queue selectors, each a list with commas: BROKER/Q is a queue, a number behind it is one more of the
// same broker, a number before any broker is that queue of every broker ("broker-a/0,1,broker-b/0" or "3"). Errors are
// *InputError.
func ParseQueues(selectors ...string) (QueueSelector, error) {
	var s QueueSelector
	for _, text := range selectors {
		broker := ""
		for item := range strings.SplitSeq(text, ",") {
			one, err := parseQueue(strings.TrimSpace(item), broker)
			if err != "" {
				return QueueSelector{}, &InputError{What: "queue", Input: text, Reason: err}
			}
			broker = one.broker
			if !slices.Contains(s.parts, one) {
				s.parts = append(s.parts, one)
			}
		}
	}
	return s, nil
}

const queueForms = "want BROKER/QUEUE, such as broker-a/0 or broker-a/0,1, or a number for every broker"

// parseQueue reads one item behind one of the given broker. reason says why it is none.
func parseQueue(item, broker string) (q selected, reason string) {
	name, number, ok := cutLast(item, "/")
	switch {
	case item == "":
		return q, "an item is empty; " + queueForms
	case !ok:
		name, number = broker, item
	case name == "":
		return q, "the broker's name is missing; " + queueForms
	case strings.Contains(name, "/"):
		return q, "the topic does not belong here; " + queueForms
	}
	id, err := strconv.ParseInt(number, 10, 32)
	if err != nil || id < 0 || number[0] == '+' {
		return q, fmt.Sprintf("%q is no queue number; %s", number, queueForms)
	}
	return selected{broker: name, queueID: int32(id)}, ""
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// Everywhere reports whether some number stands for the queues of all brokers, which a plan has to point out.
func (s QueueSelector) Everywhere() bool {
	return slices.ContainsFunc(s.parts, func(q selected) bool { return q.broker == "" })
}

// Select picks the selected ones of a topic's queues, each once, in the order of CompareMessageQueues. What selects
// nothing is an error that says what there is: client.ErrBrokerNotFound or an *InputError.
func (s QueueSelector) Select(topic string, queues []protocol.MessageQueue) ([]protocol.MessageQueue, error) {
	ids := map[string][]int32{}
	for _, mq := range queues {
		ids[mq.BrokerName] = append(ids[mq.BrokerName], mq.QueueID)
	}
	names := slices.Sorted(maps.Keys(ids))
	picked := map[protocol.MessageQueue]bool{}
	for _, part := range s.parts {
		if part.broker != "" && ids[part.broker] == nil {
			return nil, fmt.Errorf("broker %s has no queue of topic %s: %w; these have: %s",
				part.broker, topic, client.ErrBrokerNotFound, cmp.Or(strings.Join(names, ", "), "none"))
		}
		before := len(picked)
		for _, mq := range queues {
			if mq.QueueID == part.queueID && (part.broker == "" || part.broker == mq.BrokerName) {
				picked[mq] = true
			}
		}
		if len(picked) == before && !covered(picked, part) {
			return nil, part.notFound(topic, ids, names)
		}
	}
	if len(s.parts) == 0 {
		return slices.SortedFunc(slices.Values(queues), protocol.CompareMessageQueues), nil
	}
	return slices.SortedFunc(maps.Keys(picked), protocol.CompareMessageQueues), nil
}

// covered reports whether a queue of part was picked by a part before it.
func covered(picked map[protocol.MessageQueue]bool, part selected) bool {
	for mq := range picked {
		if mq.QueueID == part.queueID && (part.broker == "" || part.broker == mq.BrokerName) {
			return true
		}
	}
	return false
}

func (q selected) notFound(topic string, ids map[string][]int32, names []string) error {
	if q.broker != "" {
		names = []string{q.broker}
	}
	have := make([]string, len(names))
	for i, name := range names {
		have[i] = fmt.Sprintf("%s has %s", name, idRange(ids[name]))
	}
	input := strconv.Itoa(int(q.queueID))
	if q.broker != "" {
		input = q.broker + "/" + input
	}
	return &InputError{What: "queue", Input: input,
		Reason: fmt.Sprintf("topic %s has no such queue: %s", topic, cmp.Or(strings.Join(have, ", "), "it has none"))}
}

func idRange(ids []int32) string {
	first, last := slices.Min(ids), slices.Max(ids)
	if first == last {
		return strconv.Itoa(int(first))
	}
	return fmt.Sprintf("%d to %d", first, last)
}
