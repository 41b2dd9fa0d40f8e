// Package testcluster gives tests a RocketMQ cluster without telling them which: the sandbox, or a real one named by
// MQCTL_TEST_NAMESRV. It is imported from test files and nothing else.
package testcluster

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/faultnet"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
)

// Capability is something that not every target has.
type Capability string

// The capabilities that tests ask for with Require.
const (
	Faults  Capability = "faults"  // answers can be delayed, dropped and changed; state can be set: the sandbox
	Real    Capability = "real"    // an unmodified RocketMQ
	Brokers Capability = "brokers" // at least two brokers
)

// EnvNameServers names a real cluster to test against.
const EnvNameServers = "MQCTL_TEST_NAMESRV"

// Cluster is a running cluster that ends with its test.
type Cluster struct {
	NameServers []string
	// Net is the virtual network of Virtual clusters, nil otherwise.
	Net *faultnet.Network

	t       testing.TB
	sandbox *sandbox.Sandbox // nil: a real cluster
	admin   *client.Client   // made on first use
}

// New is the target of the suite: the real cluster when one is named, the sandbox otherwise.
func New(t testing.TB) *Cluster {
	t.Helper()
	if ns := os.Getenv(EnvNameServers); ns != "" {
		addrs, err := client.ParseNameServers(ns)
		if err != nil {
			t.Fatalf("%s: %v", EnvNameServers, err)
		}
		return &Cluster{NameServers: addrs, t: t}
	}
	return NewSandbox(t, sandbox.Options{}, false)
}

// NewSandbox is a sandbox whatever the environment says; virtual puts it on an in-memory network.
func NewSandbox(t testing.TB, o sandbox.Options, virtual bool) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	if virtual {
		c.Net = faultnet.New()
		o.ListenFunc = c.Net.Listen
	}
	if o.Logger == nil {
		o.Logger = Logger(t)
	}
	s, err := sandbox.New(o)
	if err != nil {
		t.Fatalf("sandbox: %v", err)
	}
	t.Cleanup(s.Close)
	c.sandbox, c.NameServers = s, s.NameServers()
	return c
}

// Virtual is a sandbox on an in-memory network, with default options but the number of brokers.
func Virtual(t testing.TB, brokers int) *Cluster {
	t.Helper()
	return NewSandbox(t, sandbox.Options{Brokers: brokers}, true)
}

// IsReal reports whether the target is a real cluster.
func (c *Cluster) IsReal() bool { return c.sandbox == nil }

// Require skips the test with the reason when the target lacks a capability.
func (c *Cluster) Require(caps ...Capability) {
	c.t.Helper()
	for _, want := range caps {
		has := false
		switch want {
		case Faults:
			has = !c.IsReal()
		case Real:
			has = c.IsReal()
		case Brokers:
			has = c.brokerCount() > 1
		}
		if !has {
			c.t.Skipf("requires %s: this target has none", want)
		}
	}
}

func (c *Cluster) brokerCount() int {
	if c.sandbox != nil {
		return len(c.sandbox.Brokers())
	}
	r, err := c.Admin().FetchRoute(c.t.Context(), protocol.AutoCreateTopic)
	if err != nil {
		c.t.Fatalf("brokers of the real cluster: %v", err)
	}
	return len(r.Brokers)
}

// Sandbox is the sandbox behind the cluster; it skips the test on a real one.
func (c *Cluster) Sandbox() *sandbox.Sandbox {
	c.t.Helper()
	c.Require(Faults)
	return c.sandbox
}

// Dial opens connections to the cluster.
func (c *Cluster) Dial(ctx context.Context, addr string) (net.Conn, error) {
	if c.Net != nil {
		return c.Net.Dial(ctx, addr)
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// Config is a client configuration for the cluster.
func (c *Cluster) Config() client.Config {
	return client.Config{NameServers: c.NameServers, Dial: c.Dial, Logger: Logger(c.t)}
}

// Client is a started client that is closed with the test.
func (c *Cluster) Client(edit ...func(*client.Config)) *client.Client {
	c.t.Helper()
	cfg := c.Config()
	for _, f := range edit {
		f(&cfg)
	}
	cl, err := client.New(cfg)
	if err != nil {
		c.t.Fatalf("client: %v", err)
	}
	if err := cl.Start(context.WithoutCancel(c.t.Context())); err != nil {
		c.t.Fatalf("client: %v", err)
	}
	c.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(c.t.Context()), 30*time.Second)
		defer cancel()
		_ = cl.Close(ctx) // tests that care about how a client closes do it themselves
	})
	return cl
}

// Admin is a client for the test's own questions.
func (c *Cluster) Admin() *client.Client {
	if c.admin == nil {
		c.admin = c.Client()
	}
	return c.admin
}

var serial atomic.Int64

// Name is a topic or group name that no other test uses, on any target.
func (c *Cluster) Name(kind string) string {
	test := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, c.t.Name())
	if len(test) > 60 {
		test = test[len(test)-60:]
	}
	return fmt.Sprintf("%s_%s_%x_%d", kind, test, uint32(time.Now().UnixNano()), serial.Add(1))
}

// Topic creates a topic with queues on every broker and returns its name once it has a route.
func (c *Cluster) Topic(queues int) string {
	c.t.Helper()
	name := c.Name("t")
	c.CreateTopic(name, queues)
	return name
}

// CreateTopic creates a topic with queues on every broker and waits for its route.
func (c *Cluster) CreateTopic(name string, queues int) {
	c.t.Helper()
	if c.sandbox != nil {
		if err := c.sandbox.CreateTopic(sandbox.TopicSpec{Name: name, Queues: queues}); err != nil {
			c.t.Fatalf("topic %s: %v", name, err)
		}
		return
	}
	ctx, a := c.t.Context(), c.Admin()
	r, err := a.FetchRoute(ctx, protocol.AutoCreateTopic)
	if err != nil {
		c.t.Fatalf("topic %s: %v", name, err)
	}
	for broker := range r.Brokers {
		addr, err := a.BrokerAddr(broker)
		if err != nil {
			c.t.Fatalf("topic %s: %v", name, err)
		}
		req := &protocol.UpdateAndCreateTopicRequest{
			Topic: name, DefaultTopic: protocol.AutoCreateTopic, ReadQueueNums: int32(queues), WriteQueueNums: int32(queues),
			Perm: protocol.PermRead | protocol.PermWrite, TopicFilterType: "SINGLE_TAG",
		}
		if _, err := a.CallHeader(ctx, addr, req, nil, nil); err != nil {
			c.t.Fatalf("topic %s: %v", name, err)
		}
	}
	Eventually(c.t, 30*time.Second, "route of "+name, func() bool {
		got, err := a.FetchRoute(ctx, name)
		return err == nil && len(got.Brokers) == len(r.Brokers)
	})
}

// Group is a group name that no other test uses; brokers create it on first use.
func (c *Cluster) Group() string { return c.Name("g") }

// Eventually waits until ok, looking every 20 ms; it fails the test after limit. In a bubble the time is virtual.
func Eventually(t testing.TB, limit time.Duration, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(limit)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("after %s still no: %s", limit, what)
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatalf("the test ended before: %s", what)
		}
	}
}

// Logger writes to the test's log when MQCTL_TEST_LOG is set (debug, info, warn, error), and nowhere otherwise.
func Logger(t testing.TB) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(cmp.Or(os.Getenv("MQCTL_TEST_LOG"), "none"))); err != nil {
		return slog.New(slog.DiscardHandler)
	}
	return slog.New(slog.NewTextHandler(testWriter{t}, &slog.HandlerOptions{Level: level}))
}

type testWriter struct{ t testing.TB }

func (w testWriter) Write(p []byte) (int, error) {
	w.t.Log(strings.TrimRight(string(p), "\n"))
	return len(p), nil
}

// TwoBrokers is a sandbox with two brokers over TCP.
func TwoBrokers(t testing.TB) *Cluster {
	t.Helper()
	return NewSandbox(t, sandbox.Options{Brokers: 2}, false)
}
