package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/remoting"
)

// closeLimit is how long leaving may take where nothing else says so.
const closeLimit = 5 * time.Second

// nameServers is the list of -n or of the environment.
func (p *program) nameServers() ([]string, error) {
	list := p.opt.nameServers
	if strings.TrimSpace(list) == "" {
		return nil, usagef("no name server: give -n HOST:PORT or set MQCTL_NAMESRV; mqctl sandbox starts one to try things on")
	}
	if _, err := strconv.Atoi(list); err == nil {
		return nil, usagef("-n takes name servers, HOST:PORT; a count is -c %s", list)
	}
	items := strings.FieldsFunc(list, func(r rune) bool { return r == ';' || r == ',' })
	for i, item := range items {
		if item = strings.TrimSpace(item); strings.HasPrefix(item, ":") {
			item = "127.0.0.1" + item // what a sandbox started with the same words listens on
		}
		items[i] = item
	}
	addrs, err := client.ParseNameServers(strings.Join(items, ";"))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return addrs, nil
}

// clientConfig is what the flags say about the client.
func (p *program) clientConfig() (client.Config, error) {
	cfg := client.Config{Logger: p.log, MaxFrame: p.opt.maxFrame}
	var err error
	if cfg.NameServers, err = p.nameServers(); err != nil {
		return cfg, err
	}
	p.opt.settings.apply("client", &cfg)
	cfg.Wire, err = p.wireLog()
	return cfg, err
}

// connect makes and starts a client as the flags say. It dials nothing by itself; the program closes it at the end,
// unless the command does so first.
func (p *program) connect(ctx context.Context) (*client.Client, error) {
	cfg, err := p.clientConfig()
	if err != nil {
		return nil, err
	}
	c, err := client.New(cfg)
	if err != nil {
		return nil, err
	}
	if err := c.Start(ctx); err != nil {
		return nil, err
	}
	p.atEnd = append(p.atEnd, func() error { return p.closeClient(ctx, c, closeLimit) })
	return c, nil
}

// closeClient closes c even though ctx may have ended.
func (p *program) closeClient(ctx context.Context, c *client.Client, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
	defer cancel()
	return c.Close(ctx)
}

// wireLog opens the file of --wire.
func (p *program) wireLog() (*remoting.WireLog, error) {
	if p.opt.wire == "" {
		return nil, nil
	}
	f, err := os.OpenFile(p.opt.wire, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("--wire: %w", err)
	}
	if err := f.Chmod(0o600); err != nil { // bodies are in it
		return nil, errors.Join(fmt.Errorf("--wire: %w", err), f.Close())
	}
	wire := remoting.NewWireLog(f)
	p.atEnd = append(p.atEnd, func() error {
		if err := errors.Join(wire.Err(), f.Close()); err != nil {
			return fmt.Errorf("--wire %s: %w", p.opt.wire, err)
		}
		return nil
	})
	return wire, nil
}

// refuseReadOnly ends a command that writes under --read-only.
func (p *program) refuseReadOnly(what string) error {
	if p.opt.readOnly {
		return refused("%s writes, and --read-only is set: nothing was done", what)
	}
	return nil
}
