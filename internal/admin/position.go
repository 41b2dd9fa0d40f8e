package admin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/position"
	"mqctl/internal/protocol"
)

// Resolved is a position in every queue asked for.
type Resolved struct {
	Topic    string          `json:"topic"`
	Position string          `json:"position"` // in its grammar
	Queues   []ResolvedQueue `json:"queues"`
	Partial  bool            `json:"partial"`
	Failures []error         `json:"-"` // the causes behind the rows' Error, each once
}

// ResolvedQueue is a row of Resolved. What could not be read is nil, and Error says why.
type ResolvedQueue struct {
	Broker  string `json:"broker" col:"BROKER"`
	QueueID int32  `json:"queue_id" col:"QUEUE"`
	Offset  *int64 `json:"offset" col:"OFFSET"` // always between Min and Max
	Min     *int64 `json:"min" col:"MIN"`
	Max     *int64 `json:"max" col:"MAX"`
	Commit  *int64 `json:"commit" col:"COMMIT,wide"` // read for positions that count from it only
	Note    string `json:"note" col:"NOTE"`
	Error   string `json:"error" col:"ERROR"`
}

// Bounds is what is known of a queue, for position.Resolve: its ends, the group's committed offset unless group is "",
// and a search by time that asks the broker under ctx. The route of the queue's topic is asked for when it is unknown.
func (a *Admin) Bounds(ctx context.Context, mq protocol.MessageQueue, group string) (position.Bounds, error) {
	route, err := a.client.Route(ctx, mq.Topic)
	if err != nil {
		return position.Bounds{}, oneLine(err)
	}
	found := a.bounds(ctx, routeReader(route, mq.BrokerName), []protocol.MessageQueue{mq}, group)[0]
	return found.Bounds, found.err
}

// bounds is the bounds of one queue, or why there are none.
type bounds struct {
	position.Bounds
	err error
}

// bounds asks b for the bounds of queues, which are all its own; one result for each.
func (a *Admin) bounds(ctx context.Context, b *broker, queues []protocol.MessageQueue, group string) []bounds {
	out := make([]bounds, len(queues))
	if group != "" {
		for i, c := range a.commits(ctx, b, group, queues) {
			out[i].err = c.err
			if c.at != nil && *c.at >= 0 { // some clients commit -1 for a queue that they have not read
				out[i].Committed = c.at
			}
		}
	}
	for i, r := range a.ranges(ctx, b, queues) {
		mq := queues[i]
		out[i].Min, out[i].Max, out[i].err = r.min, r.max, cmp.Or(out[i].err, r.err)
		out[i].OffsetAt = func(t time.Time) (int64, error) { return a.offsetAt(ctx, b, mq, r, t) }
	}
	return out
}

// offsetAt searches by store time (29). Behind the last message lies the end: brokers before 5.1.4 would name the last
// message instead.
func (a *Admin) offsetAt(ctx context.Context, b *broker, mq protocol.MessageQueue, r queueRange, t time.Time) (int64, error) {
	ms := t.UnixMilli()
	if time.UnixMilli(ms).Before(t) {
		ms++ // brokers count in milliseconds: the first one that is not before t
	}
	if r.lastStored > 0 && ms > r.lastStored {
		return r.max, nil
	}
	var found protocol.SearchOffsetByTimestampResponse
	req := &protocol.SearchOffsetByTimestampRequest{Topic: mq.Topic, QueueID: mq.QueueID, Timestamp: ms, BoundaryType: protocol.BoundaryLower}
	if _, err := a.ask(ctx, b, req, nil, &found); err != nil {
		return 0, fmt.Errorf("search in %s: %w", mq, err)
	}
	return found.Offset, nil
}

// ResolveAll resolves a position in queues of a topic (nil: all that may be read), at all brokers side by side. group is
// needed by positions that count from a commit and not read for others. A queue where the position has no meaning, such
// as commit+N without a commit (position.ErrNoCommit), is a row with an Error.
func (a *Admin) ResolveAll(ctx context.Context, topic string, queues []protocol.MessageQueue, p position.Position, group string) (*Resolved, error) {
	if !p.NeedsCommit() {
		group = ""
	} else if err := client.ValidateGroup(group); err != nil {
		return nil, fmt.Errorf("position %s counts from a commit: %w", p, err)
	}
	route, err := a.fetchRoute(ctx, topic)
	if err != nil {
		return nil, err
	}
	if queues == nil {
		queues = readQueues(route)
	}
	byBroker := queuesByBroker(queues)
	rows, errs := make([][]ResolvedQueue, len(byBroker)), make([][]error, len(byBroker))
	spread(0, byBroker, func(i int, part []protocol.MessageQueue) {
		rows[i], errs[i] = a.resolveAt(ctx, routeReader(route, part[0].BrokerName), part, p, group)
	})
	result := &Resolved{Topic: topic, Position: p.String(), Queues: append([]ResolvedQueue{}, slices.Concat(rows...)...)}
	var failed failures
	for i, err := range slices.Concat(errs...) {
		if err != nil {
			result.Queues[i].Error = err.Error()
			failed.add(err)
		}
	}
	result.Failures, result.Partial = failed.errs, len(failed.errs) > 0
	return result, nil
}

// resolveAt resolves a position in queues of one broker.
func (a *Admin) resolveAt(ctx context.Context, b *broker, queues []protocol.MessageQueue, p position.Position, group string) ([]ResolvedQueue, []error) {
	rows, errs := make([]ResolvedQueue, len(queues)), make([]error, len(queues))
	spread(perBroker, a.bounds(ctx, b, queues, group), func(i int, found bounds) {
		rows[i] = ResolvedQueue{Broker: queues[i].BrokerName, QueueID: queues[i].QueueID, Note: b.note()}
		if errs[i] = found.err; found.err != nil {
			return
		}
		rows[i].Min, rows[i].Max, rows[i].Commit = &found.Min, &found.Max, found.Committed
		offset, err := position.Resolve(p, found.Bounds)
		if errs[i] = err; err == nil {
			rows[i].Offset = &offset
		}
	})
	return rows, errs
}
