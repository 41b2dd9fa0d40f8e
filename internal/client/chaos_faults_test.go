package client_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"mqctl/internal/faultnet"
	"mqctl/internal/history"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
)

// chaosFault is one planned fault. What it strikes is chosen when it begins, by dice.
type chaosFault struct {
	id     string // kind and number
	kind   string
	at     time.Duration // after the start
	length time.Duration
	dice   uint64
	text   string // of a fault of requests
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
	"commit:p=0.5,drop", "commit:p=0.5,lose", "commit:error=1", "send:p=0.3,lose",
	"send:p=0.3,error=2", "pull:p=0.3,error=1", "pull:p=0.3,lose", "members:p=0.7,error=1", "heartbeat:p=0.7,error=1",
	"query-offset:p=0.7,error=1", "pull:p=0.3,delay=2s", "*:p=0.05,close",
}

// chaosSendBacks are more of them in concurrent mode, and chaosLocks in orderly mode.
var chaosSendBacks = []string{"send-back:p=0.5,error=1", "send-back:p=0.5,lose"}

var chaosLocks = []string{"lock:p=0.7,error=1", "lock:p=0.5,lose", "unlock:lose", "unlock:drop"}

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
		if f.kind == "requests" {
			texts := slices.Concat(chaosRequests, chaosSendBacks)
			if orderly {
				texts = slices.Concat(chaosRequests, chaosLocks)
			}
			f.text = texts[f.dice%uint64(len(texts))]
			f.id += " " + f.text
		}
		p.faults = append(p.faults, f)
	}
	return p
}

// play lets a fault happen and records its beginning and its end.
func (r *chaosRun) play(f chaosFault) {
	from := time.Now()
	r.rec.add(history.Event{Type: history.TypeFault, Kind: f.id, From: from.UnixNano()})
	hits := map[string]func(chaosFault) int64{
		"join": r.changeMembers, "leave": r.changeMembers, "kill": r.changeMembers, "vanish": r.changeMembers,
		"cut": r.breakNetwork, "latency": r.breakNetwork, "one-way": r.breakNetwork, "blackhole": r.breakNetwork,
		"broker-restart": r.disturbBroker, "broker-move": r.disturbBroker, "names-down": r.stopNames,
		"pause": r.pauseHandlers, "requests": r.breakRequests, "lose-lock": r.loseLock,
	}[f.kind](f)
	r.rec.add(history.Event{Type: history.TypeFault, Kind: f.id, From: from.UnixNano(), To: time.Now().UnixNano(), Hits: hits})
}

// exclusively runs fn while no other fault strikes what choose has named; choose is asked until that is free. A fault that
// finds nothing to strike for minutes is given up, and the run fails for it.
func (r *chaosRun) exclusively(choose func() (key string, ok bool), fn func(key string)) {
	for range 600 {
		key, ok := "", false
		r.guarded(func() {
			if key, ok = choose(); ok {
				ok = !r.busy[key]
				r.busy[key] = true
			}
		})
		if ok {
			fn(key)
			r.guarded(func() { delete(r.busy, key) })
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// lasting waits for d, and for longer while felt says that nothing has felt the fault yet.
func (r *chaosRun) lasting(d time.Duration, felt func() int64) int64 {
	time.Sleep(d)
	for range 120 {
		if felt() > 0 {
			break
		}
		time.Sleep(500 * time.Millisecond)
	}
	return felt()
}

// changeMembers lets a member come or go. At least one stays; where there are many, one goes instead of another coming.
func (r *chaosRun) changeMembers(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return "members", true }, func(string) {
		kind := f.kind
		present := len(r.present())
		if kind == "join" && present >= 5 {
			kind = "leave"
		}
		if kind == "join" || present < 2 {
			r.join()
			hits++
		}
		if kind == "join" {
			return
		}
		owner := func() (string, bool) { // preferably: who has nothing gives nothing up
			if host, ok := r.anyMember(f.dice, true); ok {
				return host, true
			}
			return r.anyMember(f.dice, false)
		}
		r.exclusively(owner, func(host string) {
			m := r.at(host)
			if kind == "leave" {
				_ = r.leave(m) // what it could not save is repeated; the checker judges
			} else {
				r.crash(m, kind == "vanish")
			}
			hits++
		})
	})
	return hits
}

// anyMember is the host of a member that no fault strikes, of one that owns something if owner is set. The caller has the
// turn.
func (r *chaosRun) anyMember(dice uint64, owner bool) (host string, ok bool) {
	var free []string
	for _, m := range r.members {
		if !r.busy[m.host] && (!owner || len(m.consumer.Queues()) > 0) {
			free = append(free, m.host)
		}
	}
	if len(free) == 0 {
		return "", false
	}
	return free[dice/3%uint64(len(free))], true
}

func (r *chaosRun) at(host string) *chaosMember {
	for _, m := range r.present() {
		if m.host == host {
			return m
		}
	}
	return nil
}

// struck chooses a broker's name or the host of a member that owns something.
func (r *chaosRun) struck(dice uint64) (key string, ok bool) {
	brokers := r.box.Brokers()
	if dice%3 == 0 {
		return brokers[dice/3%uint64(len(brokers))], true
	}
	return r.anyMember(dice, true)
}

func (r *chaosRun) breakNetwork(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return r.struck(f.dice) }, func(key string) {
		where := key
		if addr := r.box.BrokerAddr(key); addr != "" {
			where = addr
		}
		faults := r.cluster.Net.Faults(where)
		written, read := r.tap.count(where)
		felt := func() int64 {
			w, rd := r.tap.count(where)
			return w - written + rd - read
		}
		switch f.kind {
		case "cut":
			faults.Cut()
			hits = r.lasting(2*time.Second, felt) // whoever dials again has felt it
		case "latency":
			faults.Delay(0, 400*time.Millisecond)
			hits = r.lasting(f.length, felt)
			faults.Delay(0, 0)
		case "one-way", "blackhole":
			direction := faultnet.Both
			if f.kind == "one-way" {
				direction = []faultnet.Direction{faultnet.ToServer, faultnet.ToClient}[f.dice>>32%2]
			}
			faults.Blackhole(direction)
			time.Sleep(f.length)
			faults.Blackhole(0)
			hits = r.lasting(time.Second, felt) // what was held back arrives
		}
	})
	return hits
}

func (r *chaosRun) disturbBroker(f chaosFault) (hits int64) {
	brokers := r.box.Brokers()
	name := brokers[f.dice%uint64(len(brokers))]
	r.exclusively(func() (string, bool) { return name, true }, func(string) {
		addr := r.box.BrokerAddr(name)
		before := r.cluster.Net.Counters(addr)
		hits = r.lasting(0, func() int64 { return r.cluster.Net.Counters(addr).Open })
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
		hits += r.cluster.Net.Counters(addr).Refused - before.Refused
	})
	return hits
}

func (r *chaosRun) stopNames(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return "names", true }, func(string) {
		addr := r.box.NameServers()[0]
		before := r.cluster.Net.Counters(addr)
		err := r.box.StopNameServer()
		hits = r.lasting(f.length, func() int64 { return before.Open + r.cluster.Net.Counters(addr).Refused - before.Refused })
		if err == nil {
			err = r.box.StartNameServer()
		}
		if err != nil {
			r.t.Error(err)
		}
	})
	return hits
}

// pauseHandlers lets all handlers of the present members wait.
func (r *chaosRun) pauseHandlers(f chaosFault) (hits int64) {
	r.exclusively(func() (string, bool) { return "pause", true }, func(string) {
		for try := 0; hits == 0 && try < 10; try++ {
			members := r.present()
			until := time.Now().Add(f.length).UnixNano()
			for _, m := range members {
				m.pausedTo.Store(until)
			}
			time.Sleep(f.length + time.Second)
			for _, m := range members {
				hits += m.waited.Swap(0)
			}
		}
	})
	return hits
}

func (r *chaosRun) breakRequests(f chaosFault) int64 {
	fault, err := sandbox.ParseFault(f.text)
	if err != nil {
		r.t.Error(err)
		return 0
	}
	before := r.box.Counts()
	felt := func() (hits int64) {
		for code, n := range r.box.Counts() {
			if slices.Contains(fault.Codes, code) || fault.Codes[0] == sandbox.AllRequests {
				hits += n - before[code]
			}
		}
		return hits
	}
	remove := r.box.Inject(fault)
	defer remove()
	for try := range uint64(6) {
		if try > 0 && felt() > 0 || !r.needsChange(fault) {
			break
		}
		r.changeMembers(chaosFault{kind: []string{"join", "leave"}[(f.dice>>32+try)%2], dice: f.dice})
		time.Sleep(2 * time.Second)
	}
	return r.lasting(f.length, felt)
}

// needsChange: some requests are only made when members come and go.
func (r *chaosRun) needsChange(f sandbox.Fault) bool {
	return slices.ContainsFunc(f.Codes, func(c protocol.RequestCode) bool {
		switch c {
		case protocol.UpdateConsumerOffset, protocol.QueryConsumerOffset, protocol.GetConsumerListByGroup, protocol.LockBatchMQ, protocol.UnlockBatchMQ:
			return true
		}
		return false
	})
}

// loseLock takes the lock of a queue away from its holder and gives it to a stranger, or to nobody.
func (r *chaosRun) loseLock(f chaosFault) (hits int64) {
	to := []string{"", "stranger"}[f.dice>>32%2]
	r.exclusively(func() (string, bool) { return "locks", true }, func(string) {
		held := func() (list []protocol.MessageQueue) {
			for _, mq := range r.box.Queues(r.topic) {
				if r.box.LockHolder(r.group, mq) != "" {
					list = append(list, mq)
				}
			}
			return list
		}
		r.lasting(0, func() int64 { return int64(len(held())) })
		queues := held()
		if len(queues) == 0 {
			return
		}
		if err := r.box.LoseLock(r.group, queues[f.dice%uint64(len(queues))], to); err != nil {
			r.t.Error(err)
		}
		hits++
	})
	return hits
}
