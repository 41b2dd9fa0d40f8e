package sandbox

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"

	"mqctl/internal/protocol"
)

// ErrOptions is wrapped by New with what is wrong with its options.
var ErrOptions = errors.New("sandbox options")

// ErrNotLoopback is wrapped when the sandbox is asked to listen where other machines could reach it.
var ErrNotLoopback = errors.New("not a loopback address")

// ErrClosed is returned by what needs a running sandbox after Close.
var ErrClosed = errors.New("the sandbox is closed")

// ErrNoBroker is wrapped when no broker has the given name.
var ErrNoBroker = errors.New("no such broker")

// ErrNoQueue is wrapped when a message queue does not exist.
var ErrNoQueue = errors.New("no such queue")

const (
	defaultCluster   = "DefaultCluster"
	defaultQueues    = 8
	defaultMaxMemory = 1 << 30
	// maxQueues bounds the queues of one topic: they are enumerated in answers.
	maxQueues     = 16384
	maxBrokers    = 64
	maxReplicas   = 8 // the ports of brokers are ten apart
	maxGroups     = 100_000
	maxLocks      = 100_000 // of one group
	lockLife      = 60 * time.Second
	clientSilence = 120 * time.Second
)

// TopicSpec is a topic to create at the start, on every broker.
type TopicSpec struct {
	Name   string
	Queues int // per broker; default 8
}

// Options describes a sandbox. The zero value is a name server and one broker on free ports of 127.0.0.1.
type Options struct {
	// Listen is the name server's address. Default "127.0.0.1:0"; ":9876" means 127.0.0.1:9876.
	Listen string
	// BrokerListen is the first broker's address; the following ones listen ten ports higher each, as local clusters
	// usually do, and replicas on the ports behind their broker's. Default "127.0.0.1:0", a free port for each.
	BrokerListen string
	// AllowRemote permits addresses that other machines can reach. Default false: they are refused.
	AllowRemote bool
	// Advertise is the IP address that routes name. Default: the one the brokers listen on.
	Advertise string
	// Brokers is how many brokers there are, named broker-a, broker-b, …. Default 1, at most 64.
	Brokers int
	// Cluster is the name of the brokers' cluster. Default "DefaultCluster".
	Cluster string
	// Topics exist from the start.
	Topics []TopicSpec
	// NoAutoCreateTopics turns automatic topic creation off (autoCreateTopicEnable=false): TBW102 has no route, and sends to
	// unknown topics are refused.
	NoAutoCreateTopics bool
	// NoAutoCreateGroups turns automatic creation of groups off (autoCreateSubscriptionGroup=false).
	NoAutoCreateGroups bool
	// NoPropertyFilter turns filters by SQL92 off (enablePropertyFilter=false, a real broker's default).
	NoPropertyFilter bool
	// MaxMessageSize bounds a message's body in bytes. Default 4 MiB.
	MaxMessageSize int
	// MaxMemory bounds the stored messages of all brokers in bytes: beyond it the oldest are dropped and minimum offsets
	// rise. Default 1 GiB.
	MaxMemory int64
	// MaxConns bounds the connections of each listener. Default 1024.
	MaxConns int
	// MaxTopics bounds the topics of each broker, those that brokers have of themselves included. Default 10,000.
	MaxTopics int
	// HoldCheck is how often parked pulls are looked at for the end of their time, and for messages that have arrived but
	// that their filters do not take, which ends them too. Default 0: they end when their time does. A real broker looks
	// every 5 s, so a pull of 1.5 s may take 5, and one of 20 s as well.
	HoldCheck time.Duration
	// TransactionCheck is how often half messages without an outcome are looked at. Default 30 s, as on a real broker.
	TransactionCheck time.Duration
	// Replicas is how many replicas each broker has; they serve reads. Default 0, at most 8.
	Replicas int
	// NoServerSideReset has brokers push a reset of offsets to the members of a group (useServerSideResetOffset=false)
	// instead of keeping it until they pull. Brokers before 5.2.0 know nothing else.
	NoServerSideReset bool
	// OffsetFlush is how often a broker writes the offsets of groups to its disk: KillBroker loses those that came later.
	// Default 5 s, as on a real broker.
	OffsetFlush time.Duration
	// Version is the release to be, as an ordinal of MQVersion: it stands in every answer, and requests and response
	// codes of later releases do not exist. Default 5.5.0.
	Version int32
	// ListenFunc opens listeners. Default: TCP.
	ListenFunc func(addr string) (net.Listener, error)
	// Seed makes faults with a probability repeat themselves. Default 1.
	Seed uint64
	// Logger gets what goes wrong inside. Default: nothing is logged.
	Logger *slog.Logger
}

// withDefaults fills in defaults and refuses what cannot be.
func (o Options) withDefaults() (Options, error) {
	var err error
	if o.Listen, err = o.address(o.Listen); err != nil {
		return o, err
	}
	if o.BrokerListen, err = o.address(o.BrokerListen); err != nil {
		return o, err
	}
	o.Brokers = orDefault(o.Brokers, 1)
	o.Cluster = orDefault(o.Cluster, defaultCluster)
	o.MaxMessageSize = orDefault(o.MaxMessageSize, 4<<20)
	o.MaxMemory = orDefault(o.MaxMemory, defaultMaxMemory)
	o.MaxConns = orDefault(o.MaxConns, 1024)
	o.MaxTopics = orDefault(o.MaxTopics, 10_000)
	o.OffsetFlush = orDefault(o.OffsetFlush, 5*time.Second)
	o.TransactionCheck = orDefault(o.TransactionCheck, 30*time.Second)
	o.Version = orDefault(o.Version, protocol.CurrentVersion)
	o.Seed = orDefault(o.Seed, 1)
	o.Logger = orDefault(o.Logger, slog.New(slog.DiscardHandler))
	if o.ListenFunc == nil {
		o.ListenFunc = func(addr string) (net.Listener, error) { return net.Listen("tcp", addr) }
	}
	switch {
	case o.Brokers < 1 || o.Brokers > maxBrokers:
		return o, fmt.Errorf("%w: %d brokers, want 1 to %d", ErrOptions, o.Brokers, maxBrokers)
	case o.Replicas < 0 || o.Replicas > maxReplicas:
		return o, fmt.Errorf("%w: %d replicas, want 0 to %d", ErrOptions, o.Replicas, maxReplicas)
	case o.MaxMessageSize < 1 || o.MaxMemory < 1 || o.MaxConns < 1 || o.MaxTopics < 1 || o.HoldCheck < 0 || o.TransactionCheck < 0 || o.OffsetFlush < 0:
		return o, fmt.Errorf("%w: a limit is negative", ErrOptions)
	case o.MaxMessageSize > protocol.DefaultMaxFrame/2:
		return o, fmt.Errorf("%w: messages of %d bytes do not fit into a frame with their headers, at most %d",
			ErrOptions, o.MaxMessageSize, protocol.DefaultMaxFrame/2)
	}
	for _, t := range o.Topics {
		if remark := badTopicName(t.Name); remark != "" {
			return o, fmt.Errorf("%w: topic %q: %s", ErrOptions, t.Name, remark)
		}
		if t.Queues < 0 || t.Queues > maxQueues {
			return o, fmt.Errorf("%w: topic %s: %d queues, want 1 to %d", ErrOptions, t.Name, t.Queues, maxQueues)
		}
	}
	return o, nil
}

func orDefault[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

// address fills in the loopback address and refuses others: a sandbox has no access control.
func (o *Options) address(addr string) (string, error) {
	if addr == "" {
		return "127.0.0.1:0", nil
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("%w: address %q: %w", ErrOptions, addr, err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) && !o.AllowRemote {
		return "", fmt.Errorf("%w: address %q: %w; anyone who reaches it can read and change everything", ErrOptions, addr, ErrNotLoopback)
	}
	return net.JoinHostPort(host, port), nil
}
