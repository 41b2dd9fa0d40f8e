package client

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

// Config configures a Client, Java's ClientConfig. The zero value of every field but NameServers is its default.
//
// The `x` tags name the settings that `-X key=value` reaches, with their range and meaning.
type Config struct {
	// NameServers lists host:port addresses; see ParseNameServers. Required.
	NameServers []string
	// ClientID names this instance in its groups. It must be unique in the cluster: two members with one id break
	// rebalancing. Default: local address, process id and a random part.
	ClientID string
	// InstanceName is the part of a broadcasting member's local offset path that tells several members on one machine
	// apart. Default: DEFAULT, as in Java.
	InstanceName string
	// Dial opens connections. Default: TCP.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
	// Logger receives what the engine has to say. Default: discards it.
	Logger *slog.Logger
	// Wire records every frame. Default: none.
	Wire *remoting.WireLog
	// Prepare sees every request before it is encoded, to sign it. Default: none.
	Prepare func(addr string, cmd *protocol.Command) error

	// MaxFrame bounds a frame in bytes. Default: 16 MiB, as in Java.
	MaxFrame int `x:"max-frame" unit:"bytes" range:"1024..1073741824" help:"largest frame accepted from a peer"`
	// CallTimeout bounds a request that has no limit of its own. Default: 3 s, Java's mqClientApiTimeout.
	CallTimeout time.Duration `x:"call-timeout" range:"10ms..5m" help:"time limit of one request"`
	// DialTimeout bounds the opening of a connection. Default: 3 s.
	DialTimeout time.Duration `x:"dial-timeout" range:"10ms..5m" help:"time limit for opening a connection"`
	// RouteInterval is how often routes are asked again. Default: 30 s, Java's pollNameServerInterval.
	RouteInterval time.Duration `x:"route-interval" range:"100ms..1h" help:"how often topic routes are refreshed"`
	// HeartbeatInterval is how often brokers hear from this client. Default: 30 s, Java's heartbeatBrokerInterval.
	HeartbeatInterval time.Duration `x:"heartbeat-interval" range:"100ms..100s" help:"how often brokers are sent a heartbeat; they forget a client after 120s"`
	// PersistInterval is how often offsets are saved that have moved. Default: 1 s; 5 s in Java's
	// persistConsumerOffsetInterval, which commits with each pull as well.
	PersistInterval time.Duration `x:"persist-interval" range:"100ms..10m" help:"how often consumed offsets are saved"`
	// RebalanceInterval is how often queues are divided anew without a reason. Default: 20 s.
	RebalanceInterval time.Duration `x:"rebalance-interval" range:"100ms..10m" help:"how often queues are divided among the members without a reason"`
}

// withDefaults is c with every zero field set to its default.
func (c Config) withDefaults() Config {
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	orDefault(&c.InstanceName, "DEFAULT")
	orDefault(&c.MaxFrame, protocol.DefaultMaxFrame)
	orDefault(&c.CallTimeout, 3*time.Second)
	orDefault(&c.DialTimeout, 3*time.Second)
	orDefault(&c.RouteInterval, 30*time.Second)
	orDefault(&c.HeartbeatInterval, 30*time.Second)
	orDefault(&c.PersistInterval, time.Second)
	orDefault(&c.RebalanceInterval, 20*time.Second)
	return c
}

// Validate joins everything that is wrong with c.
func (c Config) Validate() error {
	var errs []error
	if len(c.NameServers) == 0 {
		errs = append(errs, ErrNoNameServer)
	}
	if strings.ContainsAny(c.ClientID, " \t\r\n\x00") {
		errs = append(errs, fmt.Errorf("client id %q contains blanks or control characters", c.ClientID))
	}
	if strings.ContainsAny(c.InstanceName, `/\`) {
		errs = append(errs, fmt.Errorf("instance name %q contains a path separator", c.InstanceName))
	}
	for name, d := range map[string]time.Duration{
		"CallTimeout": c.CallTimeout, "DialTimeout": c.DialTimeout, "RouteInterval": c.RouteInterval,
		"HeartbeatInterval": c.HeartbeatInterval, "PersistInterval": c.PersistInterval, "RebalanceInterval": c.RebalanceInterval,
	} {
		if d < 0 {
			errs = append(errs, fmt.Errorf("%s is negative", name))
		}
	}
	return errors.Join(errs...)
}

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

func orDefault[T comparable](v *T, def T) {
	var zero T
	if *v == zero {
		*v = def
	}
}

// ParseNameServers splits a list of name server addresses at `;` and `,`, trims blanks and checks every item, so that a
// typing error is reported before anything is dialled. Names are resolved when they are dialled. An http:// or https://
// prefix is refused: an address list behind HTTP is a different thing.
func ParseNameServers(list string) ([]string, error) {
	var addrs []string
	for _, item := range strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' }) {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if err := checkAddress(item); err != nil {
			return nil, err
		}
		addrs = append(addrs, item)
	}
	if len(addrs) == 0 {
		return nil, fmt.Errorf("name server list %q holds no address: want host:port[;host:port…]", list)
	}
	return addrs, nil
}

func checkAddress(item string) error {
	if scheme, _, ok := strings.Cut(item, "://"); ok {
		return fmt.Errorf("name server %q: a plain host:port is wanted, without %s://", item, scheme)
	}
	host, port, err := net.SplitHostPort(item)
	if err != nil || host == "" {
		return fmt.Errorf("name server %q: want host:port, for example localhost:9876", item)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
		return fmt.Errorf("name server %q: port %q is not between 1 and 65535", item, port)
	}
	if strings.ContainsAny(host, " \t\"'") {
		return fmt.Errorf("name server %q: blanks or quotes in the host name", item)
	}
	return nil
}

// The longest names that brokers accept.
const (
	maxTopicLength = 127
	maxGroupLength = 120 // Java clients up to 5.3 allow 255, but a 5.5 broker does not
)

// namePattern is what topics and groups may contain, Java's TopicValidator.
var namePattern = regexp.MustCompile(`^[%|a-zA-Z0-9_-]+$`)

// ValidateTopic checks a topic name as brokers do.
func ValidateTopic(topic string) error { return validateName("topic", topic, maxTopicLength) }

// ValidateGroup checks a group name as brokers do.
func ValidateGroup(group string) error { return validateName("group", group, maxGroupLength) }

func validateName(kind, name string, limit int) error {
	switch {
	case name == "":
		return fmt.Errorf("%w: the %s name is empty", ErrInvalidName, kind)
	case strings.HasPrefix(name, protocol.RetryTopicPrefix) || strings.HasPrefix(name, protocol.DLQTopicPrefix):
		limit = 255
	}
	if len(name) > limit {
		return fmt.Errorf("%w: the %s name has %d characters, the limit is %d", ErrInvalidName, kind, len(name), limit)
	}
	if !namePattern.MatchString(name) {
		return fmt.Errorf("%w: %s %q: allowed are letters, digits and %% | _ -", ErrInvalidName, kind, name)
	}
	return nil
}
