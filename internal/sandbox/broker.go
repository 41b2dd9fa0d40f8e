package sandbox

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// broker is one broker: its data, which survives stops, and its server.
type broker struct {
	sandbox *Sandbox
	name    string
	number  int

	listen string           // where to listen; guarded by Sandbox.lifecycle
	server *remoting.Server // nil while stopped; guarded by Sandbox.lifecycle

	// What follows belongs to run.
	up        bool
	host      netip.AddrPort // as advertised
	booted    time.Time
	topics    map[string]*topic
	groups    map[string]*protocol.SubscriptionGroupConfig
	consumers map[string]*consumerGroup
	producers map[string][]*member
	offsets   map[offsetKey]map[int32]int64
	pulled    map[offsetKey]map[int32]int64 // next offset of each group's latest pull, GET_CONSUME_STATS's pullOffset
	locks     map[string]lockTable          // by group
	log       commitLog
	keys      keyIndex
	stored    int64 // messages, ever
	served    int64 // messages in pull answers, ever
	delays    [maxDelayLevel + 1]delayLevel
	halves    map[int64]*openHalf // half messages without an outcome, by offset in the half queue
	halfAlarm *alarm
	turn      int // counts the questions to producers, who take turns
	ids       *protocol.UniqueIDs
	stampText string
	topicVer  dataVersion
	groupVer  dataVersion
	offsetVer dataVersion
}

func newBroker(s *Sandbox, name string, number int) *broker {
	b := &broker{
		sandbox:   s,
		name:      name,
		number:    number,
		booted:    s.clock,
		topics:    map[string]*topic{},
		groups:    map[string]*protocol.SubscriptionGroupConfig{},
		consumers: map[string]*consumerGroup{},
		producers: map[string][]*member{},
		offsets:   map[offsetKey]map[int32]int64{},
		pulled:    map[offsetKey]map[int32]int64{},
		locks:     map[string]lockTable{},
		halves:    map[int64]*openHalf{},
		log:       commitLog{limit: max(1, s.opt.MaxMemory/int64(s.opt.Brokers))},
		ids:       protocol.NewUniqueIDs(netip.AddrFrom4([4]byte{127, 0, 0, 1}), os.Getpid(), rand.Uint32()),
		stampText: stampText(s.cluster),
	}
	b.createSystemTopics()
	b.createSystemGroups()
	return b
}

// broker finds a broker by name. The list itself never changes, so this is safe everywhere.
func (s *Sandbox) broker(name string) (*broker, error) {
	for _, b := range s.brokers {
		if b.name == name {
			return b, nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoBroker, name)
}

// Brokers is the names of the brokers.
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
	for level := range b.delays {
		b.armDelay(level)
	}
	b.armHalves()
}

// StopBroker closes a broker's listener and connections, as if its process had ended after writing everything down: the
// name server notices at once, members are gone, data stays.
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
	s.stopBroker(b)
	return nil
}

func (s *Sandbox) stopBroker(b *broker) {
	if b.server == nil {
		return
	}
	s.do(func() { b.up = false })
	b.server.Close()
	b.server = nil
	s.do(b.loseLocks)
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
	s.stopBroker(b)
	host, _, err := net.SplitHostPort(b.listen)
	if err != nil {
		return fmt.Errorf("move broker %s: %w", name, err)
	}
	b.listen = net.JoinHostPort(host, "0")
	return s.startBroker(b)
}
