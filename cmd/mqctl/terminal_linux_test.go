package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

// terminal is a process on a pseudo-terminal of 100 by 40.
type terminal struct {
	t    *testing.T
	cmd  *exec.Cmd
	side *os.File // the one that people see
	done chan error
	mu   sync.Mutex
	text strings.Builder
}

// openTerminal opens both sides of a pseudo-terminal.
func openTerminal(t *testing.T) (side, tty *os.File) {
	t.Helper()
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	side = os.NewFile(uintptr(fd), "ptmx")
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	return side, tty
}

// onTerminal starts mqctl on a terminal.
func onTerminal(t *testing.T, c *testcluster.Cluster, args ...string) *terminal {
	t.Helper()
	return onTerminalWith(t, c, []string{"NO_COLOR=1"}, args...)
}

func onTerminalWith(t *testing.T, c *testcluster.Cluster, env []string, args ...string) *terminal {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	side, tty := openTerminal(t)
	p := &terminal{t: t, side: side, done: make(chan error, 1), cmd: &exec.Cmd{
		Path: exe, Args: append([]string{"mqctl"}, args...), Stdin: tty, Stdout: tty, Stderr: tty,
		Env:         append(append(os.Environ(), "MQCTL_NAMESRV="+strings.Join(c.NameServers, ";"), "TERM=xterm-256color"), env...),
		SysProcAttr: &syscall.SysProcAttr{Setsid: true, Setctty: true},
	}}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	tty.Close()
	read := make(chan struct{})
	go func() {
		defer close(read)
		buf := make([]byte, 4096)
		for {
			n, err := side.Read(buf)
			p.mu.Lock()
			p.text.Write(buf[:n])
			p.mu.Unlock()
			if err != nil {
				return // the last process has left the terminal
			}
		}
	}()
	go func() {
		err := p.cmd.Wait()
		<-read
		p.done <- err
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		side.Close()
	})
	return p
}

func (p *terminal) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// expect waits for a text on the screen.
func (p *terminal) expect(text string) {
	p.t.Helper()
	testcluster.Eventually(p.t, time.Minute, text, func() bool { return strings.Contains(p.output(), text) })
}

func (p *terminal) typeIn(text string) {
	p.t.Helper()
	if _, err := io.WriteString(p.side, text); err != nil {
		p.t.Fatal(err)
	}
}

// code waits for the end and returns the exit code.
func (p *terminal) code() int {
	p.t.Helper()
	select {
	case err := <-p.done:
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			return exit.ExitCode()
		}
		if err != nil {
			p.t.Fatal(err)
		}
		return 0
	case <-time.After(time.Minute):
		p.t.Fatalf("it does not end; so far: %s", p.output())
		return -1
	}
}

func TestTerminalAsksForTheName(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	p := onTerminal(t, c, "topic", "create", "fresh", "--queues", "2")
	p.expect("Type the topic name to go on")
	p.typeIn("frehs\n")
	if code := p.code(); code != exitRefused || !strings.Contains(p.output(), `nothing was changed: "frehs" is not fresh`) {
		t.Errorf("exit code %d: %s", code, p.output())
	}
	p = onTerminal(t, c, "topic", "create", "fresh", "--queues", "2")
	p.expect("Type the topic name to go on")
	p.typeIn("\x03")
	if code := p.code(); code != exitInterrupted {
		t.Errorf("after Ctrl-C: exit code %d: %s", code, p.output())
	}
	if n := len(c.Sandbox().Queues("fresh")); n != 0 {
		t.Fatalf("%d queues without a yes", n)
	}
	p = onTerminal(t, c, "topic", "create", "fresh", "--queues", "2")
	p.expect("Type the topic name to go on")
	p.typeIn("fresh\n")
	if code := p.code(); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.output())
	}
	if n := len(c.Sandbox().Queues("fresh")); n != 2 {
		t.Errorf("%d queues after the yes", n)
	}
}

func TestTerminalCreatesAGroupAfterAYes(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	topic := c.Topic(1)
	p := onTerminal(t, c, "consume", topic, "-g", "fresh", "--for", "300ms")
	p.expect("group fresh does not exist")
	p.expect("Type the group name to go on")
	p.typeIn("fresh\n")
	if code := p.code(); code != exitOK || !strings.Contains(p.output(), "group fresh was created on 1 broker") {
		t.Errorf("exit code %d: %s", code, p.output())
	}
}

func TestTerminalInterruptEndsAFollowingRead(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	p := onTerminal(t, c, "consume", c.Topic(2))
	p.expect("until Ctrl-C; nothing is committed")
	p.typeIn("\x03")
	if code := p.code(); code != exitInterrupted {
		t.Errorf("exit code %d: %s", code, p.output())
	}
}

func TestTerminalShowsLagTwice(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	topic := c.Topic(2)
	if code := onTerminal(t, c, "consume", topic, "-g", "g", "--create", "--from", "start", "-e").code(); code != exitOK {
		t.Fatalf("exit code %d", code)
	}
	p := onTerminal(t, c, "offset", "lag", "g", "--sample", "300ms")
	if code := p.code(); code != exitOK {
		t.Errorf("exit code %d: %s", code, p.output())
	}
	first, second, ok := strings.Cut(p.output(), "\x1b[J")
	if !ok || !strings.Contains(first, "rates in 300ms") || !strings.Contains(second, "in 0.0/s") || strings.Contains(second, "rates in") {
		t.Errorf("%q", p.output())
	}
}

// TestTerminalIsNotAsked: a library that asks the terminal for its colours writes to it, and waits where nobody answers.
func TestTerminalIsNotAsked(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	c.Topic(1)
	p := onTerminalWith(t, c, []string{"NO_COLOR="}, "topic", "ls", "-vv")
	if code := p.code(); code != exitOK || strings.Contains(p.output(), "\x1b]") || strings.Contains(p.output(), "\x1b[6n") || strings.Contains(p.output(), "\x1b[c") {
		t.Errorf("exit code %d: %q", code, p.output())
	}
}

// hostile are texts that would drive a terminal.
var hostile = []string{
	"\x1b[2J\x1b[H", "\x1b]0;title\x07", "\x1b]52;c;ZXZpbA==\x07", "\x1bP+q\x1b\\", "\x9b31m", "\u009b31m", "a\rb", "a\bb", "\a", "\u202eevil\u202c",
	"\u2066x\u2069", "\x00", "\x7f", "line\u2028sep", "\ufeffbom", "\U000e0041tag", "\xff\xfe",
}

// TestG17_MessagesNeverDriveTheTerminal looks at every way of printing a message on a terminal but raw.
func TestG17_MessagesNeverDriveTheTerminal(t *testing.T) {
	c := testcluster.NewSandbox(t, sandbox.Options{}, false)
	topic := c.Topic(1)
	send(t, c, topic, hostile)
	for _, args := range [][]string{
		{"-o", "table"}, {"-o", "wide"}, {"-o", "jsonl"}, {"-o", "json"}, {"-o", "hex"}, {}, {"-f", `%v %k %g %h{%k=%v }%m\n`},
		{"-f", `%v{json} %k{json}\n`}, {"--where", "json.x > 1"},
	} {
		p := onTerminal(t, c, append([]string{"consume", topic, "-e"}, args...)...)
		if code := p.code(); code != exitOK {
			t.Errorf("%v: exit code %d: %q", args, code, p.output())
		}
		if bad := firstUnsafe(p.output()); bad != "" {
			t.Errorf("%v: %s reaches the terminal", args, bad)
		}
	}
	p := onTerminal(t, c, "consume", topic, "-e", "-o", "raw")
	if p.code(); !strings.Contains(p.output(), "\x1b]0;title\x07") {
		t.Error("raw is not exact")
	}
}

// send sends each text as a body, a key, a tag and a property.
func send(t *testing.T, c *testcluster.Cluster, topic string, texts []string) {
	t.Helper()
	producer, err := c.Client().StartProducer(t.Context(), client.ProducerConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		m := &protocol.Message{Topic: topic, Body: []byte(text), Properties: protocol.Properties{
			{Name: protocol.PropertyKeys, Value: text}, {Name: protocol.PropertyTags, Value: text}, {Name: "p" + text, Value: text},
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err := producer.Send(ctx, m)
		cancel()
		if err != nil {
			t.Fatalf("send %q: %v", text, err)
		}
	}
}

// firstUnsafe names the first character that is not plainly visible.
func firstUnsafe(text string) string {
	for i, r := range text {
		switch {
		case r == '\n' || r == '\r' && strings.HasPrefix(text[i+1:], "\n") || r == '\t':
		case r == unicode.ReplacementChar && !strings.HasPrefix(text[i:], "\ufffd"), unicode.In(r, unicode.C, unicode.Zl, unicode.Zp):
			return fmt.Sprintf("%U at %d, behind %q", r, i, text[max(0, i-20):i])
		}
	}
	return ""
}
