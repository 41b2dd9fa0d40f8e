package protocol

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Expression types, Java's ExpressionType.
const (
	ExpressionTag   = "TAG"
	ExpressionSQL92 = "SQL92"
)

// SubscribeAll is the expression that takes every message.
const SubscribeAll = "*"

// ErrBadSubscription is wrapped with what is wrong with a subscription's expression.
var ErrBadSubscription = errors.New("bad subscription")

// SubscriptionData is what a group wants of a topic, Java's SubscriptionData. All members of a group must subscribe
// identically: the broker keeps the version that is newest by SubVersion for the whole group.
type SubscriptionData struct {
	ClassFilterMode bool     `json:"classFilterMode"` // obsolete, always false
	CodeSet         []int32  `json:"codeSet"`         // HashString of each tag
	ExpressionType  string   `json:"expressionType"`
	SubString       string   `json:"subString"` // the expression as the user wrote it
	SubVersion      int64    `json:"subVersion"`
	TagsSet         []string `json:"tagsSet"`
	Topic           string   `json:"topic"`
}

// NewSubscription parses a tag expression, Java's FilterAPI: "" and "*" take every message, otherwise tags are separated
// by || and blanks around them do not matter. at becomes the version, in ms.
func NewSubscription(topic, expression string, at time.Time) (SubscriptionData, error) {
	s := SubscriptionData{
		CodeSet: []int32{}, ExpressionType: ExpressionTag, SubString: expression, SubVersion: at.UnixMilli(), TagsSet: []string{}, Topic: topic,
	}
	if e := strings.TrimSpace(expression); e == "" || e == SubscribeAll {
		s.SubString = SubscribeAll
		return s, nil
	}
	seen := map[string]bool{}
	codes := map[int32]bool{}
	for tag := range strings.SplitSeq(expression, "||") {
		if tag = strings.TrimSpace(tag); tag == "" || seen[tag] {
			continue
		}
		seen[tag] = true
		s.TagsSet = append(s.TagsSet, tag)
		if code := HashString(tag); !codes[code] {
			codes[code] = true
			s.CodeSet = append(s.CodeSet, code)
		}
	}
	if len(s.TagsSet) == 0 {
		return SubscriptionData{}, fmt.Errorf("%w to %s: no tag in %q", ErrBadSubscription, topic, expression)
	}
	return s, nil
}

// NewSQLSubscription is a subscription by an SQL92 expression over the message's properties. Brokers do not refuse what
// they cannot parse when they pull, they deliver everything: have CHECK_CLIENT_CONFIG judge it first.
func NewSQLSubscription(topic, expression string, at time.Time) (SubscriptionData, error) {
	if strings.TrimSpace(expression) == "" {
		return SubscriptionData{}, fmt.Errorf("%w to %s: empty SQL92 expression", ErrBadSubscription, topic)
	}
	return SubscriptionData{
		CodeSet: []int32{}, ExpressionType: ExpressionSQL92, SubString: expression, SubVersion: at.UnixMilli(), TagsSet: []string{}, Topic: topic,
	}, nil
}

// IsTag reports whether s filters by tags; no type means so too.
func (s *SubscriptionData) IsTag() bool {
	return s.ExpressionType == "" || s.ExpressionType == ExpressionTag
}

// Match is the client's own filter of what a broker delivered, which had compared hashes only: with tags, exactly one of
// them must be the message's tag (empty for none); without tags and for SQL92 everything passes.
func (s *SubscriptionData) Match(tag []byte) bool {
	return len(s.TagsSet) == 0 || slices.ContainsFunc(s.TagsSet, func(t string) bool { return t == string(tag) })
}

// MatchCode is the broker's filter by tag hash: different tags may share a hash and pass together.
func (s *SubscriptionData) MatchCode(code int32) bool {
	return len(s.CodeSet) == 0 || slices.Contains(s.CodeSet, code)
}

// Same reports whether both want the same messages, whatever their versions and the order of their tags.
func (s *SubscriptionData) Same(o *SubscriptionData) bool {
	return s.Topic == o.Topic && s.SubString == o.SubString && s.IsTag() == o.IsTag() &&
		s.ClassFilterMode == o.ClassFilterMode && sameSet(s.TagsSet, o.TagsSet) && sameSet(s.CodeSet, o.CodeSet)
}

func sameSet[T cmp.Ordered](a, b []T) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
