package client

import (
	"errors"
	"fmt"
	"time"

	"mqctl/internal/protocol"
)

// defaultTopicQueues is how many queues an automatically created topic gets, Java's defaultTopicQueueNums.
const defaultTopicQueues = 4

// DefaultProducerGroup is the group of a producer that names none. Groups of producers matter to brokers only for asking
// back about transactions.
const DefaultProducerGroup = "mqctl-producer"

// ProducerConfig configures a Producer, Java's DefaultMQProducer. The zero value of every field is its default.
type ProducerConfig struct {
	// Group is the producer group. Default: DefaultProducerGroup. DEFAULT_PRODUCER is refused, as in Java.
	Group string
	// AutoCreate sends a message for an unknown topic to the brokers that serve DefaultTopic, which then create the topic
	// if they are allowed to. Java always does. Default: an unknown topic is ErrTopicNotFound.
	AutoCreate bool
	// DefaultTopic is the template of topics that are created by a send, Java's createTopicKey. Default: TBW102.
	DefaultTopic string
	// Compress is how large bodies are packed. Default: zlib, which every client can read; see CompressOver.
	Compress protocol.Compression

	// SendTimeout bounds a send as a whole: route, connection and every attempt. Default: 3 s, Java's sendMsgTimeout.
	SendTimeout time.Duration `x:"send-timeout" range:"10ms..10m" help:"time limit of one send with all its attempts (sendMsgTimeout)"`
	// AttemptTimeout bounds one attempt, so that a broker that does not answer leaves time for another. Default: only
	// SendTimeout counts. Java's sendMsgMaxTimeoutPerRequest.
	AttemptTimeout time.Duration `x:"attempt-timeout" range:"0..10m" help:"time limit of one attempt; 0 leaves it all of send-timeout (sendMsgMaxTimeoutPerRequest)"`
	// RetriesSync is how often Send and SendBatch try again. Default: 2; -1 is never. Java's retryTimesWhenSendFailed.
	RetriesSync int `x:"retries-sync" range:"-1..16" help:"further attempts of a synchronous send; -1 is none (retryTimesWhenSendFailed)"`
	// RetriesAsync is the same for SendAsync. Default: 2; -1 is never. Java's retryTimesWhenSendAsyncFailed.
	RetriesAsync int `x:"retries-async" range:"-1..16" help:"further attempts of an asynchronous send; -1 is none (retryTimesWhenSendAsyncFailed)"`
	// RetryNotStoreOK sends again, to another broker, what was stored with a weaker guarantee than the broker is set up
	// for (SendStatus other than SendOK). The message then exists twice. Java's retryAnotherBrokerWhenNotStoreOK.
	RetryNotStoreOK bool `x:"retry-not-store-ok" help:"send again what was stored but not flushed or replicated in time (retryAnotherBrokerWhenNotStoreOK)"`
	// LatencyFault leaves out brokers that failed or answered slowly, for a while. Java's sendLatencyFaultEnable.
	LatencyFault bool `x:"latency-fault" help:"avoid brokers that were slow or failing, for a while (sendLatencyFaultEnable)"`

	// MaxMessageSize bounds a body before it is packed, and the body of a batch, in bytes. Default: 4 MiB, as in Java.
	MaxMessageSize int `x:"max-message-size" unit:"bytes" range:"1..1073741824" help:"largest body (maxMessageSize); brokers have a limit of their own"`
	// CompressOver is the size in bytes from which bodies are packed; -1 is never. Default: 4096. Java's
	// compressMsgBodyOverHowmuch.
	CompressOver int `x:"compress-over" unit:"bytes" range:"-1..1073741824" help:"bodies of this size and more are packed; -1 is never (compressMsgBodyOverHowmuch)"`
	// CompressLevel is 1 (fast) to 9 (small). Default: 5, as in Java.
	CompressLevel int `x:"compress-level" range:"1..9" help:"1 is fast, 9 is small"`
	// MaxInFlight bounds the asynchronous sends that wait for an answer; SendAsync waits beyond it. Default: 1024, Java's
	// backPressureForAsyncSendNum.
	MaxInFlight int64 `x:"max-in-flight" range:"1..1048576" help:"asynchronous sends under way before further ones wait (backPressureForAsyncSendNum)"`
	// MaxInFlightMiB is the same for the bytes of their bodies. Default: 100 MiB, Java's backPressureForAsyncSendSize.
	MaxInFlightMiB int64 `x:"max-in-flight-mib" range:"1..65536" unit:"MiB" help:"MiB of asynchronous sends under way before further ones wait (backPressureForAsyncSendSize)"`
	// DefaultTopicQueues is how many queues a topic gets that a send creates. Default: 4, Java's defaultTopicQueueNums.
	DefaultTopicQueues int32 `x:"default-topic-queues" range:"1..65535" help:"queues of a topic that a send creates (defaultTopicQueueNums)"`
}

func (c ProducerConfig) withDefaults() ProducerConfig {
	orDefault(&c.Group, DefaultProducerGroup)
	orDefault(&c.DefaultTopic, protocol.AutoCreateTopic)
	orDefault(&c.Compress, protocol.CompressZlib)
	orDefault(&c.SendTimeout, 3*time.Second)
	orDefault(&c.RetriesSync, 2)
	orDefault(&c.RetriesAsync, 2)
	orDefault(&c.MaxMessageSize, 4<<20)
	orDefault(&c.CompressOver, 4096)
	orDefault(&c.CompressLevel, protocol.DefaultCompressLevel)
	orDefault(&c.MaxInFlight, 1024)
	orDefault(&c.MaxInFlightMiB, 100)
	orDefault(&c.DefaultTopicQueues, defaultTopicQueues)
	return c
}

// Validate joins everything that is wrong with c; zero fields are judged as they are, so apply the defaults first.
func (c ProducerConfig) Validate() error {
	var errs []error
	bad := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	if err := ValidateGroup(c.Group); err != nil {
		errs = append(errs, err)
	}
	bad(c.Group == "DEFAULT_PRODUCER", "group DEFAULT_PRODUCER is reserved")
	if err := ValidateTopic(c.DefaultTopic); err != nil {
		errs = append(errs, fmt.Errorf("default topic: %w", err))
	}
	bad(c.Compress > protocol.CompressZstd, "unknown compression %d", c.Compress)
	bad(c.SendTimeout < 10*time.Millisecond || c.SendTimeout > 10*time.Minute, "send-timeout: %s is not between 10ms and 10m", c.SendTimeout)
	bad(c.AttemptTimeout < 0 || c.AttemptTimeout > 10*time.Minute, "attempt-timeout: %s is not between 0 and 10m", c.AttemptTimeout)
	bad(c.RetriesSync < -1 || c.RetriesSync > 16, "retries-sync: %d is not between -1 and 16", c.RetriesSync)
	bad(c.RetriesAsync < -1 || c.RetriesAsync > 16, "retries-async: %d is not between -1 and 16", c.RetriesAsync)
	bad(c.MaxMessageSize < 1 || c.MaxMessageSize > 1<<30, "max-message-size: %d is not between 1 and %d", c.MaxMessageSize, 1<<30)
	bad(c.CompressOver < -1 || c.CompressOver == 0, "compress-over: %d is neither -1 nor positive", c.CompressOver)
	bad(c.CompressLevel < 1 || c.CompressLevel > 9, "compress-level: %d is not between 1 and 9", c.CompressLevel)
	bad(c.MaxInFlight < 1 || c.MaxInFlight > 1<<20, "max-in-flight: %d is not between 1 and %d", c.MaxInFlight, 1<<20)
	bad(c.MaxInFlightMiB < 1 || c.MaxInFlightMiB > 1<<16, "max-in-flight-mib: %d is not between 1 and %d", c.MaxInFlightMiB, 1<<16)
	bad(c.DefaultTopicQueues < 1 || c.DefaultTopicQueues > 65535, "default-topic-queues: %d is not between 1 and 65535", c.DefaultTopicQueues)
	return errors.Join(errs...)
}
