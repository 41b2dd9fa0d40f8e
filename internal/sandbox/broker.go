package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// broker is one broker process, a master or a replica: its data, which survives stops, and its server.
type broker struct {
	*data
	sandbox *Sandbox
	name    string // of the broker: a master and its replicas share it
	id      int64  // protocol.MasterID, or the number of a replica
	number  int
	master  *broker // of a replica, nil at a master

	listen string           // where to listen; guarded by Sandbox.lifecycle
	server *remoting.Server // nil while stopped; guarded by Sandbox.lifecycle

	// What follows belongs to run.
	up        bool
	host      netip.AddrPort // as advertised
	booted    time.Time
	consumers map[string]*consumerGroup
	producers map[string][]*member
	offsets   groupOffsets
	locks     map[string]lockTable // by group
	served    int64                // messages in pull answers, ever
	sync      *alarm               // a replica's next copy of its master's offsets
	replicas  []*broker            // of a master
}

// data is what a broker has stored. Replicas share it with their master, so they are never behind.
type data struct {
	topics    map[string]*topic
	groups    map[string]*protocol.SubscriptionGroupConfig
	log       commitLog
	keys      keyIndex
	stored    int64 // messages, ever
	delays    [maxDelayLevel + 1]delayLevel
	halves    map[int64]*openHalf // half messages without an outcome, by offset in the half queue
	halfAlarm *alarm
	turn      int // counts the questions to producers, who take turns
	ids       *protocol.UniqueIDs
	stampText string
	topicVer  dataVersion
	groupVer  dataVersion
}

func newBroker(s *Sandbox, name string, number int) *broker {
	b := &broker{
		data: &data{
			topics:    map[string]*topic{},
			groups:    map[string]*protocol.SubscriptionGroupConfig{},
			halves:    map[int64]*openHalf{},
			log:       commitLog{limit: max(1, s.opt.MaxMemory/int64(s.opt.Brokers))},
			ids:       protocol.NewUniqueIDs(netip.AddrFrom4([4]byte{127, 0, 0, 1}), os.Getpid(), rand.Uint32()),
			stampText: stampText(s.cluster),
		},
		sandbox: s, name: name, number: number,
	}
	b.init()
	b.createSystemTopics()
	b.createSystemGroups()
	for id := range int64(s.opt.Replicas) {
		r := &broker{data: b.data, sandbox: s, name: name, id: id + 1, number: number, master: b}
		r.init()
		b.replicas = append(b.replicas, r)
	}
	return b
}

// init makes what each process has of its own.
func (b *broker) init() {
	b.booted = b.sandbox.clock
	b.consumers = map[string]*consumerGroup{}
	b.producers = map[string][]*member{}
	b.locks = map[string]lockTable{}
	b.offsets = newGroupOffsets(b.booted, b.sandbox.opt.OffsetFlush)
}

// node is the name of one process: the broker's for a master, broker-a-1 for its first replica.
func (b *broker) node() string {
	if b.id == protocol.MasterID {
		return b.name
	}
	return b.name + "-" + strconv.FormatInt(b.id, 10)
}

// role is Java's BrokerRole.
func (b *broker) role() string {
	if b.id == protocol.MasterID {
		return "ASYNC_MASTER"
	}
	return "SLAVE"
}

// nodes is every master, each followed by its replicas. The lists never change, so this is safe everywhere.
func (s *Sandbox) nodes() (list []*broker) {
	for _, b := range s.brokers {
		list = append(append(list, b), b.replicas...)
	}
	return list
}

// broker finds a master or a replica by name.
func (s *Sandbox) broker(name string) (*broker, error) {
	for _, b := range s.nodes() {
		if b.node() == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoBroker, name)
}

// Brokers is the names of the brokers. Replicas are not among them: methods that take a broker know the first one of
// broker-a as broker-a-1.
func (s *Sandbox) Brokers() []string {
	names := make([]string, len(s.brokers))
	for i, b := range s.brokers {
		names[i] = b.name
	}
	return names
}

// BrokerAddr is the address that routes name for a broker, also while it is stopped; "" for an unknown name.
func (s *Sandbox) BrokerAddr(name string) string {
	b, err := s.broker(name)
	if err != nil {
		return ""
	}
	addr := ""
	s.do(func() { addr = b.host.String() })
	return addr
}

// StartBroker starts a stopped broker on its old address, with the data it had. It does nothing on a running one.
func (s *Sandbox) StartBroker(name string) error {
	b, err := s.broker(name)
	if err != nil {
		return err
	}
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	return s.startBroker(b)
}

func (s *Sandbox) startBroker(b *broker) error {
	if b.server != nil {
		return nil
	}
	server, err := s.serve(b.listen, b)
	if err != nil {
		return err
	}
	b.server, b.listen = server, server.Addr().String()
	s.do(func() { b.start(s.advertised(server.Addr())) })
	return nil
}

// start makes b visible to the name server and goes on with delayed messages.
func (b *broker) start(host netip.AddrPort) {
	b.up, b.host, b.booted = true, host, b.sandbox.now()
	if b.master != nil {
		b.armSync()
		return
	}
	for level := range b.delays {
		b.armDelay(level)
	}
	b.armHalves()
}

// StopBroker closes a broker's listener and connections, as if its process had ended after writing everything down: the
// name server notices at once, members, locks and resets that wait to be pulled are gone, data stays.
func (s *Sandbox) StopBroker(name string) error {
	b, err := s.broker(name)
	if err != nil {
		return err
	}
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	s.stopBroker(b, false)
	return nil
}

// KillBroker ends a broker without warning, as kill -9 does: what groups have committed since the offsets were written
// down last (see Options.OffsetFlush) is lost, with everything else that StopBroker loses. Messages stay.
func (s *Sandbox) KillBroker(name string) error {
	b, err := s.broker(name)
	if err != nil {
		return err
	}
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	s.stopBroker(b, true)
	return nil
}

func (s *Sandbox) stopBroker(b *broker, killed bool) {
	if b.server == nil {
		return
	}
	s.do(func() { b.up = false })
	b.server.Close()
	b.server = nil
	s.do(func() { b.stopped(killed) })
}

// stopped forgets what a process has in memory only.
func (b *broker) stopped(killed bool) {
	b.loseLocks()
	clear(b.offsets.resets)
	if killed {
		b.loseOffsets()
	}
	b.offsets.write(b.sandbox.now())
	b.sandbox.alarms.cancel(b.sync)
	b.sync = nil
}

// MoveBroker restarts a broker on another free port of the same host, with the data it had, and lets the name server know.
func (s *Sandbox) MoveBroker(name string) error {
	b, err := s.broker(name)
	if err != nil {
		return err
	}
	release, err := s.acquire()
	if err != nil {
		return err
	}
	defer release()
	s.stopBroker(b, false)
	host, _, err := net.SplitHostPort(b.listen)
	if err != nil {
		return fmt.Errorf("move broker %s: %w", name, err)
	}
	b.listen = net.JoinHostPort(host, "0")
	return s.startBroker(b)
}
