package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// Result is what a handler makes of a batch, Java's ConsumeConcurrentlyStatus and ConsumeOrderlyStatus.
type Result uint8

// The results. Only Success lets the commit pass the batch by itself.
const (
	// Success: the batch is finished, or as much of it as Batch.Acked says.
	Success Result = iota
	// Later: concurrent mode hands the messages back to the broker, to be delivered again after a delay; orderly mode
	// waits and delivers the same batch again.
	Later
	// Commit and Rollback are for orderly handlers that set Batch.ManualCommit, Java's COMMIT and ROLLBACK: everything handed
	// out since the last Commit is finished, or is handed out again after a pause.
	Commit
	Rollback
	// Leave: neither acknowledged nor handed back. The messages stay unfinished until this member gives the queue up,
	// and then belong to the next one. It is for a member that is about to stop.
	Leave
)

// Batch is what a handler gets: messages of one queue in offset order, at most ConsumerConfig.BatchSize of them.
type Batch struct {
	Queue    protocol.MessageQueue
	Messages []*protocol.MessageExt
	// Epoch is the reading of the queue that the messages come from, see Event; 0 for a message that was brought here to
	// be tried.
	Epoch int64
	// Acked may be lowered by the handler: with Success, the messages from this index on are treated as Later. Java's
	// ackIndex plus one. Default: all.
	Acked int
	// ManualCommit may be set by an orderly handler: Success then lets the queue go on without finishing the batch, until
	// Commit finishes or Rollback takes back everything since. Java's autoCommit=false.
	ManualCommit bool
	// DelayLevel of messages that go back, 1–18; 0 lets the broker raise it with each attempt, -1 sends them to the
	// dead-letter topic. Java's delayLevelWhenNextConsume.
	DelayLevel int32
}

// Handler consumes one batch. It runs on a worker; ctx ends when a stop can wait no longer. A panic counts as Later.
type Handler func(ctx context.Context, b *Batch) Result

// Subscription asks for a topic, filtered by an expression.
type Subscription struct {
	Topic string
	// Expression: "" or "*" for everything, "A || B" for tags, SQL92 when SQL is set.
	Expression string
	SQL        bool
}

// DefaultCacheTotal is what a consumer caches at most in all its queues, in bytes.
const DefaultCacheTotal = 256 << 20

// ConsumerConfig configures a push consumer, Java's DefaultMQPushConsumer. The zero value of every field but Group,
// Subscriptions and Handler is its default.
type ConsumerConfig struct {
	Group         string
	Subscriptions []Subscription
	Handler       Handler
	// Model is protocol.Clustering (each message to one member) unless it is protocol.Broadcasting.
	Model protocol.MessageModel
	// Orderly consumes each queue strictly in order, one batch at a time.
	Orderly bool
	// From is where queues without a committed offset begin.
	From From
	// Allocate divides queues among members. Default: averagely.
	Allocate Allocate
	// LocalOffsets is the folder of broadcasting offsets. Default: .rocketmq_offsets in the home folder, as in Java.
	LocalOffsets string
	// NeverCommit saves no offset and hands nothing back: the next member gets everything again.
	NeverCommit bool
	// CommitInPull also sends the commit along with each pull, as Java does. Default: only requests with an answer commit.
	// A pull can overtake such a request on its way, so that the commit falls for a moment, and the pull that learns of an
	// offset reset puts the old offset back.
	CommitInPull bool `x:"commit-in-pull" help:"send the commit along with each pull too, as Java does; it can undo an offset reset"`
	// MaxBody bounds one unpacked body in bytes. Default: 16 MiB.
	MaxBody int

	Workers       int           `x:"workers" range:"1..1000" help:"threads that run the handler (consumeThreadMax)"`
	BatchSize     int           `x:"consume-batch" range:"1..1024" help:"most messages handed to the handler at once (consumeMessageBatchMaxSize)"`
	PullBatchSize int           `x:"pull-batch" range:"1..1024" help:"most messages asked for in one pull (pullBatchSize); brokers give 32 at most"`
	PullInterval  time.Duration `x:"pull-interval" range:"0..65s" help:"pause between pulls (pullInterval)"`
	LongPoll      time.Duration `x:"long-poll" range:"1s..5m" help:"how long brokers hold a pull while there is nothing (brokerSuspendMaxTimeMillis)"`
	PullTimeout   time.Duration `x:"pull-timeout" range:"2s..10m" help:"time limit of one pull; must exceed long-poll (consumerTimeoutMillisWhenSuspend)"`

	MaxCachedCount      int64 `x:"max-cached-count" range:"1..65535" help:"messages cached per queue before pulling holds back (pullThresholdForQueue)"`
	MaxCachedMiB        int64 `x:"max-cached-mib" range:"1..1024" unit:"MiB" help:"MiB cached per queue before pulling holds back (pullThresholdSizeForQueue)"`
	MaxSpan             int64 `x:"max-span" range:"1..65535" help:"largest distance of cached offsets per queue, concurrent mode (consumeConcurrentlyMaxSpan)"`
	MaxCachedCountTopic int64 `x:"max-cached-count-topic" range:"-1..6553500" help:"messages cached per topic, divided over its queues; -1 is off (pullThresholdForTopic)"`
	MaxCachedMiBTopic   int64 `x:"max-cached-mib-topic" range:"-1..102400" unit:"MiB" help:"MiB cached per topic, divided over its queues; -1 is off (pullThresholdSizeForTopic)"`
	CacheTotal          int64 `x:"cache-total" range:"1048576..1099511627776" unit:"bytes" help:"bytes cached by the whole consumer before pulling holds back"`

	PullErrorPause    time.Duration `x:"pull-error-pause" range:"10ms..5m" help:"pause after a failed pull (pullTimeDelayMillsWhenException)"`
	MaxReconsume      int32         `x:"max-reconsume" range:"-1..1000" help:"attempts before a message goes to the dead-letter topic (maxReconsumeTimes); -1: 16 concurrent, no limit orderly"`
	LocalRetryPause   time.Duration `x:"local-retry-pause" range:"10ms..5m" help:"pause before a message whose send-back failed is handled again"`
	SuspendPause      time.Duration `x:"suspend-pause" range:"10ms..30s" help:"pause before an orderly batch is delivered again (suspendCurrentQueueTimeMillis)"`
	ConsumeTimeout    time.Duration `x:"consume-timeout" range:"1s..24h" help:"concurrent mode: a message handled for longer is sent back (consumeTimeout)"`
	DrainTimeout      time.Duration `x:"drain-timeout" range:"0..1h" help:"how long a stop waits for running handlers"`
	FlowControlPause  time.Duration `x:"flow-control-pause" range:"1ms..10s" help:"pause of a queue that flow control holds back"`
	QueueChangeNotify func(assigned, revoked []protocol.MessageQueue)
	// OnEvent hears when a queue is taken and dropped, as it happens and before anything that follows from it. It must
	// return soon and must not call the consumer.
	OnEvent func(Event)
}

func (c ConsumerConfig) withDefaults() ConsumerConfig {
	orDefault(&c.Model, protocol.Clustering)
	orDefault(&c.MaxBody, protocol.DefaultMaxBody)
	orDefault(&c.Workers, 20)
	orDefault(&c.BatchSize, 1)
	orDefault(&c.PullBatchSize, 32)
	orDefault(&c.LongPoll, 15*time.Second)
	orDefault(&c.PullTimeout, 30*time.Second)
	orDefault(&c.MaxCachedCount, 1000)
	orDefault(&c.MaxCachedMiB, 100)
	orDefault(&c.MaxSpan, 2000)
	orDefault(&c.MaxCachedCountTopic, -1)
	orDefault(&c.MaxCachedMiBTopic, -1)
	orDefault(&c.CacheTotal, DefaultCacheTotal)
	orDefault(&c.PullErrorPause, time.Second)
	orDefault(&c.MaxReconsume, -1)
	orDefault(&c.LocalRetryPause, 5*time.Second)
	orDefault(&c.SuspendPause, time.Second)
	orDefault(&c.ConsumeTimeout, 15*time.Minute)
	orDefault(&c.DrainTimeout, 10*time.Second)
	orDefault(&c.FlowControlPause, 50*time.Millisecond)
	if c.Allocate == nil {
		c.Allocate = AllocateAveragely
	}
	if c.From.Where == FromTimestamp && c.From.Time.IsZero() {
		c.From.Time = time.Now().Add(-30 * time.Minute)
	}
	return c
}

// Validate joins everything that is wrong with c.
func (c ConsumerConfig) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if err := ValidateGroup(c.Group); err != nil {
		errs = append(errs, err)
	}
	bad(c.Group == "DEFAULT_CONSUMER", "group DEFAULT_CONSUMER is reserved")
	bad(c.Handler == nil, "no handler")
	bad(len(c.Subscriptions) == 0, "no topic")
	seen := map[string]bool{}
	for _, s := range c.Subscriptions {
		if err := ValidateTopic(s.Topic); err != nil {
			errs = append(errs, err)
		}
		bad(seen[s.Topic], "topic %s is subscribed twice", s.Topic)
		seen[s.Topic] = true
	}
	bad(c.Workers < 1 || c.Workers > 1000, "workers: %d is not between 1 and 1000", c.Workers)
	bad(c.BatchSize < 1 || c.BatchSize > 1024, "consume-batch: %d is not between 1 and 1024", c.BatchSize)
	bad(c.PullBatchSize < 1 || c.PullBatchSize > 1024, "pull-batch: %d is not between 1 and 1024", c.PullBatchSize)
	bad(c.MaxCachedCount < 1 || c.MaxCachedCount > 65535, "max-cached-count: %d is not between 1 and 65535", c.MaxCachedCount)
	bad(c.MaxCachedMiB < 1 || c.MaxCachedMiB > 1024, "max-cached-mib: %d is not between 1 and 1024", c.MaxCachedMiB)
	bad(c.MaxSpan < 1 || c.MaxSpan > 65535, "max-span: %d is not between 1 and 65535", c.MaxSpan)
	bad(c.PullTimeout <= c.LongPoll, "pull-timeout %s must exceed long-poll %s", c.PullTimeout, c.LongPoll)
	bad(c.From.Where == FromCustom && c.From.At == nil, "custom start without a function")
	return errors.Join(errs...)
}
