package client

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/protocol"
	"mqctl/internal/stats"
)

// runningInfo is what this consumer tells an admin tool, Java's ConsumerRunningInfo. It is made from the same snapshot
// as everything else that is shown; properties that begin with mqctl.fc. carry what Java's format has no place for.
func (p *PushConsumer) runningInfo() *protocol.ConsumerRunningInfo {
	s := p.snapshot(time.Now())
	info := &protocol.ConsumerRunningInfo{
		Properties: p.properties(s), MQTable: map[protocol.MessageQueue]protocol.ProcessQueueInfo{},
		MQPopTable:  map[protocol.MessageQueue]protocol.PopProcessQueueInfo{},
		StatusTable: p.status.table(time.Now()), UserConsumerInfo: map[string]string{},
	}
	set := *p.subscriptions.Load()
	for _, t := range set.topics() {
		info.SubscriptionSet = append(info.SubscriptionSet, *set[t])
	}
	slices.SortFunc(info.SubscriptionSet, func(a, b protocol.SubscriptionData) int {
		return strings.Compare(a.Topic+"@"+a.SubString, b.Topic+"@"+b.SubString)
	})
	for _, q := range s.Queues {
		mq := protocol.MessageQueue{Topic: q.Topic, BrokerName: q.Broker, QueueID: q.QueueID}
		info.MQTable[mq] = p.processQueueInfo(mq, q)
	}
	return info
}

func (p *PushConsumer) processQueueInfo(mq protocol.MessageQueue, q stats.Queue) protocol.ProcessQueueInfo {
	info := protocol.ProcessQueueInfo{
		CachedMsgCount: int32(q.CachedCount), CachedMsgSizeInMiB: int32(q.CachedBytes >> 20),
		CachedMsgMinOffset: orZero(q.MinOffset), CachedMsgMaxOffset: orZero(q.MaxOffset), CommitOffset: orZero(q.Consumable),
		Locked: q.Locked, Dropped: q.Dropped, LastPullTimestamp: msOrZero(q.LastPull), LastConsumeTimestamp: msOrZero(q.LastConsume),
	}
	if a := p.table.get(mq); a != nil && p.cfg.Orderly {
		info.LastLockTimestamp = msOrZero(a.lockedAt.Load())
		if e := a.epoch.Load(); e != nil {
			setInHand(&info, e.pq.HandedOut())
		}
	}
	return info
}

// setInHand fills in what an orderly handler has in hand, which Java calls a transaction.
func setInHand(info *protocol.ProcessQueueInfo, msgs []*protocol.MessageExt) {
	if n := len(msgs); n > 0 {
		info.TransactionMsgCount = int32(n)
		info.TransactionMsgMinOffset, info.TransactionMsgMaxOffset = msgs[0].QueueOffset, msgs[n-1].QueueOffset
	}
}

func orZero(v *int64) int64 {
	if v == nil {
		return 0
	}
	return *v
}

func msOrZero(t *time.Time) int64 {
	if t == nil {
		return 0
	}
	return t.UnixMilli()
}

// properties is every setting under its Java name, and the counters of flow control per queue and kind.
func (p *PushConsumer) properties(s stats.Consumer) map[string]string {
	itoa := func(n int64) string { return strconv.FormatInt(n, 10) }
	ms := func(d time.Duration) string { return itoa(d.Milliseconds()) }
	c := p.cfg
	props := map[string]string{
		protocol.PropNameServerAddr:          strings.Join(p.client.names.list(), ";") + ";",
		protocol.PropConsumeType:             string(protocol.ConsumePassively),
		protocol.PropClientVersion:           protocol.MQVersion(protocol.CurrentVersion).String(),
		protocol.PropConsumerStartTimestamp:  itoa(p.started.UnixMilli()),
		protocol.PropThreadPoolCoreSize:      strconv.Itoa(s.Workers),
		protocol.PropConsumeOrderly:          strconv.FormatBool(c.Orderly),
		"consumerGroup":                      c.Group,
		"messageModel":                       string(c.Model),
		"consumeFromWhere":                   string(c.From.Where.wireName()),
		"consumeThreadMin":                   strconv.Itoa(s.Workers),
		"consumeThreadMax":                   strconv.Itoa(s.Workers),
		"consumeMessageBatchMaxSize":         strconv.Itoa(c.BatchSize),
		"pullBatchSize":                      strconv.Itoa(c.PullBatchSize),
		"pullInterval":                       ms(c.PullInterval),
		"pullThresholdForQueue":              itoa(c.MaxCachedCount),
		"pullThresholdSizeForQueue":          itoa(c.MaxCachedMiB),
		"pullThresholdForTopic":              itoa(c.MaxCachedCountTopic),
		"pullThresholdSizeForTopic":          itoa(c.MaxCachedMiBTopic),
		"consumeConcurrentlyMaxSpan":         itoa(c.MaxSpan),
		"consumeTimeout":                     itoa(int64(c.ConsumeTimeout / time.Minute)),
		"maxReconsumeTimes":                  strconv.Itoa(int(c.MaxReconsume)),
		"suspendCurrentQueueTimeMillis":      ms(c.SuspendPause),
		"awaitTerminationMillisWhenShutdown": ms(c.DrainTimeout),
		"mqctl.cache_total":                  itoa(c.CacheTotal),
	}
	for _, q := range s.Queues {
		key := "mqctl.fc." + q.Topic + "." + q.Broker + "." + strconv.Itoa(int(q.QueueID)) + "."
		for kind, n := range map[string]int64{
			"count": q.Hits.Count, "size": q.Hits.Size, "span": q.Hits.Span, "total": q.Hits.Total, "broker": q.Hits.Broker,
			"blocked_ms": q.Blocked.Milliseconds(), "cached_bytes": q.CachedBytes, "span_now": q.Span,
		} {
			props[key+kind] = itoa(n)
		}
	}
	return props
}
