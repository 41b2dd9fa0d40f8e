package remoting

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

// lockedBuffer is a log file that may be read while it is written.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// entries reads a log that must be without errors.
func entries(t *testing.T, text string) []WireEntry {
	t.Helper()
	var all []WireEntry
	for e, err := range ReadWireLog(strings.NewReader(text), protocol.DefaultMaxFrame) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
	return all
}

func TestWireLogOfAnExchange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var file lockedBuffer
		n := newPipeNet(t)
		p := NewPool(PoolConfig{Dial: n.dial, Wire: NewWireLog(&file)})
		c := goCall(t.Context(), p, request("ping"))
		far := <-n.peers
		req := far.mustRead()
		far.write(answerTo(req, "pong"))
		wantBody(t, <-c, "pong")
		far.write(answerTo(req, "late"), peerRequest(protocol.GetConsumerRunningInfo, 5))
		far.mustRead()
		large := strings.Repeat("large ", 100000)
		c = goCall(t.Context(), p, protocol.NewBodyRequest(protocol.PullMessage, nil))
		far.write(answerTo(far.mustRead(), large))
		wantBody(t, <-c, large)
		closePool(t, p)

		now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
		got := entries(t, file.String())
		for i, want := range []struct {
			mark    byte
			body    string
			comment string
		}{
			{WireOut, "ping", "out 10.0.0.1:10911 HEART_BEAT opaque 1"},
			{WireIn, "pong", "in 10.0.0.1:10911 HEART_BEAT answer SUCCESS opaque 1"},
			{WireIn, "late", "in 10.0.0.1:10911 answer SUCCESS opaque 1"},
			{WireIn, "", "in 10.0.0.1:10911 GET_CONSUMER_RUNNING_INFO opaque 5"},
			{WireOut, "", "out 10.0.0.1:10911 answer REQUEST_CODE_NOT_SUPPORTED opaque 5"},
			{WireOut, "", "out 10.0.0.1:10911 PULL_MESSAGE opaque 2"},
			{WireIn, large, "in 10.0.0.1:10911 PULL_MESSAGE answer SUCCESS opaque 2"},
		} {
			if i >= len(got) {
				t.Fatalf("%d entries, want entry %d: %s", len(got), i, want.comment)
			}
			e := got[i]
			if e.Mark != want.mark || string(e.Command.Body) != want.body {
				t.Errorf("entry %d is %c with a body of %d bytes, want %c with %d", i, e.Mark, len(e.Command.Body), want.mark, len(want.body))
			}
			if diff := cmp.Diff([]string{now + " " + want.comment}, e.Comment); diff != "" {
				t.Errorf("entry %d (-want +got):\n%s", i, diff)
			}
		}
		if len(got) != 7 {
			t.Errorf("%d entries, want 7", len(got))
		}
	})
}

func TestWireLogHidesSecrets(t *testing.T) {
	const secret = "CANARY"
	user := []byte(`{"username":"u1","password":"CANARY\"CANARY\\","userType":"Normal"}`)
	config := []byte("brokerName=a\ninitAuthenticationUser={\\\"username\\\":\\\"x\\\",\\\"password\\\":\\\"CANARY\\\\\\\"CANARY\\\"}\nssl.key.password=CANARY CANARY\nlast=1")
	signed := protocol.ExtFields{{Key: "a", Value: "group"}, {Key: "AccessKey", Value: secret}, {Key: "Signature", Value: secret}, {Key: "SecurityToken", Value: secret}}
	for _, test := range []struct {
		name string
		code protocol.RequestCode
		ext  protocol.ExtFields
		body []byte
		keep string
	}{
		{"signed request", protocol.SendMessageV2, signed, []byte("body"), "body"},
		{"new user", protocol.AuthCreateUser, signed, user, `{"username":"u1","password":"****","userType":"Normal"}`},
		{"changed user", protocol.AuthUpdateUser, nil, user, `{"username":"u1","password":"****","userType":"Normal"}`},
		{"user of old ACL", 50, protocol.ExtFields{{Key: "secretKey", Value: secret}}, nil, ""},
		{"broker configuration", protocol.UpdateBrokerConfig, nil, config, "brokerName=a\ninitAuthenticationUser={\\\"username\\\":\\\"x\\\",\\\"password\\\":****\nssl.key.password=****\nlast=1"},
		{"answer nobody waited for", unknownRequest, nil, user, `{"username":"u1","password":"****","userType":"Normal"}`},
		{"message about a password", protocol.SendMessageV2, nil, []byte(`{"password":"kept"}`), `{"password":"kept"}`},
	} {
		for _, st := range []protocol.SerializeType{protocol.SerializeJSON, protocol.SerializeRocketMQ} {
			t.Run(fmt.Sprint(test.name, " ", st), func(t *testing.T) {
				cmd := protocol.NewBodyRequest(test.code, test.body)
				cmd.Ext, cmd.Serialize, cmd.Opaque = test.ext, st, 7
				frame, err := protocol.AppendFrame(nil, cmd)
				if err != nil {
					t.Fatal(err)
				}
				var file lockedBuffer
				log := NewWireLog(&file)
				log.outgoing(testAddr, cmd, frame)
				log.incoming(testAddr, cmd, test.code, frame[protocol.FramePrefixSize:len(frame)-len(test.body)])
				text := file.String()
				got := entries(t, text)
				if len(got) != 2 {
					t.Fatalf("%d entries", len(got))
				}
				for _, e := range got {
					if bytes.Contains(e.Data, []byte(secret)) || strings.Contains(text, secret) {
						t.Errorf("the secret is in %q", e.Data)
					}
					if string(e.Command.Body) != test.keep || e.Command.Opaque != 7 || len(e.Command.Ext) != len(test.ext) {
						t.Errorf("logged as %+v with the body %q, want %q", e.Command, e.Command.Body, test.keep)
					}
				}
			})
		}
	}
}

func TestWireLogOfAnUndecodableFrameShowsNothing(t *testing.T) {
	frame := append(words(4+6, 6), "SECRET"...)
	if got := redactFrame(frame, protocol.AuthCreateUser); bytes.Contains(got, []byte("SECRET")) {
		t.Errorf("logged as %q", got)
	}
}

func TestReadWireLogReadsTheFixtures(t *testing.T) {
	files, err := filepath.Glob("../protocol/testdata/*.txt")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	marks := map[byte]int{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all := entries(t, string(text))
		for i, e := range all {
			marks[e.Mark]++
			if (e.Command == nil) != (e.Mark == WireBody) || len(e.Data) == 0 {
				t.Errorf("%s: entry %d is %+v", name, i, e)
			}
		}
		if len(all) == 0 || len(all[0].Comment) == 0 || all[0].Line != 2 {
			t.Errorf("%s: the first entry lacks the comment above it: %+v", name, all)
		}
	}
	if marks[WireOut] < 50 || marks[WireIn] < 50 || marks[WireBody] != 2 {
		t.Errorf("found %v", marks)
	}
}

func TestReadWireLogGoesOnAfterErrors(t *testing.T) {
	frame, err := protocol.AppendFrame(nil, request("x"))
	if err != nil {
		t.Fatal(err)
	}
	good := hex.EncodeToString(frame)
	text := strings.Join([]string{
		"#first", "# second", "> " + good, "", "what is this", "< zz", "> " + good[:20], "  >" + strings.ToUpper(good) + "\r",
		"> " + strings.Repeat("0 ", 5000), "B 6162 63", "< " + hex.EncodeToString(make([]byte, 600)), "> " + good,
	}, "\n")
	var got []string
	for e, err := range ReadWireLog(strings.NewReader(text), 500) {
		line := fmt.Sprintf("%d %c %q %d", e.Line, max(e.Mark, '-'), e.Comment, len(e.Data))
		if err != nil {
			if !errors.Is(err, ErrWireLog) {
				t.Errorf("%v is no ErrWireLog", err)
			}
			line += " " + err.Error()
		} else if e.Mark != WireBody && string(e.Command.Body) != "x" {
			t.Errorf("line %d: %+v", e.Line, e.Command)
		}
		got = append(got, line)
	}
	want := []string{
		fmt.Sprintf(`3 > ["first" "second"] %d`, len(frame)),
		"5 - [] 0 wire log: line 5: begins with 'w', not with one of # > < B",
		"6 < [] 0 wire log: line 6: encoding/hex: invalid byte: U+007A 'z'",
		fmt.Sprintf("7 > [] 10 wire log: line 7: malformed frame: frame of %d bytes exceeds the limit of 10", len(frame)-4),
		fmt.Sprintf("8 > [] %d", len(frame)),
		"9 - [] 0 wire log: line 9: longer than 2024 characters",
		"10 B [] 3",
		"11 < [] 600 wire log: line 11: frame of 600 bytes, the limit is 500",
		fmt.Sprintf("12 > [] %d", len(frame)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for range ReadWireLog(strings.NewReader(text), 500) {
		break // leaving early is allowed
	}
}

func TestReadWireLogStopsAtABrokenReader(t *testing.T) {
	broken := errors.New("disk on fire")
	r := io.MultiReader(strings.NewReader("# c\nB 61\n"), errorReader{broken})
	var got []error
	for _, err := range ReadWireLog(r, 500) {
		got = append(got, err)
	}
	if len(got) != 2 || got[0] != nil || !errors.Is(got[1], broken) {
		t.Errorf("got %v", got)
	}
}

type errorReader struct{ err error }

func (r errorReader) Read([]byte) (int, error) { return 0, r.err }

// parkedWriter is a log file on a disk that hangs.
type parkedWriter struct {
	lockedBuffer
	parked chan struct{}
}

func (w *parkedWriter) Write(p []byte) (int, error) {
	<-w.parked
	return w.lockedBuffer.Write(p)
}

func TestSlowWireLogLosesFramesAndSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &parkedWriter{parked: make(chan struct{})}
		log := NewWireLog(w)
		log.limit = 64 << 10
		go log.write([]byte("# first\n"))
		synctest.Wait()
		block := []byte("# " + strings.Repeat("x", 1<<10-3) + "\n")
		for range log.limit>>10 + 3 {
			log.write(block) // nobody waits for the disk but the first
		}
		close(w.parked)
		synctest.Wait()
		text := w.String()
		if !strings.HasSuffix(text, "# 3 frames are missing: the log could not be written fast enough\n") {
			t.Errorf("the log ends with %q", text[max(0, len(text)-80):])
		}
		if want := len("# first\n") + log.limit; len(text) < want || len(text) > want+100 {
			t.Errorf("%d bytes written, want %d and a line", len(text), want)
		}
	})
}

// failingWriter is a full disk.
type failingWriter struct{ writes int }

func (w *failingWriter) Write([]byte) (int, error) {
	w.writes++
	return 0, errors.New("no space left on device")
}

func TestFailedWireLogEnds(t *testing.T) {
	w := &failingWriter{}
	log := NewWireLog(w)
	if log.Err() != nil {
		t.Error(log.Err())
	}
	for range 3 {
		log.write([]byte("# x\n"))
	}
	if log.Err() == nil || w.writes != 1 {
		t.Errorf("%d writes, %v", w.writes, log.Err())
	}
}
