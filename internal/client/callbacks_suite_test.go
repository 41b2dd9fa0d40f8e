package client_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"mqctl/internal/client"
	"mqctl/internal/protocol"
	"mqctl/internal/testcluster"
)

// C07: an admin resets a group whose members are at work, whatever the broker makes of it: new ones keep the reset until
// they are pulled, old ones push it to the members. Everything comes again, and the commit ends where the queue does.
func TestC07_RunningConsumerIsReset(t *testing.T) {
	for _, orderly := range []bool{false, true} {
		t.Run("orderly="+strconv.FormatBool(orderly), func(t *testing.T) {
			k := testcluster.New(t)
			topic, group := k.Topic(2), k.Group()
			c := k.Client()
			mqs := fill(t, c, topic, 40)
			var in inbox
			p := consume(t, c, group, topic, in.handle, func(cfg *client.ConsumerConfig) { cfg.Orderly, cfg.LongPoll = orderly, time.Second })
			testcluster.Eventually(t, patience, "40 messages", func() bool { return in.count() == 40 })
			commits := func() {
				t.Helper()
				for _, mq := range mqs {
					end, err := c.MaxOffset(t.Context(), mq)
					if err != nil {
						t.Fatal(err)
					}
					testcluster.Eventually(t, patience, "the commit of "+mq.String(), func() bool { return committed(t, c, group, mq) == end })
				}
			}
			commits()
			var told []protocol.MessageQueue
			for _, broker := range brokersOf(mqs) {
				addr, err := c.BrokerAddr(broker)
				if err != nil {
					t.Fatal(err)
				}
				reset := &protocol.InvokeBrokerToResetOffsetRequest{Topic: topic, Group: group, Timestamp: 0, IsForce: true}
				resp, err := c.CallHeader(t.Context(), addr, reset, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				body, err := protocol.DecodeResetOffsetBody(resp.Body)
				if err != nil {
					t.Fatal(err)
				}
				for mq, offset := range body.OffsetTable {
					if told = append(told, mq); offset != 0 {
						t.Errorf("%s is reset to %d, want 0", mq, offset)
					}
				}
			}
			slices.SortFunc(told, protocol.CompareMessageQueues)
			if !slices.Equal(told, mqs) {
				t.Errorf("the queues that were reset are %v, want %v", told, mqs)
			}
			testcluster.Eventually(t, patience, "40 messages again", func() bool { return in.count() >= 80 })
			commits()
			closeNow(t, p)
			if n := in.count(); n != 80 {
				t.Errorf("%d messages, want each of the 40 twice", n)
			}
		})
	}
}

// brokersOf is the brokers of some queues, each once.
func brokersOf(mqs []protocol.MessageQueue) (names []string) {
	for _, mq := range mqs {
		if !slices.Contains(names, mq.BrokerName) {
			names = append(names, mq.BrokerName)
		}
	}
	return names
}
