package client

import (
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mqctl/internal/protocol"
)

// Allocate divides a topic's queues among the members of a group, Java's AllocateMessageQueueStrategy. It is a pure
// function that every member evaluates for itself: queues and members arrive sorted, me is one of the members. All
// members of a group must use the same one, or queues are owned twice or by nobody.
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

// AllocateByCircle deals queues out like cards, Java's AllocateMessageQueueAveragelyByCircle (AVG_BY_CIRCLE).
func AllocateByCircle(me string, queues []protocol.MessageQueue, members []string) (mine []protocol.MessageQueue) {
	i := slices.Index(members, me)
	if i < 0 {
		return nil
	}
	for ; i < len(queues); i += len(members) {
		mine = append(mine, queues[i])
	}
	return mine
}

// virtualNodes is how often a member stands on the ring of AllocateConsistentHash, Java's virtualNodeCnt.
const virtualNodes = 10

// AllocateConsistentHash keeps most queues where they are when members come and go, Java's
// AllocateMessageQueueConsistentHash (CONSISTENT_HASH). The Go client of the RocketMQ project has another ring: the two
// cannot share a group.
func AllocateConsistentHash(me string, queues []protocol.MessageQueue, members []string) (mine []protocol.MessageQueue) {
	if !slices.Contains(members, me) {
		return nil
	}
	ring := map[uint32]string{}
	for _, m := range members {
		for i := range virtualNodes {
			ring[ringHash(m+"-"+strconv.Itoa(i))] = m
		}
	}
	points := slices.Sorted(maps.Keys(ring))
	for _, mq := range queues {
		key := fmt.Sprintf("MessageQueue [topic=%s, brokerName=%s, queueId=%d]", mq.Topic, mq.BrokerName, mq.QueueID)
		i, _ := slices.BinarySearch(points, ringHash(key))
		if ring[points[i%len(points)]] == me {
			mine = append(mine, mq)
		}
	}
	return mine
}

// ringHash is Java's ConsistentHashRouter.MD5Hash: the first four bytes of the digest.
func ringHash(key string) uint32 {
	sum := md5.Sum([]byte(key))
	return binary.BigEndian.Uint32(sum[:4])
}

// AllocateByMachineRoom shares the queues of brokers named room@name whose room is in the set, Java's
// AllocateMessageQueueByMachineRoom (MACHINE_ROOM).
func AllocateByMachineRoom(rooms []string) Allocate {
	return func(me string, queues []protocol.MessageQueue, members []string) []protocol.MessageQueue {
		i := slices.Index(members, me)
		if i < 0 {
			return nil
		}
		var eligible []protocol.MessageQueue
		for _, mq := range queues {
			if room, _, ok := strings.Cut(mq.BrokerName, "@"); ok && slices.Contains(rooms, room) {
				eligible = append(eligible, mq)
			}
		}
		q, r := len(eligible)/len(members), len(eligible)%len(members)
		mine := slices.Clone(eligible[q*i : q*i+q])
		if i < r {
			mine = append(mine, eligible[q*len(members)+i])
		}
		return mine
	}
}

// Rooms tells where brokers and members are, Java's MachineRoomResolver.
type Rooms struct {
	Broker func(name string) string
	Member func(clientID string) string
}

// AllocateNearby shares the queues of each room among the members there by inner, and those of rooms without a member
// among all, Java's AllocateMachineRoomNearby (MACHINE_ROOM_NEARBY).
func AllocateNearby(inner Allocate, rooms Rooms) Allocate {
	return func(me string, queues []protocol.MessageQueue, members []string) []protocol.MessageQueue {
		queuesIn := map[string][]protocol.MessageQueue{}
		for _, mq := range queues {
			room := rooms.Broker(mq.BrokerName)
			queuesIn[room] = append(queuesIn[room], mq)
		}
		membersIn := map[string][]string{}
		for _, m := range members {
			room := rooms.Member(m)
			membersIn[room] = append(membersIn[room], m)
		}
		mine := slices.Clone(inner(me, queuesIn[rooms.Member(me)], membersIn[rooms.Member(me)]))
		for _, room := range slices.Sorted(maps.Keys(queuesIn)) {
			if len(membersIn[room]) == 0 {
				mine = append(mine, inner(me, queuesIn[room], members)...)
			}
		}
		return mine
	}
}

// AllocateByConfig takes exactly the given queues, whoever else there is, Java's AllocateMessageQueueByConfig (CONFIG).
// broker/queue pairs apply to every topic.
func AllocateByConfig(wanted []protocol.MessageQueue) Allocate {
	return func(_ string, queues []protocol.MessageQueue, _ []string) (mine []protocol.MessageQueue) {
		for _, mq := range queues {
			if slices.ContainsFunc(wanted, func(w protocol.MessageQueue) bool {
				return w.BrokerName == mq.BrokerName && w.QueueID == mq.QueueID && (w.Topic == "" || w.Topic == mq.Topic)
			}) {
				mine = append(mine, mq)
			}
		}
		return mine
	}
}

// roomOf is the part of a broker's or a member's name before @, the room by the naming convention of MACHINE_ROOM.
func roomOf(name string) string {
	room, _, _ := strings.Cut(name, "@")
	return room
}

// ParseAllocate reads a strategy by name: averagely, circle, consistent-hash, machine-room:ROOM[,ROOM…],
// nearby (rooms are what stands before @ in broker names and client ids), config:BROKER/Q[,BROKER/Q…].
func ParseAllocate(text string) (Allocate, error) {
	name, arg, _ := strings.Cut(text, ":")
	switch name {
	case "averagely":
		return AllocateAveragely, nil
	case "circle":
		return AllocateByCircle, nil
	case "consistent-hash":
		return AllocateConsistentHash, nil
	case "machine-room":
		if arg == "" {
			return nil, fmt.Errorf("allocate %q: want machine-room:ROOM[,ROOM…]", text)
		}
		return AllocateByMachineRoom(strings.Split(arg, ",")), nil
	case "nearby":
		return AllocateNearby(AllocateAveragely, Rooms{Broker: roomOf, Member: roomOf}), nil
	case "config":
		queues, err := parseConfigQueues(arg)
		if err != nil {
			return nil, fmt.Errorf("allocate %q: %w", text, err)
		}
		return AllocateByConfig(queues), nil
	}
	return nil, fmt.Errorf("allocate %q: want averagely, circle, consistent-hash, machine-room:…, nearby or config:…", text)
}

func parseConfigQueues(list string) (queues []protocol.MessageQueue, err error) {
	for item := range strings.SplitSeq(list, ",") {
		broker, id, ok := strings.Cut(item, "/")
		n, err := strconv.ParseInt(id, 10, 32)
		if !ok || broker == "" || err != nil || n < 0 {
			return nil, fmt.Errorf("queue %q: want BROKER/Q", item)
		}
		queues = append(queues, protocol.MessageQueue{BrokerName: broker, QueueID: int32(n)})
	}
	return queues, nil
}
