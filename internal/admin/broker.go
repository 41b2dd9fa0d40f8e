package admin

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// broker is one broker during one step of a question. It remembers that it did not answer, so that the step's other
// requests to it do not wait in vain as well.
type broker struct {
	name    string
	replica int64  // which of its replicas is asked
	addr    string // "" when no address is known
	down    atomic.Pointer[error]
}

// reader is the broker to read from: its master or, while that is away, the replica with the smallest id.
func reader(name string, replicas map[int64]string) *broker {
	if len(replicas) == 0 {
		return &broker{name: name}
	}
	id := slices.Min(slices.Collect(maps.Keys(replicas))) // the master's id is the smallest
	return &broker{name: name, replica: id, addr: replicas[id]}
}

// note says that the answers come from a replica, "" when they come from the master.
func (b *broker) note() string {
	if b.replica == protocol.MasterID {
		return ""
	}
	return fmt.Sprintf("as replica %d knows it: the master is away", b.replica)
}

// ask sends one request to b. An answer with another code than success is an error together with the answer.
func (a *Admin) ask(ctx context.Context, b *broker, req protocol.RequestHeader, body []byte, out any) (*protocol.Command, error) {
	return a.send(ctx, b, protocol.NewRequest(req, body), out)
}

// askPlain is ask for a request without header fields.
func (a *Admin) askPlain(ctx context.Context, b *broker, code protocol.RequestCode) (*protocol.Command, error) {
	return a.send(ctx, b, protocol.NewBodyRequest(code, nil), nil)
}

func (a *Admin) send(ctx context.Context, b *broker, req *protocol.Command, out any) (*protocol.Command, error) {
	if b.addr == "" {
		return nil, fmt.Errorf("broker %s: %w", b.name, client.ErrBrokerNotFound)
	}
	if err := b.down.Load(); err != nil {
		return nil, *err
	}
	resp, err := a.client.Call(ctx, b.addr, req)
	if err == nil && out != nil {
		err = resp.DecodeHeader(out)
	}
	if err == nil {
		return resp, nil
	}
	err = fmt.Errorf("broker %s: %w", b.name, oneLine(err))
	if resp == nil {
		b.down.CompareAndSwap(nil, &err)
	}
	return resp, err
}

// malformed is the error of a body that cannot be read.
func (b *broker) malformed(req protocol.RequestCode, err error) error {
	return fmt.Errorf("broker %s: answer of %s to %s: %w", b.name, b.addr, req, err)
}

// brokers is every broker of the cluster that has an address, by name.
func (a *Admin) brokers(ctx context.Context) ([]*broker, error) {
	info, err := a.clusterInfo(ctx)
	if err != nil {
		return nil, err
	}
	var list []*broker
	for _, name := range slices.Sorted(maps.Keys(info.BrokerAddrTable)) {
		if b := reader(name, info.BrokerAddrTable[name].BrokerAddrs); b.addr != "" {
			list = append(list, b)
		}
	}
	return list, nil
}

// routeBrokers is every broker that a route names, by name.
func routeBrokers(r *client.TopicRoute) []*broker {
	var list []*broker
	for _, name := range slices.Sorted(maps.Keys(r.Brokers)) {
		list = append(list, reader(name, r.Brokers[name]))
	}
	return list
}
