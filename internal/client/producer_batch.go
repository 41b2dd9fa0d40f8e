package client

import (
	"context"
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// SendBatch sends several messages of one topic in one request to one queue, and waits for the answer; retries are those
// of Send. The results are in the order of the messages, which are stored all or none. What cannot be in a batch is
// ErrInvalidMessage: messages of several topics or of a retry topic, delayed ones, and more than MaxMessageSize bytes in
// all. Parts are not packed. Java's MessageBatch.
func (p *Producer) SendBatch(ctx context.Context, messages []*protocol.Message) ([]SendResult, error) {
	s, err := p.begin()
	if err != nil {
		return nil, err
	}
	defer p.end(s)
	s.retries = p.cfg.RetriesSync
	if s.err = s.prepareBatch(messages); s.err == nil {
		s.run(ctx)
	}
	results := s.results
	r, err := s.finish()
	if err != nil {
		return nil, err
	}
	r.spread(results)
	return results, nil
}

// prepareBatch makes the request of a batch. Each part gets an id of its own; WAIT is the batch's alone, since brokers
// look nowhere else.
func (s *sending) prepareBatch(messages []*protocol.Message) error {
	limit := s.p.cfg.MaxMessageSize
	s.began = time.Now()
	s.results = make([]SendResult, len(messages))
	if err := checkBatch(messages, limit); err != nil {
		return err
	}
	s.topic = messages[0].Topic
	var part protocol.Message
	for i, m := range messages {
		s.size += int64(len(m.Body))
		part.Flag, part.Body = m.Flag, m.Body
		part.Properties, s.results[i].MessageID = s.partProperties(part.Properties[:0], m)
		var err error
		if s.body, err = protocol.AppendBatchPart(s.body, &part); err != nil {
			return fmt.Errorf("%w: message %d of the batch: %w", ErrInvalidMessage, i, err)
		}
		if len(s.body) > limit {
			return fmt.Errorf("%w: the batch has %d bytes after %d of %d messages, the limit is %d",
				ErrInvalidMessage, len(s.body), i+1, len(messages), limit)
		}
	}
	s.batchHead(messages[0])
	return nil
}

// partProperties appends what a part of a batch carries, and returns its id: its own, or a fresh one.
func (s *sending) partProperties(dst protocol.Properties, m *protocol.Message) (p protocol.Properties, id string) {
	for _, x := range m.Properties {
		switch x.Name {
		case protocol.PropertyUniqueKey:
			id = x.Value
		case protocol.PropertyWait:
			continue
		}
		dst = append(dst, x)
	}
	if id == "" {
		id = s.p.client.uniqueIDs.Next(s.began)
		dst = append(dst, protocol.Property{Name: protocol.PropertyUniqueKey, Value: id})
	}
	return dst, id
}

// batchHead makes the header of a batch: that of a single message under another code, with properties of its own.
func (s *sending) batchHead(first *protocol.Message) {
	wait := "true"
	if !waits(first) {
		wait = "false"
	}
	s.result.MessageID = s.p.client.uniqueIDs.Next(s.began)
	s.property(protocol.PropertyUniqueKey, s.result.MessageID)
	s.property(protocol.PropertyWait, wait)
	s.head(0)
	s.header.M = true
	s.cmd.Code, s.cmd.Header = int32(protocol.SendBatchMessage), (*protocol.SendBatchMessageRequest)(&s.header)
	s.cmd.Body = s.body
}
