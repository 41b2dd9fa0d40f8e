package client_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// bulkSize is how many messages TestBulk sends besides the twenty large ones.
func bulkSize(k *testcluster.Cluster) int {
	if k.IsReal() {
		return 20_000
	}
	return 1_500
}

// bulkMessage is message i of n: a body of 1 B to 256 KiB (log-uniform), the last twenty of 1 MiB, compressible in
// parts, with tags, keys and properties that are not ASCII.
func bulkMessage(topic string, i, n int) *protocol.Message {
	r := rand.New(rand.NewPCG(7, uint64(i)))
	size := int(math.Exp(r.Float64() * math.Log(256<<10)))
	if i >= n-20 {
		size = 1 << 20
	}
	body := make([]byte, max(size, 1))
	for j := range body {
		body[j] = byte(r.Uint32())
		if i%3 > 0 {
			body[j] = "abcdefgh 订单\n"[j%16]
		}
	}
	sum := sha256.Sum256(body)
	m := &protocol.Message{Topic: topic, Body: body, Flag: int32(i)}
	m.Properties.Set(protocol.PropertyTags, "Tag"+strconv.Itoa(i%3))
	m.Properties.Set(protocol.PropertyKeys, fmt.Sprintf("key-%d 键%d", i, i))
	m.Properties.Set("seq", strconv.Itoa(i))
	m.Properties.Set("hash", hex.EncodeToString(sum[:]))
	m.Properties.Set("kind", "größe/尺寸/"+strconv.Itoa(size))
	return m
}

// bulkSeen is what the members of a group got.
type bulkSeen struct {
	t  *testing.T
	mu sync.Mutex
	n  map[int]int
}

func (s *bulkSeen) handle(_ context.Context, b *client.Batch) client.Result {
	for _, m := range b.Messages {
		seq, err := strconv.Atoi(m.Property("seq"))
		sum := sha256.Sum256(m.Body)
		switch {
		case err != nil || m.BodyErr != nil:
			s.t.Errorf("%s at %d: seq %q, body error %v", b.Queue, m.QueueOffset, m.Property("seq"), m.BodyErr)
		case hex.EncodeToString(sum[:]) != m.Property("hash"):
			s.t.Errorf("message %d: the body of %d bytes is not what was sent", seq, len(m.Body))
		case m.Tags() != "Tag"+strconv.Itoa(seq%3) || m.Keys() != fmt.Sprintf("key-%d 键%d", seq, seq) || m.Flag != int32(seq) ||
			!strings.HasPrefix(m.Property("kind"), "größe/尺寸/"):
			s.t.Errorf("message %d: tags %q keys %q flag %d properties %v", seq, m.Tags(), m.Keys(), m.Flag, m.Properties())
		}
		s.mu.Lock()
		s.n[seq]++
		s.mu.Unlock()
	}
	return client.Success
}

func (s *bulkSeen) distinct() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.n)
}

// TestBulk sends messages of all sizes and compressions and consumes them in a group of three while a fourth member joins
// and one leaves: every message arrives unharmed, and the commits equal the ends.
func TestBulk(t *testing.T) {
	k := testcluster.New(t)
	topic, group := k.Topic(8), k.Group()
	n := bulkSize(k) + 20
	seen := &bulkSeen{t: t, n: map[int]int{}}
	members := []*client.PushConsumer{}
	join := func() { members = append(members, consume(t, k.Client(), group, topic, seen.handle)) }
	for range 3 {
		join()
	}
	var g errgroup.Group
	for c := range 4 {
		g.Go(func() error { return bulkSend(t, k, topic, n, c) })
	}
	testcluster.Eventually(t, 5*time.Minute, "a third of the messages", func() bool { return seen.distinct() >= n/3 })
	join()
	testcluster.Eventually(t, 5*time.Minute, "half of the messages", func() bool { return seen.distinct() >= n/2 })
	closeNow(t, members[0])
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	testcluster.Eventually(t, 5*time.Minute, "all messages", func() bool { return seen.distinct() >= n })
	for _, m := range members[1:] {
		closeNow(t, m)
	}
	twice := 0
	for seq := range n {
		if seen.n[seq] > 1 {
			twice++
		}
	}
	if twice > n/20 {
		t.Errorf("%d of %d messages came more than once with two changes of members", twice, n)
	}
	c := k.Client()
	for _, mq := range queues(t, c, topic) {
		end, err := c.MaxOffset(t.Context(), mq)
		if err != nil {
			t.Fatal(err)
		}
		if got := committed(t, c, group, mq); got != end {
			t.Errorf("%s is committed at %d, its end is %d", mq, got, end)
		}
	}
	t.Logf("%d messages, %d more than once", n, twice)
}

// bulkSend sends every fourth message, by a producer that compresses in its own way.
func bulkSend(t *testing.T, k *testcluster.Cluster, topic string, n, part int) error {
	cfg := client.ProducerConfig{Group: k.Group(), SendTimeout: 30 * time.Second}
	switch part {
	case 0:
		cfg.CompressOver = -1
	case 1:
		cfg.Compress = protocol.CompressZlib
	case 2:
		cfg.Compress = protocol.CompressLZ4
	case 3:
		cfg.Compress = protocol.CompressZstd
	}
	p, err := k.Client().StartProducer(t.Context(), cfg)
	if err != nil {
		return err
	}
	for i := part; i < n; i += 4 {
		if _, err := p.Send(t.Context(), bulkMessage(topic, i, n)); err != nil {
			return fmt.Errorf("message %d: %w", i, err)
		}
	}
	return nil
}
