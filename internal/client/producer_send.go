package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"mqctl/internal/protocol"
)

// keptScratch is the largest buffer that a finished send keeps for the next one, in bytes.
const keptScratch = 256 << 10

// sending is one send from its beginning to its end. Objects are reused: request, header and buffers cost nothing then.
// One goroutine works on it at a time; an asynchronous one is handed over by turn.
type sending struct {
	p      *Producer
	cmd    protocol.Command
	header protocol.SendMessageV2Request
	props  []byte // scratch: the encoded properties
	body   []byte // scratch: the body of a batch

	topic   string
	began   time.Time
	size    int64         // of the bodies as they were given, bytes
	results []SendResult  // of a batch: one for each part, with its id
	want    wantedQueue   // the caller's choice, if any
	retries int           // attempts left
	state   *sendTopic    // nil until the route is known
	view    *sendView     // the one that target comes from
	target  *sendTarget   // of the latest attempt
	aimed   time.Time     // when the latest attempt began
	limit   time.Duration // of the latest attempt
	refetch bool          // ask for the route before the next attempt
	unknown bool          // some attempt may have stored the message
	result  SendResult    // of the best attempt so far
	stored  bool          // result says that it is stored
	err     error         // of the latest attempt
	flight  flight
}

// wantedQueue is a caller's choice of one queue: by name, or by a sharding key. Such a send never moves elsewhere.
type wantedQueue struct {
	how queueChoice
	mq  protocol.MessageQueue
	key string
}

type queueChoice uint8

const (
	inTurn queueChoice = iota
	byName
	byKey
)

// flight is what an asynchronous send needs besides.
type flight struct {
	ctx      context.Context
	callback func(SendResult, error)
	answered func(*protocol.Command, error) // the method value, made once
	turn     atomic.Int32                   // the second of Start's return and the answer goes on
	resp     *protocol.Command
	respErr  error
	admitted bool  // a slot and bytes of the budget are taken
	bytes    int64 // of the budget
}

// newSending is a fresh or a used one.
func (p *Producer) newSending() *sending {
	if s, ok := p.spare.Get().(*sending); ok {
		return s
	}
	s := &sending{p: p}
	s.flight.answered = s.onAnswer
	return s
}

// recycle forgets everything but the buffers.
func (p *Producer) recycle(s *sending) {
	props, body, answered := s.props[:0], s.body[:0], s.flight.answered
	if cap(body) > keptScratch {
		body = nil
	}
	s.cmd, s.header = protocol.Command{}, protocol.SendMessageV2Request{}
	s.props, s.body = props, body
	s.topic, s.began, s.size, s.results = "", time.Time{}, 0, nil
	s.want, s.retries = wantedQueue{}, 0
	s.state, s.view, s.target = nil, nil, nil
	s.refetch, s.unknown, s.stored = false, false, false
	s.result, s.err = SendResult{}, nil
	s.flight.ctx, s.flight.callback, s.flight.answered = nil, nil, answered
	s.flight.resp, s.flight.respErr, s.flight.admitted, s.flight.bytes = nil, nil, false, 0
	p.spare.Put(s)
}

// prepare makes the request of a single message. Nothing of m is changed.
func (s *sending) prepare(m *protocol.Message) error {
	cfg := &s.p.cfg
	s.topic, s.began = m.Topic, time.Now()
	if err := checkBody(m, cfg.MaxMessageSize); err != nil {
		return err
	}
	s.size = int64(len(m.Body))
	if err := s.encodeProperties(m); err != nil {
		return err
	}
	s.head(m.Flag)
	s.cmd.Body = m.Body
	if cfg.CompressOver > 0 && len(m.Body) >= cfg.CompressOver {
		return s.pack(m.Body)
	}
	return nil
}

// head sets what no attempt changes. The template goes with every send, as in Java.
func (s *sending) head(flag int32) {
	h, cfg := &s.header, &s.p.cfg
	h.A, h.B, h.C, h.D = cfg.Group, s.topic, cfg.DefaultTopic, cfg.DefaultTopicQueues
	h.G, h.H, h.I = s.began.UnixMilli(), flag, string(s.props)
	s.cmd.Code, s.cmd.Header = int32(protocol.SendMessageV2), h
	s.cmd.Language, s.cmd.Version = protocol.LanguageGo, protocol.CurrentVersion
}

// encodeProperties writes the properties of m with what Java adds: UNIQ_KEY, unless it is set, and WAIT.
func (s *sending) encodeProperties(m *protocol.Message) error {
	id, waits, empty, added := "", false, false, 0
	retry := protocol.IsRetryTopic(m.Topic)
	for i := range m.Properties {
		x := &m.Properties[i]
		switch x.Name {
		case protocol.PropertyUniqueKey:
			id = x.Value
		case protocol.PropertyWait:
			waits = true
		case protocol.PropertyTransPrepared:
			if strings.EqualFold(x.Value, "true") {
				return halfMessageError(m)
			}
		case protocol.PropertyReconsumeTime, protocol.PropertyMaxReconsume:
			if retry {
				if err := s.reconsume(x); err != nil {
					return err
				}
				continue
			}
		}
		empty = empty || x.Name == "" || x.Value == ""
		s.property(x.Name, x.Value)
		added++
	}
	if id == "" {
		id = s.p.client.uniqueIDs.Next(s.began)
		s.property(protocol.PropertyUniqueKey, id)
		added++
	}
	if !waits {
		s.property(protocol.PropertyWait, "true")
		added++
	}
	if empty || len(s.props) > protocol.MaxPropertiesSize || separators(s.props) != 2*added {
		return propertyError(m, len(s.props))
	}
	s.result.MessageID = id
	return nil
}

func (s *sending) property(name, value string) {
	s.props = append(s.props, name...)
	s.props = append(s.props, '\x01')
	s.props = append(s.props, value...)
	s.props = append(s.props, '\x02')
}

// separators counts the two separator characters: more than two for each property means that one is inside a text.
func separators(encoded []byte) int {
	return bytes.Count(encoded, []byte{'\x01'}) + bytes.Count(encoded, []byte{'\x02'})
}

// reconsume moves a property of a message for a retry topic into the header, as Java's sendKernelImpl does.
func (s *sending) reconsume(x *protocol.Property) error {
	n, err := strconv.ParseInt(x.Value, 10, 32)
	if err != nil {
		return fmt.Errorf("%w to %s: property %s: %q is no number", ErrInvalidMessage, s.topic, x.Name, x.Value)
	}
	if x.Name == protocol.PropertyReconsumeTime {
		s.header.J = int32(n)
		return nil
	}
	most := int32(n)
	s.header.L = &most
	return nil
}

// pack compresses the body, unless that does not make it smaller.
func (s *sending) pack(body []byte) error {
	cfg := &s.p.cfg
	packed, err := protocol.Compress(cfg.Compress, cfg.CompressLevel, body)
	if err != nil {
		return fmt.Errorf("%w to %s: %w", ErrInvalidMessage, s.topic, err)
	}
	if len(packed) < len(body) {
		s.cmd.Body = packed
		s.header.F = s.header.F.WithCompression(cfg.Compress)
	}
	return nil
}

// aim chooses the queue of the next attempt and how long it may take. An error ends the send.
func (s *sending) aim(ctx context.Context) error {
	cfg := &s.p.cfg
	left := cfg.SendTimeout
	if s.aimed = s.began; s.result.Attempts > 0 {
		s.aimed = time.Now()
		left -= s.aimed.Sub(s.began)
	}
	var quick bool
	if s.refetch {
		s.refetchRoute(ctx, left)
	} else {
		s.state, s.view = s.p.known(s.topic)
		quick = s.view != nil
	}
	if !quick {
		if err := s.findRoute(ctx, left); err != nil {
			return err
		}
		s.aimed = time.Now()
		left = cfg.SendTimeout - s.aimed.Sub(s.began)
	}
	if left <= 0 {
		return fmt.Errorf("no time left of %v: %w", cfg.SendTimeout, context.DeadlineExceeded)
	}
	if cfg.AttemptTimeout > 0 {
		left = min(left, cfg.AttemptTimeout)
	}
	s.limit = left
	s.choose()
	if s.target.addr == "" {
		return fmt.Errorf("broker %s: %w", s.target.mq.BrokerName, ErrBrokerNotFound)
	}
	s.header.E, s.header.N = s.target.mq.QueueID, s.target.mq.BrokerName
	s.result.Attempts++
	return nil
}

func (s *sending) choose() {
	switch s.want.how {
	case inTurn:
		last := ""
		if s.target != nil {
			last = s.target.mq.BrokerName
		}
		s.target = s.view.pick(s.state, last, s.p.cfg.LatencyFault)
	case byName:
		s.target = s.p.queue(s.view, s.want.mq)
	case byKey:
		s.target = s.view.byKey(s.want.key)
	}
}

func (s *sending) findRoute(ctx context.Context, left time.Duration) (err error) {
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	s.state, s.view, err = s.p.lookup(ctx, s.topic)
	return err
}

func (s *sending) refetchRoute(ctx context.Context, left time.Duration) {
	s.refetch = false
	ctx, cancel := context.WithTimeout(ctx, left)
	defer cancel()
	s.p.refetch(ctx, s.state)
}

// settle takes in what came of an attempt and reports whether the send is over; if not, another attempt is to follow.
func (s *sending) settle(ctx context.Context, resp *protocol.Command, err error) (over bool) {
	if err != nil {
		return s.failed(ctx, err)
	}
	code := resp.ResponseCode()
	status, stored := sendStatusOf(code)
	if !stored {
		s.err = &ResponseError{Request: s.cmd.RequestCode(), Addr: s.target.addr, Code: code, Remark: resp.Remark}
		retry := worthRetrying(code, resp.Remark)
		if retry {
			s.report(failedLatency)
			wake(s.p.client.wakeRoute)
		}
		return !retry || !s.again(ctx)
	}
	r := SendResult{Status: status, MessageQueue: s.target.mq, MessageID: s.result.MessageID, Attempts: s.result.Attempts}
	if err := r.read(resp.Ext); err != nil {
		s.err, s.unknown = fmt.Errorf("answer of %s to %s: %w", s.target.addr, s.cmd.RequestCode(), err), true
		return true
	}
	s.result, s.stored = r, true
	s.report(0)
	return status == SendOK || !s.p.cfg.RetryNotStoreOK || !s.again(ctx)
}

// failed takes in an attempt without an answer.
func (s *sending) failed(ctx context.Context, err error) (over bool) {
	retry, unsent := judge(err, ctx.Err() != nil)
	s.err = err
	s.unknown = s.unknown || !unsent
	if !retry {
		return true
	}
	s.report(failedLatency)
	s.refetch = s.view.single && s.want.how == inTurn
	wake(s.p.client.wakeRoute)
	return !s.again(ctx)
}

// report tells the fault table how the attempt went; latency 0 is to be measured.
func (s *sending) report(latency time.Duration) {
	if !s.p.cfg.LatencyFault {
		return
	}
	now := time.Now()
	if latency == 0 {
		latency = now.Sub(s.aimed)
	}
	s.target.faults.report(now, latency)
}

// again takes one of the attempts that are left.
func (s *sending) again(ctx context.Context) bool {
	if s.retries <= 0 || ctx.Err() != nil || s.p.ended.Load() || time.Since(s.began) >= s.p.cfg.SendTimeout {
		return false
	}
	s.retries--
	s.p.retried.Add(1)
	return true
}

// finish counts the send and returns what the caller gets. An attempt that stored the message counts even if a later one,
// which was to store it better, failed.
func (s *sending) finish() (SendResult, error) {
	parts := int64(max(len(s.results), 1))
	if s.stored {
		s.p.sent.Add(parts)
		s.p.bytes.Add(s.size)
		return s.result, nil
	}
	s.p.failures.Add(parts)
	if s.err == nil || errors.Is(s.err, ErrInvalidMessage) {
		return SendResult{}, s.err
	}
	e := &SendError{Topic: s.topic, Attempts: s.result.Attempts, Unknown: s.unknown, Err: s.err}
	if s.target != nil {
		e.Queue = s.target.mq
	}
	return SendResult{}, e
}
