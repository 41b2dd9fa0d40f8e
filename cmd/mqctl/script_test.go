package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"mqctl/internal/protocol"
	"mqctl/internal/sandbox"
	"mqctl/internal/testcluster"
)

var update = flag.Bool("update", false, "rewrite the expected output in scripts")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mqctl": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs the scripts against the sandbox, or against the real cluster that MQCTL_TEST_NAMESRV names.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			for _, name := range []string{"MQCTL_NAMESRV", "NAMESRV_ADDR", "NO_COLOR", "TZ"} {
				e.Setenv(name, "")
			}
			e.Values["script"] = &script{t: e.T().(testing.TB)}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "sandbox":
				return os.Getenv(testcluster.EnvNameServers) == "", nil
			case "devfull":
				_, err := os.Stat("/dev/full")
				return err == nil, nil
			case "signals":
				return runtime.GOOS != "windows", nil
			}
			return false, fmt.Errorf("unknown condition %s", cond)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"cluster": cmdCluster, "group": cmdGroup, "code": cmdCode, "fault": cmdFault, "writes": cmdWrites, "peer": cmdPeer,
			"port": cmdPort, "reach": cmdReach, "jsonlines": cmdJSONLines, "lines": cmdLines, "await": cmdAwait, "aligned": cmdAligned,
		},
	})
}

// script is what the commands of one script share.
type script struct {
	t       testing.TB
	cluster *testcluster.Cluster
	writes  sandbox.Writes
}

func scriptOf(ts *testscript.TestScript) *script { return ts.Value("script").(*script) }

func refuseNeg(ts *testscript.TestScript, neg bool, name string) {
	if neg {
		ts.Fatalf("! %s makes no sense", name)
	}
}

// cmdCluster starts the cluster: cluster [-brokers=N] [NAME:QUEUES…]. Each topic gets a name of its own, in the variable
// NAME; MQCTL_NAMESRV points to the cluster.
func cmdCluster(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "cluster")
	s := scriptOf(ts)
	if text, ok := strings.CutPrefix(strings.Join(args, " "), "-brokers="); ok {
		number, _, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(number)
		ts.Check(err)
		s.cluster = testcluster.NewSandbox(s.t, sandbox.Options{Brokers: n}, false)
		args = args[1:]
	} else {
		s.cluster = testcluster.New(s.t)
	}
	ts.Setenv("MQCTL_NAMESRV", strings.Join(s.cluster.NameServers, ";"))
	for _, arg := range args {
		name, number, _ := strings.Cut(arg, ":")
		queues, err := strconv.Atoi(number)
		ts.Check(err)
		ts.Setenv(name, s.cluster.Topic(queues))
	}
}

// cmdGroup makes names of groups: group NAME….
func cmdGroup(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "group")
	for _, name := range args {
		ts.Setenv(name, scriptOf(ts).cluster.Group())
	}
}

// cmdCode runs a command and holds its exit code against a number: code N COMMAND….
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "code")
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// cmdFault injects faults into the sandbox: fault TEXT…; fault -clear ends them.
func cmdFault(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "fault")
	box := scriptOf(ts).cluster.Sandbox()
	for _, text := range args {
		if text == "-clear" {
			box.ClearFaults()
			continue
		}
		f, err := sandbox.ParseFault(text)
		ts.Check(err)
		box.Inject(f)
	}
}

// cmdWrites holds what requests have changed in the sandbox against an earlier state: writes save, writes same.
func cmdWrites(ts *testscript.TestScript, neg bool, args []string) {
	s := scriptOf(ts)
	now := s.cluster.Sandbox().Writes()
	switch args[0] {
	case "save":
		s.writes = now
	case "same":
		if (now == s.writes) == neg {
			ts.Fatalf("writes were %+v and are %+v", s.writes, now)
		}
	default:
		ts.Fatalf("writes save or writes same")
	}
}

// cmdPeer starts a server that is no name server and puts its address into PEER: peer http|cut|header|body|silent|huge.
func cmdPeer(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "peer")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv("PEER", l.Addr().String())
	answer, ok := map[string]func(c net.Conn, req *protocol.Command){
		"http": func(c net.Conn, _ *protocol.Command) {
			io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
		},
		"cut":    func(c net.Conn, _ *protocol.Command) { c.Write([]byte{0, 0, 1, 0, 0, 0, 0, 9, '{', '"'}) },
		"header": func(c net.Conn, _ *protocol.Command) { c.Write(append([]byte{0, 0, 0, 12, 0, 0, 0, 8}, `{{{{}}}}`...)) },
		"body": func(c net.Conn, req *protocol.Command) {
			frame, err := protocol.AppendFrame(nil, protocol.NewResponse(req, protocol.CodeSuccess, "", nil, []byte(`{"brokerDatas":[{{{`)))
			if err == nil {
				c.Write(frame)
			}
		},
		"silent": func(net.Conn, *protocol.Command) {},
		"huge":   func(c net.Conn, _ *protocol.Command) { c.Write([]byte{0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 9}) },
	}[args[0]]
	if !ok {
		ts.Fatalf("unknown peer %s", args[0])
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				req, err := readFrame(c)
				if err != nil {
					return
				}
				answer(c, req)
				if args[0] == "silent" {
					io.Copy(io.Discard, c)
				}
			}()
		}
	}()
}

func readFrame(r io.Reader) (*protocol.Command, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	frame := append(size[:], make([]byte, binary.BigEndian.Uint32(size[:]))...)
	if _, err := io.ReadFull(r, frame[4:]); err != nil {
		return nil, err
	}
	return protocol.DecodeFrame(frame)
}

// cmdPort puts an address that nobody listens on into variables: port NAME….
func cmdPort(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "port")
	for _, name := range args {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		ts.Setenv(name, l.Addr().String())
		ts.Check(l.Close())
	}
}

// eventually waits for something of another process.
func eventually(ts *testscript.TestScript, what string, ok func() bool) {
	for deadline := time.Now().Add(60 * time.Second); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("no %s after a minute", what)
		}
	}
}

// cmdReach waits until somebody listens: reach ADDRESS.
func cmdReach(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "reach")
	eventually(ts, "listener on "+args[0], func() bool {
		c, err := net.Dial("tcp", args[0])
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// cmdAwait waits until a file has so many lines: await FILE N.
func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "await")
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	eventually(ts, args[1]+" lines in "+args[0], func() bool {
		text, err := os.ReadFile(ts.MkAbs(args[0]))
		return err == nil && strings.Count(string(text), "\n") >= want
	})
}

// cmdJSONLines checks that a file (stdout, stderr) is so many lines, each a JSON object: jsonlines FILE N.
func cmdJSONLines(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "jsonlines")
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	n := 0
	scanner := bufio.NewScanner(strings.NewReader(ts.ReadFile(args[0])))
	scanner.Buffer(nil, 64<<20)
	for scanner.Scan() {
		var object map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &object); err != nil {
			ts.Fatalf("line %d of %s: %v: %s", n+1, args[0], err, scanner.Text())
		}
		n++
	}
	if n != want {
		ts.Fatalf("%d lines in %s, want %d", n, args[0], want)
	}
}

// cmdLines checks how many lines a file (stdout, stderr) has: lines FILE N.
func cmdLines(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if got := strings.Count(ts.ReadFile(args[0]), "\n"); (got == want) == neg {
		ts.Fatalf("%d lines in %s, want %d (neg %v)", got, args[0], want, neg)
	}
}

// cmdAligned checks that a text begins in the same terminal cell in every line that has it: aligned FILE TEXT.
func cmdAligned(ts *testscript.TestScript, neg bool, args []string) {
	refuseNeg(ts, neg, "aligned")
	cell, found := -1, 0
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		before, _, ok := strings.Cut(line, args[1])
		if !ok {
			continue
		}
		found++
		if at := cells(before); cell >= 0 && at != cell {
			ts.Fatalf("%q begins in cell %d and in cell %d: %s", args[1], cell, at, line)
		} else {
			cell = at
		}
	}
	if found < 2 {
		ts.Fatalf("%q stands in %d lines", args[1], found)
	}
}

// cells is the width of text made of ASCII, CJK and combining accents: known without any library.
func cells(text string) (n int) {
	for _, r := range text {
		switch {
		case r >= 0x300 && r < 0x370:
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}
