package protocol

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// exchange is one fixture file: what was sent, what was answered or pushed, and raw message bodies.
type exchange struct {
	name      string
	requests  [][]byte
	responses [][]byte // answers, and requests that a broker pushed
	bodies    [][]byte
}

func (x *exchange) frames() [][]byte { return slices.Concat(x.requests, x.responses) }

func loadFixtures(tb testing.TB) []exchange {
	tb.Helper()
	paths, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(paths) < 50 {
		tb.Fatalf("%d fixtures, %v", len(paths), err)
	}
	var all []exchange
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			tb.Fatal(err)
		}
		x := exchange{name: strings.TrimSuffix(filepath.Base(p), ".txt")}
		for line := range strings.Lines(string(text)) {
			kind := line[0]
			if kind == '#' || strings.TrimSpace(line) == "" {
				continue
			}
			b, err := hex.DecodeString(strings.TrimSpace(line[1:]))
			if err != nil {
				tb.Fatalf("%s: %v", p, err)
			}
			switch kind {
			case '>':
				x.requests = append(x.requests, b)
			case '<':
				x.responses = append(x.responses, b)
			case 'B':
				x.bodies = append(x.bodies, b)
			default:
				tb.Fatalf("%s: line starts with %q", p, kind)
			}
		}
		all = append(all, x)
	}
	return all
}

func fixture(tb testing.TB, name string) (request, response *Command) {
	tb.Helper()
	for _, x := range loadFixtures(tb) {
		if x.name != name {
			continue
		}
		for _, f := range x.requests {
			request = mustFrame(tb, f)
		}
		for _, f := range x.responses {
			response = mustFrame(tb, f)
		}
		return request, response
	}
	tb.Fatalf("no fixture %s", name)
	return nil, nil
}

func mustFrame(tb testing.TB, frame []byte) *Command {
	tb.Helper()
	c, err := DecodeFrame(frame)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func TestFixtures(t *testing.T) {
	for _, x := range loadFixtures(t) {
		t.Run(x.name, func(t *testing.T) {
			for _, f := range x.frames() {
				checkFrame(t, f)
			}
			var code RequestCode
			for _, f := range x.requests {
				c := mustFrame(t, f)
				if code = c.RequestCode(); c.IsResponse() {
					t.Error("a request has the response flag")
				}
				checkRequest(t, c)
			}
			for _, f := range x.responses {
				if c := mustFrame(t, f); c.IsResponse() {
					checkResponse(t, code, c)
				} else {
					checkRequest(t, c)
				}
			}
			if len(x.frames())+len(x.bodies) == 0 {
				t.Error("empty fixture")
			}
		})
	}
}

// checkFrame writes a frame again in both encodings and compares what is read back.
func checkFrame(t *testing.T, frame []byte) {
	t.Helper()
	c := mustFrame(t, frame)
	for _, st := range []SerializeType{SerializeJSON, SerializeRocketMQ} {
		again := *c
		again.Serialize = st
		b, err := AppendFrame(nil, &again)
		if err != nil {
			t.Fatal(err)
		}
		got := mustFrame(t, b)
		if want := c.Code > 0x7fff; want != (got.Serialize != st) && st == SerializeRocketMQ {
			t.Errorf("code %d in %s", c.Code, got.Serialize)
		}
		got.Serialize = c.Serialize
		if len(got.Ext)+len(c.Ext) == 0 {
			got.Ext = c.Ext
		}
		if d := cmp.Diff(c, got); d != "" {
			t.Errorf("%s frame differs (-was +now):\n%s", st, d)
		}
	}
}

func checkRequest(t *testing.T, c *Command) {
	t.Helper()
	code := c.RequestCode()
	w, ok := wireCases[code]
	if !ok && !slices.Contains(frameOnly, code) {
		t.Errorf("no typed header for %s", code)
	}
	if w.request != nil {
		checkHeader(t, c, w.request)
		if got := w.request.(RequestHeader).RequestCode(); got != code {
			t.Errorf("%T is the header of %s, found in %s", w.request, got, code)
		}
	} else if ok && len(c.Ext) > 0 && !slices.Contains(frameOnly, code) {
		t.Errorf("%s has unread header fields %v", code, c.Ext)
	}
	if !slices.Contains(frameOnly, code) {
		checkBody(t, c.Body, w.requestBody)
	}
}

func checkResponse(t *testing.T, code RequestCode, c *Command) {
	t.Helper()
	w := wireCases[code]
	switch c.ResponseCode() {
	case CodeSuccess, CodePullOffsetMoved:
	default:
		if len(c.Body) > 0 {
			t.Errorf("error answer with a body of %d bytes", len(c.Body))
		}
		return
	}
	if slices.Contains(frameOnly, code) && w.responseBody == nil {
		return
	}
	if w.response != nil {
		checkHeader(t, c, w.response)
	}
	checkBody(t, c.Body, w.responseBody)
}

// checkHeader decodes the typed header and encodes it again: every field must survive, and what is new must be a zero.
func checkHeader(t *testing.T, c *Command, header any) {
	t.Helper()
	if err := c.DecodeHeader(header); err != nil {
		t.Errorf("%T: %v", header, err)
		return
	}
	b, err := AppendFrame(nil, &Command{Code: c.Code, Header: header})
	if err != nil {
		t.Fatal(err)
	}
	was, now := extMap(c), extMap(mustFrame(t, b))
	delete(was, "AccessKey")
	delete(was, "Signature")
	for key, value := range now {
		if _, ok := was[key]; !ok && (value == "0" || value == "false" || value == "") {
			delete(now, key)
		}
	}
	if d := cmp.Diff(was, now); d != "" {
		t.Errorf("%T differs (-was +now):\n%s", header, d)
	}
}

func extMap(c *Command) map[string]string {
	m := map[string]string{}
	for _, f := range c.Ext {
		m[f.Key] = f.Value
	}
	return m
}

func checkBody(t *testing.T, body []byte, reencode bodyCase) {
	t.Helper()
	if len(body) == 0 {
		return
	}
	if reencode == nil {
		t.Errorf("body of %d bytes is not decoded", len(body))
		return
	}
	again, err := reencode(body)
	if err != nil {
		t.Error(err)
	}
	if again == nil {
		return
	}
	was, now := parseLenient(t, body), parseLenient(t, again)
	if isList(was, "offsetTable") {
		return // the list form comes back as a map; TestResetOffsetForms compares them
	}
	dropNews(was, now)
	if d := cmp.Diff(was, now); d != "" {
		t.Errorf("body differs (-was +now):\n%s", d)
	}
}

func isList(v any, key string) bool {
	m, _ := v.(map[string]any)
	_, ok := m[key].([]any)
	return ok
}

// parseLenient is body as encoding/json sees it after the rewrite to strict JSON.
func parseLenient(tb testing.TB, body []byte) any {
	tb.Helper()
	strict, err := StrictJSON(body)
	if err != nil {
		tb.Fatalf("%v in %.200q", err, body)
	}
	d := json.NewDecoder(bytes.NewReader(strict))
	var v any
	if err := d.Decode(&v); err != nil {
		tb.Fatalf("%v in %.200q", err, strict)
	}
	return v
}

// dropNews removes from now the zeros that was does not have, and from was what no reader needs.
func dropNews(was, now any) {
	switch n := now.(type) {
	case map[string]any:
		w, ok := was.(map[string]any)
		if !ok {
			return
		}
		delete(w, "isWithoutSub") // not a field of Java's: its name on the wire is withoutSub
		maps.DeleteFunc(w, func(_ string, v any) bool { return v == nil })
		for key, value := range n {
			if _, ok := w[key]; !ok && isZero(value) {
				delete(n, key)
				continue
			}
			dropNews(w[key], value)
		}
	case []any:
		w, _ := was.([]any)
		for i := range min(len(w), len(n)) {
			dropNews(w[i], n[i])
		}
	}
}

func isZero(v any) bool {
	switch x := v.(type) {
	case map[string]any:
		return len(x) == 0
	case []any:
		return len(x) == 0
	}
	return v == nil || v == false || v == "" || v == 0.0
}
