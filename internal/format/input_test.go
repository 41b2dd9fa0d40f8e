package format

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"mqctl/internal/protocol"
)

// shown is a message as one comparable text.
func shown(all []*protocol.Message) (out []string) {
	for _, m := range all {
		out = append(out, m.Topic+"|"+m.Property("KEYS")+"|"+m.Property("TAGS")+"|"+string(m.Body))
	}
	return out
}

func TestInputFormats(t *testing.T) {
	cases := []struct {
		spec, text string
		want       []string
	}{
		{`%v\n`, "a\nb\n", []string{"|||a", "|||b"}},
		{`%v\n`, "a\nb", []string{"|||a", "|||b"}},
		{`%v\n`, "", nil},
		{`%v\n`, "\n", []string{"|||"}},
		{`%v`, "all\nof it", []string{"|||all\nof it"}},
		{`%v--`, "a-b--c--", []string{"|||a-b", "|||c"}},
		{`%t %k:%v;`, "o 1:x;p 2:y;", []string{"o|1||x", "p|2||y"}},
		{`%g,%k %V %v\n`, "t,k 3 a\nb\n,k 0 \n", []string{"|k|t|a\nb", "|k||"}},
		{`%k{hex} %v{base64}\n`, "6b31 aGk=\n", []string{"|k1||hi"}},
		{`%v{json}%k{json}`, `"a\"\\""k"` + `"\u00e4""k"`, []string{`|k||a"\`, "|k||ä"}},
		{`%b/%q@%o %m %M %d %s %r %i %v\n`, "b/1@2 m M d s 0 1 body\n", []string{"|||body"}},
		{`[%v]\n`, "[x]\n[]\n", []string{"|||x", "|||"}},
	}
	for _, c := range cases {
		got, err := readAll(t, c.spec, c.text)
		if err != nil {
			t.Errorf("%q of %q: %v", c.spec, c.text, err)
		}
		if diff := cmp.Diff(c.want, shown(got)); diff != "" {
			t.Errorf("%q of %q: %s", c.spec, c.text, diff)
		}
	}
}

func TestInputProperties(t *testing.T) {
	got, err := readAll(t, `%h{%k=%v;}\t%v\n`, "a=1;CLUSTER=c;b=x=y;\tone\n\ttwo")
	if err != nil || len(got) != 2 || string(got[1].Body) != "two" || len(got[1].Properties) != 0 {
		t.Fatalf("%v, %v", got, err)
	}
	if diff := cmp.Diff(map[string]string{"a": "1", "b": "x=y"}, propertiesOf(got[0])); diff != "" {
		t.Error(diff)
	}
}

func TestInputFormatsThatCannotBeRead(t *testing.T) {
	cases := map[string]string{
		"%k\\n":            "without %v",
		"%k%v\\n":          "follow %k",
		"%h{%k=%v;}%v":     "follow %h{…}",
		"%h{%k=%v} %v":     "inside %h{…}",
		"%h{%k;}\\n%v":     "inside %h{…}",
		"%v%h{ %k=%v;}\\n": "follow %v",
		"%x%v":             "unknown verb",
	}
	for spec, want := range cases {
		_, err := NewReader(strings.NewReader(""), spec)
		if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", spec, err, want)
		}
	}
}

func TestInputThatDoesNotFitItsFormat(t *testing.T) {
	cases := []struct{ spec, text, want string }{
		{`[%v]\n`, "x", `record 1: want "[", got "x"`},
		{`%k:%v\n`, "a:1\nnocolon", `record 2: the input ends before ":"`},
		{`%V %v\n`, "x y\n", `"x" is not a length`},
		{`%V %v\n`, "-1 y\n", `"-1" is not a length`},
		{`%V %v\n`, "9 abc", "the input ends after 3 of the 9 bytes"},
		{`%V %v\n`, "1 abc\n", `want "\n", got "b"`},
		{`%v{hex}\n`, "zz\n", "invalid byte"},
		{`%v{base64}\n`, "%%%\n", "illegal base64"},
		{`%v{json}\n`, "x\n", "want a JSON string"},
		{`%v{json}\n`, `"x`, "ends inside a JSON string"},
		{`%h{%k=%v;}\n%v`, "=1;\nb", "without a name"},
	}
	for _, c := range cases {
		_, err := readAll(t, c.spec, c.text)
		var bad *InputError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q of %q: %v, want %q", c.spec, c.text, err, c.want)
		}
	}
}

func TestInputPassesOnErrorsOfTheReader(t *testing.T) {
	broken := errors.New("broken")
	for _, spec := range []string{"lines", "jsonl", `%v\n`, "%v", `%V %v\n`} {
		rd, err := NewReader(io.MultiReader(strings.NewReader("12"), iotest.ErrReader(broken)), spec)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if _, err = rd.Read(); err != nil {
				break
			}
		}
		if !errors.Is(err, broken) {
			t.Errorf("%q: %v", spec, err)
		}
	}
}

func TestLongRecords(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for spec, text := range map[string]string{"lines": long + "\n" + long, `%v\n`: long + "\n" + long + "\n", `%v<end>`: long + "<end>" + long + "<end>"} {
		got, err := readAll(t, spec, text)
		if err != nil || len(got) != 2 || string(got[0].Body) != long || string(got[1].Body) != long {
			t.Errorf("%q: %d messages, %v", spec, len(got), err)
		}
	}
}

// TestFormatRoundTrip: a format with lengths and one with encodings carry every byte.
func TestFormatRoundTrip(t *testing.T) {
	for _, spec := range []string{
		`%k{hex} %g{base64} %V %h{%k{hex}=%v{hex};} %v\n`,
		`%k{base64},%g{hex},%h{%k{base64}:%v{base64} }|%v{base64}|`,
		`%k{hex} %g{hex} %h{%k{hex}=%v{hex};}` + "\n" + `%v{hex}\n`,
	} {
		out, err := Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			var text []byte
			var want, got []map[string]string
			for i := range rapid.IntRange(1, 3).Draw(t, "messages") {
				m := &protocol.MessageExt{Body: rapid.SliceOf(rapid.Byte()).Draw(t, "body")}
				props := protocol.Properties{{Name: "KEYS", Value: "k"}, {Name: "UNIQ_KEY", Value: "u"}, {Name: "DELAY", Value: "3"}}
				props.Set(rapid.StringMatching(`[^\x01\x02]{1,5}`).Draw(t, "name"), rapid.StringMatching(`[^\x01\x02]{1,5}`).Draw(t, "value"))
				m.RawProperties = props.AppendTo(nil)
				text = out.Append(text, m, int64(i), false)
				want = append(want, userProperties(m.RawProperties))
				want[i]["\x01body"] = string(m.Body)
			}
			rd, err := NewReader(iotest.HalfReader(bytes.NewReader(text)), spec)
			if err != nil {
				t.Fatal(err)
			}
			for {
				m, err := rd.Read()
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				set := propertiesOf(m)
				set["\x01body"] = string(m.Body)
				got = append(got, set)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q: %s", text, diff)
			}
		})
	}
}

func FuzzReader(f *testing.F) {
	specs := []string{"lines", "jsonl", `%v\n`, `%k:%V %v\n`, `%h{%k=%v;}\t%v\n`, `%k{json} %v{base64};`, `%v{hex}ab`}
	for i := range specs {
		f.Add(i, []byte("k:3 a\nb\n"))
		f.Add(i, []byte(`{"body":"x","properties":{"a":"b"},"properties_base64":{"base64:/w==":"/w=="}}`+"\n"))
		f.Add(i, []byte("a=1;b=2;\tx\n\"k\" aGk=;"))
	}
	f.Fuzz(func(t *testing.T, which int, text []byte) {
		spec := specs[uint(which)%uint(len(specs))]
		rd, err := NewReader(bytes.NewReader(text), spec)
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		for range len(text) + 2 {
			m, err := rd.Read()
			if err == io.EOF {
				return
			}
			var bad *InputError
			if errors.As(err, &bad) {
				if spec == "lines" || spec == "jsonl" {
					continue
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if size += len(m.Body); size > len(text) {
				t.Fatalf("%d bytes of body from %d of input", size, len(text))
			}
			for _, p := range m.Properties {
				if Reserved(p.Name) {
					t.Fatalf("property %q would be sent", p.Name)
				}
			}
		}
		t.Fatal("the reader does not end")
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{`%v\n`, "%h{%k{hex}=%v }", `%%%{%}\x41`, "%v{json}", "%d{ms}"} {
		f.Add(s)
	}
	m := sample()
	f.Fuzz(func(t *testing.T, spec string) {
		out, err := Parse(spec)
		if err != nil {
			if !errors.Is(err, ErrFormat) {
				t.Fatal(err)
			}
			return
		}
		out.Append(nil, m, 1, true)
		if _, err := NewReader(strings.NewReader(""), spec); err != nil && !errors.Is(err, ErrFormat) {
			t.Fatal(err)
		}
	})
}
