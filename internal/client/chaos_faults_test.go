package client_test

import (
	"fmt"
	"math/rand/v2"
	"time"

	"mqctl/internal/faultnet"
	"mqctl/internal/history"
	"mqctl/internal/sandbox"
)

// chaosFault is one planned fault. What it strikes is chosen when it begins, by dice.
type chaosFault struct {
	id     string // kind and number
	kind   string
	at     time.Duration // after the start
	length time.Duration
	dice   uint64
}

// chaosKinds is what can go wrong, each with how often it is drawn.
var chaosKinds = []struct {
	kind    string
	weight  int
	shorter time.Duration // its length is between these
	longer  time.Duration
	orderly bool // makes sense in orderly mode only
}{
	{"cut", 4, 0, 0, false},
	{"latency", 2, 5 * time.Second, 20 * time.Second, false},
	{"one-way", 3, 4 * time.Second, 12 * time.Second, false},
	{"blackhole", 2, 4 * time.Second, 12 * time.Second, false},
	{"broker-restart", 2, time.Second, 12 * time.Second, false},
	{"broker-move", 1, 0, 0, false},
	{"names-down", 1, 5 * time.Second, 30 * time.Second, false},
	{"join", 3, 0, 0, false},
	{"leave", 3, 0, 0, false},
	{"kill", 2, 0, 0, false},
	{"vanish", 1, 0, 0, false},
	{"pause", 2, 3 * time.Second, 15 * time.Second, false},
	{"requests", 3, 5 * time.Second, 20 * time.Second, false},
	{"lose-lock", 4, 0, 0, true},
}

// chaosRequests are faults of single requests, in the sandbox's words.
var chaosRequests = []string{
	"commit:p=0.5,drop", "commit:p=0.5,lose", "commit:error=1", "send-back:p=0.5,error=1", "send-back:p=0.5,lose", "send:p=0.3,lose",
	"send:p=0.3,error=2", "pull:p=0.3,error=1", "pull:p=0.3,lose", "members:p=0.7,error=1", "heartbeat:p=0.7,error=1",
	"query-offset:p=0.7,error=1", "lock:p=0.7,error=1", "lock:p=0.5,lose", "unlock:lose", "pull:p=0.3,delay=2s", "commit:p=0.5,wait=1s", "*:p=0.05,close",
}

// newChaosPlan is the plan of a seed.
func newChaosPlan(seed uint64, orderly bool) chaosPlan {
	rng := rand.New(rand.NewPCG(seed, 7))
	p := chaosPlan{
		seed: seed, orderly: orderly, queues: 1 + rng.IntN(3), members: 1 + rng.IntN(3), producers: 2,
		messages: 40 + rng.IntN(60), pace: time.Duration(300+rng.IntN(700)) * time.Millisecond,
		workers: 1 + rng.IntN(4), batch: []int{1, 1, 1, 3}[rng.IntN(4)],
	}
	window := time.Duration(p.messages) * p.pace
	total := 0
	for _, k := range chaosKinds {
		total += k.weight
	}
	for len(p.faults) < 5+rng.IntN(4) {
		n, i := rng.IntN(total), 0
		for n >= chaosKinds[i].weight {
			n -= chaosKinds[i].weight
			i++
		}
		k := chaosKinds[i]
		if k.orderly && !orderly {
			continue
		}
		f := chaosFault{kind: k.kind, at: 2*time.Second + time.Duration(rng.Int64N(int64(window*3/4))), dice: rng.Uint64()}
		if k.longer > k.shorter {
			f.length = k.shorter + time.Duration(rng.Int64N(int64(k.longer-k.shorter)))
		}
		f.id = fmt.Sprintf("%s-%d", f.kind, len(p.faults)+1)
		p.faults = append(p.faults, f)
	}
	return p
}

// play lets a fault happen and records it.
func (r *chaosRun) play(f chaosFault) {
	var hits int64
	from := time.Now()
	switch f.kind {
	case "join", "leave", "kill", "vanish":
		hits = r.changeMembers(f)
	case "cut", "latency", "one-way", "blackhole":
		hits = r.breakNetwork(f)
	case "broker-restart", "broker-move":
		hits = r.disturbBroker(f)
	case "names-down":
		hits = r.stopNames(f)
	case "pause":
		hits = r.pauseHandlers(f)
	case "requests":
		hits = r.breakRequests(f)
	case "lose-lock":
		hits = r.loseLock(f)
	}
	r.rec.add(history.Event{Type: history.TypeFault, Kind: f.id, From: from.UnixNano(), To: time.Now().UnixNano(), Hits: hits})
}

// exclusively runs fn while no other fault strikes what key names, trying until then.
func (r *chaosRun) exclusively(choose func() (key string, ok bool), fn func(key string)) {
	for {
		r.turn <- struct{}{}
		key, ok := choose()
		if ok && !r.busy[key] {
			r.busy[key] = true
			<-r.turn
			fn(key)
			r.turn <- struct{}{}
			delete(r.busy, key)
			<-r.turn
			return
		}
		<-r.turn
		time.Sleep(500 * time.Millisecond)
	}
}

func (r *chaosRun) changeMembers(f chaosFault) (hits int64) {
	one := func() (string, bool) { return "members", true }
	r.exclusively(one, func(string) {
		if f.kind == "join" && len(r.members) < 5 || len(r.members) < 2 {
			r.join()
			if f.kind == "join" {
				hits = 1
				return
			}
		}
		m := r.members[f.dice%uint64(len(r.members))]
		switch f.kind {
		case "kill", "vanish":
			r.crash(m, f.kind == "vanish")
		default: // also where there is no room for another one
			_ = r.leave(m) // what it could not save is repeated; the checker judges
		}
		hits = 1
	})
	return hits
}

// struck chooses a broker's address or the host of a member that owns something.
func (r *chaosRun) struck(dice uint64) (key string, ok bool) {
	brokers := r.box.Brokers()
	if dice%3 == 0 {
		return brokers[dice/3%uint64(len(brokers))], true
	}
	var owners []string
	for _, m := range r.members {
		if len(m.consumer.Queues()) > 0 {
			owners = append(owners, m.host)
		}
	}
	if len(owners) == 0 {
		return "", false
	}
	return owners[dice/3%uint64(len(owners))], true
}

func (r *chaosRun) breakNetwork(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return r.struck(f.dice) }, func(key string) {
		where := key
		if addr := r.box.BrokerAddr(key); addr != "" {
			where = addr
		}
		faults := r.cluster.Net.Faults(where)
		written, read := r.tap.count(where)
		switch f.kind {
		case "cut":
			faults.Cut()
			time.Sleep(3 * time.Second) // what dials again has felt it
		case "latency":
			faults.Delay(0, 400*time.Millisecond)
			time.Sleep(f.length)
			faults.Delay(0, 0)
		case "one-way":
			faults.Blackhole([]faultnet.Direction{faultnet.ToServer, faultnet.ToClient}[f.dice>>32%2])
			time.Sleep(f.length)
			faults.Blackhole(0)
		case "blackhole":
			faults.Blackhole(faultnet.Both)
			time.Sleep(f.length)
			faults.Blackhole(0)
		}
		time.Sleep(time.Second) // what was held back arrives
		w, rd := r.tap.count(where)
		hits = w - written + rd - read
	})
	return hits
}

func (r *chaosRun) disturbBroker(f chaosFault) (hits int64) {
	brokers := r.box.Brokers()
	name := brokers[f.dice%uint64(len(brokers))]
	r.exclusively(func() (string, bool) { return name, true }, func(string) {
		addr := r.box.BrokerAddr(name)
		before := r.cluster.Net.Counters(addr)
		var err error
		if f.kind == "broker-move" {
			err = r.box.MoveBroker(name)
		} else if err = r.box.StopBroker(name); err == nil {
			time.Sleep(f.length)
			err = r.box.StartBroker(name)
		}
		if err != nil {
			r.t.Error(err)
		}
		after := r.cluster.Net.Counters(addr)
		hits = before.Open + after.Refused - before.Refused
	})
	return hits
}

func (r *chaosRun) stopNames(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return "names", true }, func(string) {
		addr := r.box.NameServers()[0]
		before := r.cluster.Net.Counters(addr)
		err := r.box.StopNameServer()
		time.Sleep(f.length)
		if err == nil {
			err = r.box.StartNameServer()
		}
		if err != nil {
			r.t.Error(err)
		}
		after := r.cluster.Net.Counters(addr)
		hits = before.Open + after.Refused - before.Refused
	})
	return hits
}

// pauseHandlers lets all handlers of the present members wait.
func (r *chaosRun) pauseHandlers(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return "pause", len(r.members) > 0 }, func(string) {
		r.turn <- struct{}{}
		members := append([]*chaosMember(nil), r.members...)
		<-r.turn
		until := time.Now().Add(f.length).UnixNano()
		for _, m := range members {
			m.pausedTo.Store(until)
		}
		time.Sleep(f.length + time.Second)
		for _, m := range members {
			hits += m.waited.Swap(0)
		}
	})
	return hits
}

func (r *chaosRun) breakRequests(f chaosFault) (hits int64) {
	text := chaosRequests[f.dice%uint64(len(chaosRequests))]
	fault, err := sandbox.ParseFault(text)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	before := r.box.Counts()
	remove := r.box.Inject(fault)
	time.Sleep(f.length)
	remove()
	after := r.box.Counts()
	for _, code := range fault.Codes {
		for c, n := range after {
			if code == c || code == sandbox.AllRequests {
				hits += n - before[c]
			}
		}
	}
	return hits
}

// loseLock takes the lock of a queue away from its holder and gives it to a stranger, or to nobody.
func (r *chaosRun) loseLock(f chaosFault) (hits int64) {
	to := []string{"", "stranger"}[f.dice>>32%2]
	r.exclusively(func() (string, bool) { return "locks", true }, func(string) {
		for range 120 {
			queues := r.box.Queues(r.topic)
			mq := queues[f.dice%uint64(len(queues))]
			if r.box.LockHolder(r.group, mq) != "" {
				if err := r.box.LoseLock(r.group, mq, to); err != nil {
					r.t.Error(err)
				}
				hits++
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	})
	return hits
}

