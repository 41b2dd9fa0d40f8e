package main

import (
	"context"
	"fmt"

	"mqctl/internal/admin"
	"mqctl/internal/client"
)

// prepare makes sure that the topics and the group exist, and tells where queues begin.
func (r *groupRun) prepare(ctx context.Context) error {
	ask, cancel := r.withDeadline(ctx)
	defer cancel()
	for _, topic := range r.o.topics {
		if _, err := r.conn.FetchRoute(ask, topic); err != nil {
			return err
		}
	}
	exists, err := r.admin.GroupExists(ask, r.o.group)
	if err != nil {
		return err
	}
	if !exists {
		if err := r.createGroup(ctx); err != nil {
			return err
		}
	}
	if r.o.from != nil && exists && !r.o.broadcast {
		return r.tellCommits(ask)
	}
	return nil
}

// createGroup creates the group when that was said, or is said now.
func (r *groupRun) createGroup(ctx context.Context) error {
	if !r.o.create {
		if !r.inTerminal || !r.errTerminal {
			return withHint(fmt.Errorf("group %s: %w", r.o.group, client.ErrGroupNotFound), "--create creates it")
		}
		r.note("group %s does not exist; consuming creates it on every broker of the cluster", r.o.group)
		if _, err := r.askName(ctx, "group", r.o.group); err != nil {
			return err
		}
	}
	ctx, cancel := r.withDeadline(ctx)
	defer cancel()
	plan, err := r.admin.PlanGroup(ctx, admin.GroupSpec{Name: r.o.group, Targets: r.groupTargets(ctx)})
	if err != nil {
		return err
	}
	result, err := r.admin.ApplyGroup(ctx, plan)
	if err != nil {
		return err
	}
	if result.Partial {
		return partOf(true, result.Failures)
	}
	r.note("group %s was created on %s", r.o.group, countOf(len(result.Brokers), "broker"))
	return nil
}

// groupTargets is the brokers that hold the topics.
func (r *groupRun) groupTargets(ctx context.Context) admin.Targets {
	var t admin.Targets
	for _, topic := range r.o.topics {
		if route, err := r.conn.Route(ctx, topic); err == nil {
			t.Brokers = append(t.Brokers, sortedKeys(route.Brokers)...)
		}
	}
	return t
}

// tellCommits says how many queues do not begin at --from, because the group has been there.
func (r *groupRun) tellCommits(ctx context.Context) error {
	report, err := r.admin.Lag(ctx, r.o.group, admin.LagOptions{Topics: r.o.topics})
	if err != nil {
		return err
	}
	committed := 0
	for _, q := range report.Queues {
		if q.Commit != nil && *q.Commit >= 0 {
			committed++
		}
	}
	switch {
	case committed == len(report.Queues):
		r.note("--from %s has no effect: all %d queues start at their commit, which only a seek moves", r.o.from, committed)
	case committed > 0:
		r.note("%d of %d queues start at their commit, which only a seek moves, the others at %s", committed, len(report.Queues), r.o.from.Echo())
	}
	return nil
}
