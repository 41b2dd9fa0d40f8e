package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
)

// uniqueIDMax is how many messages with one unique id a broker is asked for, Java's number: retries within a topic and
// both halves of a transaction share theirs.
const uniqueIDMax = 32

// defaultKeyMax is how many messages with one key a broker is asked for by default, as in mqadmin queryMsgByKey.
const defaultKeyMax = 64

// Found is what a search for messages came to. It holds at least one message.
type Found struct {
	Messages []protocol.MessageExt // by store time; BrokerName is set where the broker is known
	Partial  bool                  // some broker did not answer: there may be more
	Failures []error               // why
}

// MessageByOffsetID reads the message that an offset id points to (33), from the broker whose address the id holds: also
// from one that no route names any more. topic may be "" (brokers with access control want it). An id that is malformed
// is protocol.ErrBadMessageID, one without a message ErrMessageNotFound.
func (a *Admin) MessageByOffsetID(ctx context.Context, topic, id string) (*protocol.MessageExt, error) {
	host, offset, err := protocol.DecodeOffsetID(id)
	if err != nil {
		return nil, err
	}
	name, known := a.brokerAt(ctx, host)
	b := &broker{name: cmp.Or(name, host.String()), addr: host.String()}
	resp, err := a.ask(ctx, b, &protocol.ViewMessageByIDRequest{Offset: offset, Topic: topic}, nil, nil)
	switch {
	case err == nil:
	case isCode(err, protocol.CodeSystemError) || isCode(err, protocol.CodeQueryNotFound):
		return nil, fmt.Errorf("message %s: %w: no message begins at commit-log offset %d: %w", id, ErrMessageNotFound, offset, err)
	case isRefusal(err):
		return nil, fmt.Errorf("message %s: %w", id, err)
	default:
		return nil, unreachable(id, host, known, err)
	}
	msgs, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
	if err != nil {
		return nil, fmt.Errorf("message %s: %w", id, b.malformed(protocol.ViewMessageByID, err))
	}
	for i := range msgs {
		if msgs[i].CommitLogOffset == offset {
			msgs[i].BrokerName = name
			return &msgs[i], nil
		}
	}
	return nil, fmt.Errorf("message %s: %w at commit-log offset %d of %s", id, ErrMessageNotFound, offset, host)
}

// unreachable explains an offset id whose broker does not answer; known says that the broker is one of the cluster.
func unreachable(id string, host netip.AddrPort, known bool, err error) error {
	if known {
		return fmt.Errorf("message %s points to %s, which does not answer: %w", id, host, err)
	}
	return fmt.Errorf("message %s points to %s, which does not answer and is no broker of this cluster: %w", id, host, err)
}

// brokerAt is the name of the broker with an address, and whether there is one. Nothing depends on it but words, so that
// a name server that does not tell is no failure.
func (a *Admin) brokerAt(ctx context.Context, host netip.AddrPort) (name string, known bool) {
	step, cancel := half(ctx)
	defer cancel()
	info, err := a.clusterInfo(step)
	if err != nil {
		return "", true
	}
	for name, data := range info.BrokerAddrTable {
		for _, addr := range data.BrokerAddrs {
			if addr == host.String() {
				return name, true
			}
		}
	}
	return "", false
}

// MessagesByUniqueID finds the messages of a topic that carry a unique id, what producers call the message id (12 at
// every broker of the topic). None is ErrMessageNotFound. Ids are compared as given: clients differ in case.
func (a *Admin) MessagesByUniqueID(ctx context.Context, topic, id string) (*Found, error) {
	req := protocol.QueryMessageRequest{
		Topic: topic, Key: id, MaxNum: uniqueIDMax, EndTimestamp: math.MaxInt64, UniqueKeyQuery: true,
	}
	return a.query(ctx, req, "id "+id, func(m *protocol.MessageExt) bool { return m.UniqueID() == id })
}

// KeyQuery narrows MessagesByKey.
type KeyQuery struct {
	Max   int       // messages asked of each broker; default 64
	Begin time.Time // stored at or after it; zero: no limit
	End   time.Time // stored at or before it; zero: no limit
}

// MessagesByKey finds the messages of a topic that carry a key (12 at every broker of the topic). The brokers' index
// holds hashes; what only shares the hash is dropped. None is ErrMessageNotFound.
func (a *Admin) MessagesByKey(ctx context.Context, topic, key string, q KeyQuery) (*Found, error) {
	if key == "" || strings.ContainsAny(key, " \t\r\n") {
		return nil, &InputError{What: "key", Input: key, Reason: "want one key: they are separated by blanks"}
	}
	req := protocol.QueryMessageRequest{
		Topic: topic, Key: key, MaxNum: int32(min(cmp.Or(q.Max, defaultKeyMax), math.MaxInt32)), EndTimestamp: math.MaxInt64,
	}
	if !q.Begin.IsZero() {
		req.BeginTimestamp = q.Begin.UnixMilli()
	}
	if !q.End.IsZero() {
		req.EndTimestamp = q.End.UnixMilli()
	}
	return a.query(ctx, req, "key "+key, func(m *protocol.MessageExt) bool {
		return slices.Contains(strings.Fields(m.Keys()), key)
	})
}

// query sends req to every broker of its topic and keeps the messages that match.
func (a *Admin) query(ctx context.Context, req protocol.QueryMessageRequest, what string, match func(*protocol.MessageExt) bool) (*Found, error) {
	route, err := a.fetchRoute(ctx, req.Topic)
	if err != nil {
		return nil, err
	}
	list := routeBrokers(route)
	parts := make([][]protocol.MessageExt, len(list))
	errs := make([]error, len(list))
	spread(0, list, func(i int, b *broker) { parts[i], errs[i] = a.queryAt(ctx, b, req, match) })
	var failed failures
	for _, err := range errs {
		if err != nil {
			failed.add(err)
		}
	}
	found := &Found{Messages: slices.Concat(parts...), Failures: failed.errs, Partial: len(failed.errs) > 0}
	slices.SortStableFunc(found.Messages, func(x, y protocol.MessageExt) int {
		return cmp.Or(cmp.Compare(x.StoreTimestamp, y.StoreTimestamp), cmp.Compare(x.CommitLogOffset, y.CommitLogOffset))
	})
	switch {
	case len(found.Messages) > 0:
		return found, nil
	case len(failed.errs) > 0: // it may be where nobody answered
		return nil, fmt.Errorf("search for %s in topic %s: %w", what, req.Topic, failed.errs[0])
	}
	return nil, fmt.Errorf("%w: no message with %s in topic %s", ErrMessageNotFound, what, req.Topic)
}

func (a *Admin) queryAt(ctx context.Context, b *broker, req protocol.QueryMessageRequest, match func(*protocol.MessageExt) bool) ([]protocol.MessageExt, error) {
	resp, err := a.ask(ctx, b, &req, nil, nil)
	if isCode(err, protocol.CodeQueryNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	msgs, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
	if err != nil {
		return nil, b.malformed(protocol.QueryMessage, err)
	}
	kept := msgs[:0]
	for i := range msgs {
		if msgs[i].Topic == req.Topic && match(&msgs[i]) {
			msgs[i].BrokerName = b.name
			kept = append(kept, msgs[i])
		}
	}
	return kept, nil
}

// Message finds a message by an id of either kind. Both look alike: the unique id is searched first, then the id is read
// as an offset id. Without a topic only the second can be done.
func (a *Admin) Message(ctx context.Context, topic, id string) (*Found, error) {
	_, _, badOffsetID := protocol.DecodeOffsetID(id)
	if topic == "" && badOffsetID != nil {
		return nil, fmt.Errorf("%w; to search for a unique id takes its topic", badOffsetID)
	}
	var searched error
	if topic != "" {
		step, cancel := half(ctx)
		defer cancel()
		found, err := a.MessagesByUniqueID(step, topic, id)
		if err == nil || badOffsetID != nil || errors.Is(err, client.ErrTopicNotFound) {
			return found, err
		}
		searched = err
	}
	m, err := a.MessageByOffsetID(ctx, topic, id)
	switch {
	case err == nil:
		return &Found{Messages: []protocol.MessageExt{*m}}, nil
	case searched != nil:
		return nil, fmt.Errorf("%w; as an offset id: %w", searched, err)
	}
	return nil, err
}
