package client

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"mqctl/internal/protocol"
)

// defaultMaxReconsume is how often a message is delivered before it goes to the dead-letter topic.
const defaultMaxReconsume = 16

func (p *PushConsumer) maxReconsume() int32 {
	if p.cfg.MaxReconsume < 0 {
		return defaultMaxReconsume
	}
	return p.cfg.MaxReconsume
}

// sendBack hands one message to the broker that stored it (request 36), to be delivered again after a delay: the level
// given, or one that grows with each attempt. Where that fails a copy is sent to the retry topic, as Java does; a nil
// error means that the broker has the message.
func (p *PushConsumer) sendBack(e *queueEpoch, m *protocol.MessageExt, level int32) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(p.handlerCtx), p.client.cfg.CallTimeout)
	defer cancel()
	err := p.sendBackToStore(ctx, e.queue.mq, m, level)
	if err == nil {
		if p.client.routes.topic(protocol.RetryTopic(p.group)) == nil {
			wake(p.client.wakeRoute)
		}
		return nil
	}
	again, cancelAgain := context.WithTimeout(context.WithoutCancel(p.handlerCtx), p.client.cfg.CallTimeout)
	defer cancelAgain()
	if err2 := p.sendToRetryTopic(again, m, level); err2 != nil {
		return fmt.Errorf("%w; a copy to the retry topic: %w", err, err2)
	}
	return nil
}

func (p *PushConsumer) sendBackToStore(ctx context.Context, mq protocol.MessageQueue, m *protocol.MessageExt, level int32) error {
	addr, err := p.client.BrokerAddr(mq.BrokerName)
	if err != nil && m.StoreHost.IsValid() {
		addr, err = m.StoreHost.String(), nil
	}
	if err != nil {
		return err
	}
	limit := p.maxReconsume()
	req := &protocol.ConsumerSendMsgBackRequest{
		Offset: m.CommitLogOffset, Group: p.group, DelayLevel: level, OriginMsgID: m.MessageID(), OriginTopic: m.Topic,
		MaxReconsumeTimes: &limit, BrokerName: mq.BrokerName,
	}
	_, err = p.client.CallHeader(ctx, addr, req, nil, nil)
	return err
}

// firstRetryLevel is the delay level of the first retry: 10 seconds.
const firstRetryLevel = 3

// sendToRetryTopic sends a copy of m to the group's retry topic, or beyond its attempts to the dead-letter topic, which
// the broker decides by the two reconsume fields.
func (p *PushConsumer) sendToRetryTopic(ctx context.Context, m *protocol.MessageExt, level int32) error {
	topic := protocol.RetryTopic(p.group)
	route, err := p.client.Route(ctx, topic)
	if err != nil {
		return err
	}
	if len(route.Publish) == 0 {
		return fmt.Errorf("topic %s has no queue to write", topic)
	}
	mq := route.Publish[int(m.QueueOffset)%len(route.Publish)]
	addr, err := p.client.BrokerAddr(mq.BrokerName)
	if err != nil {
		return err
	}
	props := m.Properties()
	props.Delete(protocol.PropertyTransPrepared)
	props.Set(protocol.PropertyRetryTopic, m.Topic)
	if _, ok := props.Get(protocol.PropertyOriginMessageID); !ok {
		props.Set(protocol.PropertyOriginMessageID, m.OffsetID())
	}
	if level <= 0 {
		level = firstRetryLevel + m.ReconsumeTimes
	}
	props.Set(protocol.PropertyDelayLevel, strconv.Itoa(int(level)))
	attempts, limit := m.ReconsumeTimes+1, p.maxReconsume()
	req := &protocol.SendMessageV2Request{
		A: protocol.InnerProducerGroup, B: topic, C: protocol.AutoCreateTopic, D: defaultTopicQueues, E: mq.QueueID,
		F: m.SysFlag &^ (protocol.FlagBornHostV6 | protocol.FlagStoreHostV6 | protocol.FlagTransRollback),
		G: time.Now().UnixMilli(), H: m.Flag, I: props.String(), J: attempts, L: &limit, N: mq.BrokerName,
	}
	body := m.StoredBody
	if body == nil {
		body = m.Body
	}
	_, err = p.client.CallHeader(ctx, addr, req, body, nil)
	return err
}
