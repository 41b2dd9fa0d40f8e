package protocol

import (
	"slices"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestHashString(t *testing.T) {
	for s, want := range map[string]int32{
		"": 0, "TagA": 2598919, "TagB": 2598920, "Aa": 2112, "BB": 2112, "polygenelubricants": -2147483648, "é": 233, "😀": 1772899,
	} {
		if got := HashString(s); got != want {
			t.Errorf("HashString(%q) = %d, want %d", s, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.String().Draw(t, "text")
		var want int32
		for _, u := range utf16.Encode([]rune(s)) {
			want = 31*want + int32(u)
		}
		if got := HashString(s); got != want {
			t.Fatalf("HashString(%q) = %d, want %d", s, got, want)
		}
	})
}

var subscribedAt = time.UnixMilli(1796040938178)

func TestNewSubscription(t *testing.T) {
	for expression, tags := range map[string][]string{
		"": {}, "*": {}, "  ": {}, " * ": {}, "TagA": {"TagA"}, "TagA || TagB": {"TagA", "TagB"}, "TagA||TagB": {"TagA", "TagB"},
		"||a|| ||b||a||": {"a", "b"}, "a b": {"a b"}, "a|b": {"a|b"},
	} {
		s, err := NewSubscription("T", expression, subscribedAt)
		if err != nil {
			t.Errorf("%q: %v", expression, err)
			continue
		}
		want := SubscriptionData{Topic: "T", ExpressionType: ExpressionTag, SubString: expression, SubVersion: 1796040938178, TagsSet: tags, CodeSet: []int32{}}
		if len(tags) == 0 {
			want.SubString = "*"
		}
		for _, tag := range tags {
			want.CodeSet = append(want.CodeSet, HashString(tag))
		}
		if d := cmp.Diff(want, s); d != "" {
			t.Errorf("%q (-want +got):\n%s", expression, d)
		}
	}
	for _, expression := range []string{"||", " || || "} {
		if s, err := NewSubscription("T", expression, subscribedAt); err == nil {
			t.Errorf("%q gives %+v", expression, s)
		}
	}
	if s, err := NewSQLSubscription("T", "a > 3", subscribedAt); err != nil || s.ExpressionType != "SQL92" || s.SubString != "a > 3" || s.IsTag() || !s.Match(nil) {
		t.Errorf("%+v, %v", s, err)
	}
	if _, err := NewSQLSubscription("T", " ", subscribedAt); err == nil {
		t.Error("empty SQL expression accepted")
	}
}

func TestC13_TagsWithEqualHash(t *testing.T) {
	for _, expression := range []string{"Aa", "Aa||CC", " Aa  ||  CC "} {
		s, err := NewSubscription("T", expression, subscribedAt)
		if err != nil {
			t.Fatal(err)
		}
		if !s.MatchCode(HashString("BB")) || !s.MatchCode(HashString("Aa")) || s.MatchCode(HashString("DD")) {
			t.Errorf("%q: the broker's filter goes by the hash", expression)
		}
		if !s.Match([]byte("Aa")) || s.Match([]byte("BB")) || s.Match([]byte(" Aa")) || s.Match(nil) {
			t.Errorf("%q: the client's filter goes by the tag", expression)
		}
	}
	all, _ := NewSubscription("T", "*", subscribedAt)
	if !all.Match(nil) || !all.Match([]byte("x")) || !all.MatchCode(7) {
		t.Error("* does not take everything")
	}
}

func TestSubscriptionSame(t *testing.T) {
	a, _ := NewSubscription("T", "a||b", subscribedAt)
	b := a
	b.SubVersion++
	b.TagsSet, b.CodeSet = []string{"b", "a"}, []int32{98, 97}
	b.ExpressionType = ""
	if !a.Same(&b) {
		t.Error("version and order count")
	}
	for name, change := range map[string]func(*SubscriptionData){
		"topic": func(s *SubscriptionData) { s.Topic = "U" }, "text": func(s *SubscriptionData) { s.SubString = "b||a" },
		"type": func(s *SubscriptionData) { s.ExpressionType = ExpressionSQL92 }, "tags": func(s *SubscriptionData) { s.TagsSet = []string{"a", "c"} },
		"codes": func(s *SubscriptionData) { s.CodeSet = nil }, "class filter": func(s *SubscriptionData) { s.ClassFilterMode = true },
	} {
		c := a
		change(&c)
		if a.Same(&c) {
			t.Errorf("%s does not count", name)
		}
	}
}

func TestMQVersion(t *testing.T) {
	for v, name := range map[MQVersion]string{
		Version400: "V4_0_0", 317: "V4_5_2", 393: "V4_9_0", Version494: "V4_9_4", 400: "V4_9_4_SNAPSHOT", Version500: "V5_0_0", 412: "V5_0_0_SNAPSHOT",
		433: "V5_1_0", 453: "V5_2_0", 473: "V5_3_0", 479: "V5_3_3", 493: "V5_4_0", Version550: "V5_5_0", 212: "V4_0_0_SNAPSHOT",
	} {
		if got := v.String(); got != name {
			t.Errorf("%d is %s, want %s", v, got, name)
		}
		if got, err := ParseMQVersion(name); err != nil || got != v {
			t.Errorf("ParseMQVersion(%s) = %d, %v", name, got, err)
		}
	}
	for v := MQVersion(212); v < 1200; v++ {
		if got, err := ParseMQVersion(v.String()); err != nil || got != v {
			t.Fatalf("%d is %s and back %d, %v", v, v, got, err)
		}
	}
	if v, err := ParseMQVersion("5.5.0"); err != nil || v != CurrentVersion {
		t.Errorf("5.5.0: %d, %v", v, err)
	}
	for _, v := range []MQVersion{211, 0, -1, -2147483648} {
		if got := v.String(); got == "" || got[0] == 'V' {
			t.Errorf("%d is %s", v, got)
		}
	}
	for _, name := range []string{"", "V", "V5_5", "V5_5_0_0", "V3_2_6", "V5_10_0", "V5_5_x", "V-5_5_0", "5.5.0.1"} {
		if got, err := ParseMQVersion(name); err == nil {
			t.Errorf("ParseMQVersion(%q) = %d", name, got)
		}
	}
}

func TestLanguage(t *testing.T) {
	for i, name := range languageNames {
		if l := Language(i); l.String() != name || ParseLanguage(name) != l {
			t.Errorf("%d: %s, %s", i, l, ParseLanguage(name))
		}
	}
	if LanguageGo != 9 || LanguageNodeJS != 13 || Language(99).String() != "99" || ParseLanguage("ZIG") != LanguageOther || ParseLanguage("") != LanguageOther {
		t.Error("languages moved")
	}
}

func TestCompareMessageQueues(t *testing.T) {
	sorted := []MessageQueue{{"A", "b", 0}, {"B", "a", 2}, {"B", "a", 10}, {"B", "b", 0}, {"a", "a", 0}}
	for i, a := range sorted {
		for j, b := range sorted {
			if got, want := CompareMessageQueues(a, b), min(max(i-j, -1), 1); got != want {
				t.Errorf("%s to %s: %d, want %d", a, b, got, want)
			}
		}
	}
	if got := sorted[2].String(); got != "B/a/10" {
		t.Error(got)
	}
	if !slices.IsSortedFunc(sorted, CompareMessageQueues) {
		t.Error("not sorted")
	}
}

func TestPerm(t *testing.T) {
	for p, want := range map[Perm]string{0: "---", 2: "-W-", 4: "R--", 6: "RW-", 7: "RWX", 8: "---"} {
		if p.String() != want {
			t.Errorf("%d is %s, want %s", int32(p), p, want)
		}
	}
}

func TestBrokerConfig(t *testing.T) {
	want := Properties{{"brokerName", "a"}, {"namesrvAddr", "x=1;y"}, {"empty", ""}}
	got, err := DecodeBrokerConfig([]byte("brokerName=a\r\nnamesrvAddr=x=1;y\nnothing\n\n=3\nempty="))
	if err != nil || !cmp.Equal(got, want) {
		t.Errorf("%v, %v", got, err)
	}
	if again, err := DecodeBrokerConfig(EncodeBrokerConfig(want)); err != nil || !cmp.Equal(again, want) {
		t.Errorf("%v, %v", again, err)
	}
	if got, err := DecodeBrokerConfig(make([]byte, maxBrokerSettings)); err != nil || len(got) != 0 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := DecodeBrokerConfig([]byte(string(slices.Repeat([]byte("\n"), maxBrokerSettings)))); err == nil {
		t.Error("too many lines accepted")
	}
}
