package client

import (
	"slices"

	"mqctl/internal/protocol"
)

// Allocate divides a topic's queues among the members of a group, Java's AllocateMessageQueueStrategy. It is a pure
// function that every member evaluates for itself: queues and members arrive sorted, me is one of the members.
type Allocate func(me string, queues []protocol.MessageQueue, members []string) []protocol.MessageQueue

// AllocateAveragely gives each member a run of adjacent queues, Java's AllocateMessageQueueAveragely (AVG).
func AllocateAveragely(me string, queues []protocol.MessageQueue, members []string) []protocol.MessageQueue {
	i := slices.Index(members, me)
	if i < 0 || len(queues) == 0 {
		return nil
	}
	n, k := len(queues), len(members)
	size, rest := n/k, n%k
	start := i*size + min(i, rest)
	if i < rest {
		size++
	}
	return queues[start : start+size]
}
