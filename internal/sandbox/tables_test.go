package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mqctl/internal/protocol"
)

// pushedCodes are requests that brokers of the sandbox send.
var pushedCodes = map[protocol.RequestCode]bool{
	protocol.NotifyConsumerIDsChanged: true, protocol.CheckTransactionState: true, protocol.ResetConsumerClientOffset: true,
	protocol.GetConsumerStatusFromClient: true,
}

func unserved(t *testing.T) map[protocol.RequestCode]bool {
	t.Helper()
	text, err := os.ReadFile("unserved.txt")
	if err != nil {
		t.Fatal(err)
	}
	list := map[protocol.RequestCode]bool{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		n, err := strconv.Atoi(fields[0])
		if err != nil || len(fields) < 3 {
			t.Fatalf("line %q: want code, constant and reason", line)
		}
		code := protocol.RequestCode(n)
		if code.String() != fields[1] || list[code] {
			t.Errorf("line %q: the constant is %v, or the code is there twice", line, code)
		}
		list[code] = true
	}
	return list
}

// TestEveryRequestIsAccountedFor: each known code is answered, pushed or listed as unserved, and one only.
func TestEveryRequestIsAccountedFor(t *testing.T) {
	list := unserved(t)
	for _, known := range protocol.Requests {
		served := brokerHandlers[known.Code] != nil || nameServerHandlers[known.Code] != nil || pushedCodes[known.Code]
		if served == list[known.Code] {
			t.Errorf("%d %s: served %v, in unserved.txt %v", known.Code, known.Java, served, list[known.Code])
		}
	}
}

// TestFilesMirrorProtocol: a request has the same file name in both packages, or a line in unserved.txt.
func TestFilesMirrorProtocol(t *testing.T) {
	list := unserved(t)
	numbered := func(dir string) map[string]bool {
		paths, err := filepath.Glob(filepath.Join(dir, "[0-9]*.go"))
		if err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		for _, p := range paths {
			if !strings.HasSuffix(p, "_test.go") {
				names[filepath.Base(p)] = true
			}
		}
		return names
	}
	here, there := numbered("."), numbered("../protocol")
	if len(here) == 0 || len(there) == 0 {
		t.Fatal("no files found")
	}
	for name := range there {
		code, err := strconv.Atoi(strings.SplitN(name, "_", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		if !here[name] && !list[protocol.RequestCode(code)] {
			t.Errorf("%s is in protocol only and not listed as unserved", name)
		}
	}
	for name := range here {
		code, err := strconv.Atoi(strings.SplitN(name, "_", 2)[0])
		if err != nil {
			t.Fatal(err)
		}
		if !there[name] && hasFile(there, code) {
			t.Errorf("%s is named otherwise in protocol", name)
		}
	}
}

func hasFile(names map[string]bool, code int) bool {
	prefix := strings.Repeat("0", max(0, 3-len(strconv.Itoa(code)))) + strconv.Itoa(code) + "_"
	for name := range names {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
