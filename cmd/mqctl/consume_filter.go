package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"mqctl/internal/protocol"
)

// messageFilter is --key, --grep and --where together. It may be used by several goroutines.
type messageFilter struct {
	key      string
	grep     *regexp.Regexp
	where    *vm.Program
	source   string // of where
	needJSON bool
	matched  atomic.Int64
	scanned  atomic.Int64
}

// newMessageFilter is nil when there is nothing to filter by.
func newMessageFilter(key, grep, where string) (*messageFilter, error) {
	if key == "" && grep == "" && where == "" {
		return nil, nil
	}
	f := &messageFilter{key: key, source: where}
	var err error
	if grep != "" {
		if f.grep, err = regexp.Compile(grep); err != nil {
			return nil, usagef("--grep: %v", err)
		}
	}
	if where != "" {
		names := &nameFinder{}
		f.where, err = expr.Compile(where, expr.Env(whereEnv{}), expr.AsBool(), expr.Patch(names))
		if err != nil {
			return nil, usagef("--where: %s", strings.ReplaceAll(strings.TrimSpace(err.Error()), "\n", " "))
		}
		f.needJSON = names.json
	}
	return f, nil
}

// whereEnv is what an expression sees of a message.
type whereEnv struct {
	Topic          string            `expr:"topic"`
	Broker         string            `expr:"broker"`
	QueueID        int               `expr:"queue_id"`
	Offset         int               `expr:"offset"`
	MessageID      string            `expr:"message_id"`
	Tags           string            `expr:"tags"`
	Keys           string            `expr:"keys"`
	Properties     map[string]string `expr:"properties"`
	Body           string            `expr:"body"`
	JSON           any               `expr:"json"` // nil where the body is no JSON
	Size           int               `expr:"size"`
	BornTime       time.Time         `expr:"born_time"`
	StoreTime      time.Time         `expr:"store_time"`
	ReconsumeTimes int               `expr:"reconsume_times"`
}

// nameFinder looks whether an expression uses json, so that bodies are parsed only for one that does.
type nameFinder struct{ json bool }

// Visit is called for each node.
func (n *nameFinder) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok && (id.Value == "json" || id.Value == "$env") {
		n.json = true
	}
}

// match reports whether m is wanted. An error is one of the expression: it cannot be told then.
func (f *messageFilter) match(m *protocol.MessageExt) (bool, error) {
	if f == nil {
		return true, nil
	}
	f.scanned.Add(1)
	ok, err := f.matches(m)
	if ok {
		f.matched.Add(1)
	}
	return ok, err
}

func (f *messageFilter) matches(m *protocol.MessageExt) (bool, error) {
	if f.key != "" && !hasKey(m.Keys(), f.key) {
		return false, nil
	}
	if f.grep != nil && !f.grep.Match(m.Body) {
		return false, nil
	}
	if f.where == nil {
		return true, nil
	}
	env := whereEnv{
		Topic: m.Topic, Broker: m.BrokerName, QueueID: int(m.QueueID), Offset: int(m.QueueOffset), MessageID: m.MessageID(), Tags: m.Tags(),
		Keys: m.Keys(), Properties: map[string]string{}, Body: string(m.Body), Size: len(m.Body), BornTime: m.BornTime(),
		StoreTime: m.StoreTime(), ReconsumeTimes: int(m.ReconsumeTimes),
	}
	for _, x := range m.Properties() {
		env.Properties[x.Name] = x.Value
	}
	if f.needJSON && json.Unmarshal(m.Body, &env.JSON) != nil {
		env.JSON = nil
	}
	result, err := expr.Run(f.where, env)
	if err != nil {
		return false, fmt.Errorf("--where on %s at %d: %s", m.MessageQueue(), m.QueueOffset, firstLine(err.Error()))
	}
	return result == true, nil
}

// hasKey looks for one key among several, which are separated by blanks.
func hasKey(keys, want string) bool {
	for key := range strings.FieldsSeq(keys) {
		if key == want {
			return true
		}
	}
	return keys == want
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
