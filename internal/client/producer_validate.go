package client

import (
	"fmt"
	"strings"

	"mqctl/internal/protocol"
)

// checkSendTopic refuses names that no topic can have and topics that brokers keep for themselves, Java's
// TopicValidator.isNotAllowedSendTopic.
func checkSendTopic(topic string) error {
	if err := ValidateTopic(topic); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalidMessage, err)
	}
	switch topic {
	case protocol.ScheduleTopic, protocol.HalfTopic, protocol.OpHalfTopic, protocol.TransCheckMaxTopic,
		protocol.SelfTestTopic, protocol.OffsetMovedTopic:
		return fmt.Errorf("%w: topic %s belongs to the brokers and cannot be sent to", ErrInvalidMessage, topic)
	}
	return nil
}

// checkBody refuses bodies that brokers refuse less clearly: an empty one makes them fail with a NullPointerException.
func checkBody(m *protocol.Message, limit int) error {
	switch {
	case len(m.Body) == 0:
		return fmt.Errorf("%w to %s: the body is empty, and brokers do not store that", ErrInvalidMessage, m.Topic)
	case len(m.Body) > limit:
		return fmt.Errorf("%w to %s: the body has %d bytes, the limit is %d", ErrInvalidMessage, m.Topic, len(m.Body), limit)
	}
	return nil
}

// propertyError explains why the properties of m cannot be sent; size is their encoded length.
func propertyError(m *protocol.Message, size int) error {
	if err := m.Properties.Validate(); err != nil {
		return fmt.Errorf("%w to %s: %w", ErrInvalidMessage, m.Topic, err)
	}
	return fmt.Errorf("%w to %s: the properties take %d bytes with those that every message gets, the limit is %d",
		ErrInvalidMessage, m.Topic, size, protocol.MaxPropertiesSize)
}

// halfMessageError refuses TRAN_MSG on an ordinary message. Brokers would keep it as half of a transaction that nobody
// ends, and no consumer would ever see it; it comes with messages that were consumed and are sent again.
func halfMessageError(m *protocol.Message) error {
	return fmt.Errorf("%w to %s: property %s makes it half of a transaction", ErrInvalidMessage, m.Topic, protocol.PropertyTransPrepared)
}

// checkBatch refuses what Java's MessageBatch refuses: brokers would store the messages otherwise than asked for.
func checkBatch(messages []*protocol.Message, limit int) error {
	if n := len(messages); n == 0 || n > protocol.MaxBatchParts {
		return fmt.Errorf("%w: a batch of %d messages, want 1 to %d", ErrInvalidMessage, n, protocol.MaxBatchParts)
	}
	topic, wait := messages[0].Topic, waits(messages[0])
	if protocol.IsRetryTopic(topic) {
		return fmt.Errorf("%w: a batch for the retry topic %s", ErrInvalidMessage, topic)
	}
	for i, m := range messages {
		if m.Topic != topic {
			return fmt.Errorf("%w: a batch for two topics, %s and %s (message %d)", ErrInvalidMessage, topic, m.Topic, i)
		}
		if waits(m) != wait {
			return fmt.Errorf("%w: message %d of the batch differs in property %s", ErrInvalidMessage, i, protocol.PropertyWait)
		}
		if err := checkPart(m, limit); err != nil {
			return fmt.Errorf("message %d of the batch: %w", i, err)
		}
	}
	return nil
}

func checkPart(m *protocol.Message, limit int) error {
	if err := checkBody(m, limit); err != nil {
		return err
	}
	if err := m.Properties.Validate(); err != nil {
		return propertyError(m, 0)
	}
	for i := range m.Properties {
		x := &m.Properties[i]
		switch x.Name {
		case protocol.PropertyTransPrepared:
			if strings.EqualFold(x.Value, "true") {
				return halfMessageError(m)
			}
		case protocol.PropertyDelayLevel, protocol.PropertyTimerDeliverMS, protocol.PropertyTimerDelayMS, protocol.PropertyTimerDelaySec:
			if x.Value != "0" {
				return fmt.Errorf("%w to %s: property %s: a batch cannot be delayed", ErrInvalidMessage, m.Topic, x.Name)
			}
		}
	}
	return nil
}

// waits is whether the broker is to answer only after the message is stored as safely as it is set up for; that is the
// default.
func waits(m *protocol.Message) bool {
	v, ok := m.Properties.Get(protocol.PropertyWait)
	return !ok || strings.EqualFold(v, "true")
}
