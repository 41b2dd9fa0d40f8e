package client

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mqctl/internal/protocol"
)

// Three members and eight queues on two brokers, as the official classes were asked.
var (
	exampleMembers = []string{"192.0.2.1@1", "192.0.2.1@2", "192.0.2.2@1"}
	exampleQueues  = brokerQueues("a", "b")
)

func brokerQueues(brokers ...string) (list []protocol.MessageQueue) {
	for _, b := range brokers {
		for id := range int32(4) {
			list = append(list, protocol.MessageQueue{Topic: "T", BrokerName: b, QueueID: id})
		}
	}
	return list
}

// show is "a0 a1 b3".
func show(queues []protocol.MessageQueue) string {
	parts := make([]string, len(queues))
	for i, q := range queues {
		parts[i] = strings.TrimPrefix(q.BrokerName, "broker-") + strconv.Itoa(int(q.QueueID))
	}
	return strings.Join(parts, " ")
}

// TestAllocateGolden compares with what the official Java classes computed.
func TestAllocateGolden(t *testing.T) {
	room := func(prefixes map[string]string) func(string) string {
		return func(name string) string { return prefixes[name] }
	}
	nearby := AllocateNearby(AllocateAveragely, Rooms{
		Broker: room(map[string]string{"a": "r1", "b": "r2"}),
		Member: room(map[string]string{"192.0.2.1@1": "r1", "192.0.2.1@2": "r1", "192.0.2.2@1": "r3"}),
	})
	rooms := slices.Concat(brokerQueues("r1@a")[:4], brokerQueues("r2@b")[:4])
	for _, tc := range []struct {
		name     string
		allocate Allocate
		queues   []protocol.MessageQueue
		want     []string
	}{
		{"averagely", AllocateAveragely, exampleQueues, []string{"a0 a1 a2", "a3 b0 b1", "b2 b3"}},
		{"averagely, 2 queues", AllocateAveragely, exampleQueues[:2], []string{"a0", "a1", ""}},
		{"circle", AllocateByCircle, exampleQueues, []string{"a0 a3 b2", "a1 b0 b3", "a2 b1"}},
		{"consistent hash", AllocateConsistentHash, brokerQueues("broker-a", "broker-b"), []string{"a1 b1", "a3 b0 b2", "a0 a2 b3"}},
		{"machine room", AllocateByMachineRoom([]string{"r1"}), rooms, []string{"r1@a0 r1@a3", "r1@a1", "r1@a2"}},
		{"nearby", nearby, exampleQueues, []string{"a0 a1 b0 b1", "a2 a3 b2", "b3"}},
		{"config", AllocateByConfig(exampleQueues[2:5]), exampleQueues, []string{"a2 a3 b0", "a2 a3 b0", "a2 a3 b0"}},
	} {
		for i, me := range exampleMembers {
			if got := show(tc.allocate(me, tc.queues, exampleMembers)); got != tc.want[i] {
				t.Errorf("%s: %s gets %q, want %q", tc.name, me, got, tc.want[i])
			}
		}
		if got := tc.allocate("stranger", tc.queues, exampleMembers); tc.name != "config" && tc.name != "nearby" && len(got) > 0 {
			t.Errorf("%s: a stranger gets %s", tc.name, show(got))
		}
	}
}

func TestRingHash(t *testing.T) {
	for key, want := range map[string]uint32{
		"192.0.2.1@1-0": 3110568544,
		"MessageQueue [topic=T, brokerName=broker-a, queueId=0]": 1630488180,
	} {
		if got := ringHash(key); got != want {
			t.Errorf("%q: %d, want %d", key, got, want)
		}
	}
}

// TestAllocateCovers: whatever the numbers, each queue has exactly one owner.
func TestAllocateCovers(t *testing.T) {
	strategies := map[string]Allocate{
		"averagely": AllocateAveragely, "circle": AllocateByCircle, "consistent hash": AllocateConsistentHash,
		"nearby": AllocateNearby(AllocateByCircle, Rooms{Broker: roomOf, Member: roomOf}),
	}
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfNDistinct(rapid.StringMatching(`r[0-3]@[0-9]{1,3}`), 1, 9, rapid.ID).Draw(t, "members")
		slices.Sort(members)
		queues := []protocol.MessageQueue{}
		for _, b := range rapid.SliceOfNDistinct(rapid.StringMatching(`r[0-5]@b[0-9]`), 0, 4, rapid.ID).Draw(t, "brokers") {
			for id := range rapid.Int32Range(1, 9).Draw(t, "queues") {
				queues = append(queues, protocol.MessageQueue{Topic: "T", BrokerName: b, QueueID: id})
			}
		}
		slices.SortFunc(queues, protocol.CompareMessageQueues)
		for name, allocate := range strategies {
			owners := map[protocol.MessageQueue]int{}
			for _, m := range members {
				for _, q := range allocate(m, queues, members) {
					owners[q]++
				}
			}
			for _, q := range queues {
				if owners[q] != 1 {
					t.Fatalf("%s: %s has %d owners", name, q, owners[q])
				}
			}
		}
	})
}

func TestParseAllocate(t *testing.T) {
	for text, ok := range map[string]bool{
		"averagely": true, "circle": true, "consistent-hash": true, "machine-room:r1,r2": true, "nearby": true,
		"config:broker-a/0,broker-a/1": true, "": false, "avg": false, "machine-room": false, "config:": false,
		"config:broker-a": false, "config:broker-a/x": false, "config:broker-a/-1": false,
	} {
		if _, err := ParseAllocate(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}
