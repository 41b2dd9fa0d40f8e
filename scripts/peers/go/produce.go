package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	rocketmq "github.com/apache/rocketmq-client-go/v2"
	"github.com/apache/rocketmq-client-go/v2/primitive"
	"github.com/apache/rocketmq-client-go/v2/producer"
)

// sent is the line for one acknowledged message.
type sent struct {
	Seq         int    `json:"seq"`
	Broker      string `json:"broker"`
	Queue       int    `json:"queue"`
	Offset      int64  `json:"offset"`
	MsgID       string `json:"msgId"`
	OffsetMsgID string `json:"offsetMsgId"`
	Tags        string `json:"tags"`
	Keys        string `json:"keys"`
	Length      int    `json:"length"`
	SHA256      string `json:"sha256"`
}

type produceOptions struct {
	keys, tags, props, tx   string
	size, batch, order, lvl int
}

func produce(ctx context.Context, args []string) error {
	options := flag.NewFlagSet("produce", flag.ContinueOnError)
	var o produceOptions
	options.StringVar(&o.keys, "keys", "", "")
	options.StringVar(&o.tags, "tags", "", "")
	options.StringVar(&o.props, "props", "", "")
	options.StringVar(&o.tx, "tx", "", "")
	options.IntVar(&o.size, "size", 64, "")
	options.IntVar(&o.batch, "batch", 1, "")
	options.IntVar(&o.order, "order", 0, "")
	options.IntVar(&o.lvl, "delay-level", 0, "")
	keys := keyOptions(options)
	a, err := split(args, 3, options)
	if err != nil {
		return err
	}
	n, err := number(a[2])
	if err != nil {
		return err
	}
	settings := []producer.Option{producer.WithNameServer([]string{a[0]}), producer.WithGroupName("peer_go_producer"), producer.WithRetry(2),
		// The default of 3 s is short for a busy machine.
		producer.WithSendMsgTimeout(15 * time.Second)}
	if keys.AccessKey != "" {
		settings = append(settings, producer.WithCredentials(*keys))
	}
	if o.order > 0 {
		settings = append(settings, producer.WithQueueSelector(producer.NewHashQueueSelector()))
	}
	if o.tx != "" {
		return produceTx(ctx, a[1], n, o, settings)
	}
	p, err := rocketmq.NewProducer(settings...)
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	for seq := 0; seq < n; seq += o.batch {
		batch := make([]*primitive.Message, 0, o.batch)
		for i := seq; i < min(seq+o.batch, n); i++ {
			batch = append(batch, message(a[1], i, o))
		}
		r, err := p.SendSync(ctx, batch...)
		if err != nil {
			return fmt.Errorf("send %d: %w", seq, err)
		}
		if r.Status != primitive.SendOK {
			return fmt.Errorf("send %d: status %d", seq, r.Status)
		}
		printSent(seq, batch, r)
	}
	return p.Shutdown()
}

// message makes the message of a sequence number: the number alone decides every byte of it.
func message(topic string, seq int, o produceOptions) *primitive.Message {
	m := primitive.NewMessage(topic, body(seq, o.size))
	m.WithProperty("seq", strconv.Itoa(seq))
	for pair := range strings.SplitSeq(o.props, ",") {
		if k, v, ok := strings.Cut(pair, "="); ok {
			m.WithProperty(k, v)
		}
	}
	if o.keys != "" {
		m.WithKeys([]string{o.keys + strconv.Itoa(seq)})
	}
	if o.tags != "" {
		tags := strings.Split(o.tags, ",")
		m.WithTag(tags[seq%len(tags)])
	}
	if o.order > 0 {
		m.WithShardingKey("shard-" + strconv.Itoa(seq%o.order))
	}
	if o.lvl > 0 {
		m.WithDelayTimeLevel(o.lvl)
	}
	return m
}

// body is "message SEQ " repeated and cut to size bytes; both drivers make the same.
func body(seq, size int) []byte {
	word := fmt.Sprintf("message %d ", seq)
	return []byte(strings.Repeat(word, size/len(word)+1)[:size])
}

// printSent prints a line for each message of a batch: the broker answers with the first one's offset and all ids.
func printSent(seq int, batch []*primitive.Message, r *primitive.SendResult) {
	ids, offsetIDs := strings.Split(r.MsgID, ","), strings.Split(r.OffsetMsgID, ",")
	for i, m := range batch {
		printJSON(sent{
			Seq: seq + i, Broker: r.MessageQueue.BrokerName, Queue: r.MessageQueue.QueueId, Offset: r.QueueOffset + int64(i),
			MsgID: at(ids, i), OffsetMsgID: at(offsetIDs, i), Tags: m.GetTags(), Keys: m.GetKeys(), Length: len(m.Body), SHA256: hash(m.Body),
		})
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

func hash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func printJSON(v any) {
	if err := json.NewEncoder(os.Stdout).Encode(v); err != nil {
		fmt.Fprintln(os.Stderr, "peer-go: write:", err)
		os.Exit(1)
	}
}

// listener decides every transaction as the options say; a check-back always commits.
type listener struct {
	state primitive.LocalTransactionState
}

func (l listener) ExecuteLocalTransaction(*primitive.Message) primitive.LocalTransactionState {
	return l.state
}

func (l listener) CheckLocalTransaction(*primitive.MessageExt) primitive.LocalTransactionState {
	return primitive.CommitMessageState
}

// produceTx sends transactional messages one by one. Its lines name the half message's queue, not where a committed one ends up.
func produceTx(ctx context.Context, topic string, n int, o produceOptions, settings []producer.Option) error {
	state, ok := map[string]primitive.LocalTransactionState{
		"commit": primitive.CommitMessageState, "rollback": primitive.RollbackMessageState, "unknown": primitive.UnkonwnState,
	}[o.tx]
	if !ok {
		return fmt.Errorf("%w: --tx takes commit, rollback or unknown", errUsage)
	}
	p, err := rocketmq.NewTransactionProducer(listener{state}, settings...)
	if err != nil {
		return err
	}
	if err := p.Start(); err != nil {
		return err
	}
	for seq := range n {
		m := message(topic, seq, o)
		r, err := p.SendMessageInTransaction(ctx, m)
		if err != nil {
			return fmt.Errorf("send %d: %w", seq, err)
		}
		printSent(seq, []*primitive.Message{m}, r.SendResult)
	}
	return p.Shutdown()
}
