package sandbox

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mqctl/internal/protocol"
)

func resetRequest(group, topic string, queue int32, offset int64) *protocol.InvokeBrokerToResetOffsetRequest {
	return &protocol.InvokeBrokerToResetOffsetRequest{Topic: topic, Group: group, Timestamp: -1, IsForce: true, QueueID: &queue, Offset: &offset}
}

// withCommits is a group G that has committed 5 of 9 messages, with a client in it.
func withCommits(t *testing.T, o Options, test func(t *testing.T, r *rig, c *client)) {
	o.Topics = []TopicSpec{{Name: "orders", Queues: 2}}
	inBubble(t, o, func(t *testing.T, r *rig) {
		c := r.client("c1")
		for range 9 {
			c.send("orders", 0, "x")
		}
		c.beat("G", subscription(t, "orders", "*"))
		c.commit(0, 5)
		test(t, r, c)
	})
}

func (c *client) commit(queue int32, offset int64) {
	c.r.t.Helper()
	wantCode(c.r.t, c.broker(&protocol.UpdateConsumerOffsetRequest{ConsumerGroup: "G", Topic: "orders", QueueID: queue, CommitOffset: offset}, nil), protocol.CodeSuccess)
}

// A parked pull is not woken by a reset, but whatever ends it brings the reset.
func TestC07_ParkedPullBringsTheReset(t *testing.T) {
	for name, end := range map[string]func(c *client){
		"its time is up": func(*client) {}, "a message": func(c *client) { c.send("orders", 0, "y") },
	} {
		t.Run(name, func(t *testing.T) {
			withCommits(t, Options{}, func(t *testing.T, r *rig, c *client) {
				held := c.start(suspended(pullRequest("G", "orders", 0, 9, "*"), 15*time.Second))
				wantCode(t, c.broker(resetRequest("G", "orders", 0, 2), nil), protocol.CodeSuccess)
				if r.Held() != 1 {
					t.Error("the reset has woken the pull")
				}
				c.commit(0, 9)
				if got, _ := r.Offset("G", mq("orders", 0)); got != 2 {
					t.Errorf("stored %d: a commit must not undo a reset that waits", got)
				}
				end(c)
				resp := (<-held).resp
				wantCode(t, resp, protocol.CodePullOffsetMoved)
				if h := header[protocol.PullMessageResponse](t, resp); h.NextBeginOffset != 2 || resp.Remark != "OFFSET_RESET" {
					t.Errorf("%s, next %d", resp.Remark, h.NextBeginOffset)
				}
				wantCode(t, c.broker(pullRequest("G", "orders", 0, 2, "*"), nil), protocol.CodeSuccess)
				c.commit(0, 9)
				if got, _ := r.Offset("G", mq("orders", 0)); got != 9 {
					t.Errorf("stored %d after the reset was pulled, want 9", got)
				}
			})
		})
	}
}

// Brokers before 5.2.0 push resets whatever they are told.
func TestOldBrokersPushResets(t *testing.T) {
	for _, version := range []protocol.MQVersion{protocol.Version494, version514} {
		withCommits(t, Options{Version: int32(version)}, func(t *testing.T, r *rig, c *client) {
			if err := r.SetOffset("G", mq("orders", 1), 0); err != nil {
				t.Fatal(err)
			}
			wantCode(t, c.broker(&protocol.InvokeBrokerToResetOffsetRequest{Topic: "orders", Group: "G", IsForce: true}, nil), protocol.CodeSuccess)
			if n := c.pushes(protocol.ResetConsumerClientOffset); n != 1 {
				t.Errorf("%v: %d resets were pushed", version, n)
			}
			if got, _ := r.Offset("G", mq("orders", 0)); got != 5 {
				t.Errorf("%v: stored %d: the members have to commit a reset", version, got)
			}
		})
	}
}

// A process that ends forgets resets that wait; one that is killed forgets commits as well, back to what was written last.
func TestEndOfABroker(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(*Sandbox, string) error
		wait time.Duration // between the last commit and the end
		want int64
	}{
		{"stopped", (*Sandbox).StopBroker, time.Second, 7},
		{"killed", (*Sandbox).KillBroker, time.Second, 5},
		{"killed later", (*Sandbox).KillBroker, 5 * time.Second, 7},
	} {
		t.Run(tc.name, func(t *testing.T) {
			withCommits(t, Options{}, func(t *testing.T, r *rig, c *client) {
				var lost []Change
				r.Observe(func(x *Change) {
					if x.Kind == OffsetLost {
						lost = append(lost, *x)
					}
				})
				time.Sleep(6 * time.Second) // past the first writing
				c.commit(0, 6)
				c.commit(0, 7)
				c.commit(1, 3)
				time.Sleep(tc.wait)
				if err := tc.end(r.Sandbox, "broker-a"); err != nil {
					t.Fatal(err)
				}
				if err := r.StartBroker("broker-a"); err != nil {
					t.Fatal(err)
				}
				if got, _ := r.Offset("G", mq("orders", 0)); got != tc.want {
					t.Errorf("stored %d, want %d", got, tc.want)
				}
				if _, ok := r.Offset("G", mq("orders", 1)); ok != (tc.want == 7) {
					t.Errorf("the first offset of a queue is there: %v", ok)
				}
				if n := 2 * int(7-tc.want) / 2; len(lost) != n {
					t.Errorf("%d offsets were reported as lost, want %d: %+v", len(lost), n, lost)
				}
				for _, x := range lost {
					if x.Group != "G" || x.Broker != "broker-a" || x.Queue == mq("orders", 0) && x.Offset != 5 || x.Queue == mq("orders", 1) && x.Offset != -1 {
						t.Errorf("lost %+v", x)
					}
				}
				if n := len(r.messages("orders", 0)); n != 9 {
					t.Errorf("%d messages, want 9", n)
				}
			})
		})
	}
}

func TestStoppedBrokerForgetsResets(t *testing.T) {
	withCommits(t, Options{}, func(t *testing.T, r *rig, c *client) {
		wantCode(t, c.broker(resetRequest("G", "orders", 0, 2), nil), protocol.CodeSuccess)
		if err := r.StopBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the client has noticed
		if err := r.StartBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if got, _ := r.Offset("G", mq("orders", 0)); got != 2 {
			t.Errorf("stored %d: the target itself is written down", got)
		}
		wantCode(t, c.broker(pullRequest("G", "orders", 0, 5, "*"), nil), protocol.CodeSuccess)
	})
}

// A group that was deleted less than a flush before the end of its broker is back.
func TestKillBringsForgottenOffsetsBack(t *testing.T) {
	withCommits(t, Options{OffsetFlush: time.Minute}, func(t *testing.T, r *rig, c *client) {
		time.Sleep(61 * time.Second)
		wantCode(t, c.broker(&protocol.DeleteSubscriptionGroupRequest{GroupName: "G", CleanOffset: true}, nil), protocol.CodeSuccess)
		if _, ok := r.Offset("G", mq("orders", 0)); ok {
			t.Fatal("its offsets are still there")
		}
		if err := r.KillBroker("broker-a"); err != nil {
			t.Fatal(err)
		}
		if got, ok := r.Offset("G", mq("orders", 0)); !ok || got != 5 {
			t.Errorf("stored %d, %v; want 5", got, ok)
		}
	})
}

// info asks for the running info of c1 in G.
func (c *client) info() <-chan timed {
	return c.start(&protocol.GetConsumerRunningInfoRequest{ConsumerGroup: "G", ClientID: "c1"})
}

// What a client answers after the broker has given up is not taken for an answer to anything else, and a client that never
// answers stays a member.
func TestAskedClientIsSlow(t *testing.T) {
	withCommits(t, Options{}, func(t *testing.T, r *rig, c *client) {
		admin := r.client("admin")
		first := admin.info()
		wantAnswer(t, first, protocol.CodeConsumeMsgTimeout, askPatience)
		c.mu.Lock()
		late := *c.pushed[len(c.pushed)-1]
		c.mu.Unlock()
		second := admin.info()
		c.replyTo(&late, "late")
		wantAnswer(t, second, protocol.CodeConsumeMsgTimeout, askPatience)
		if diff := cmp.Diff([]string{"c1"}, r.memberIDs("G")); diff != "" {
			t.Error(diff)
		}
	})
}

// replyTo sends an answer to a broker's question on the connection that it came from.
func (c *client) replyTo(req *protocol.Command, remark string) {
	c.mu.Lock()
	from := c.from
	c.mu.Unlock()
	if err := from.Send(protocol.NewResponse(req, protocol.CodeSuccess, remark, nil, nil)); err != nil {
		c.r.t.Error(err)
	}
	synctest.Wait()
}

func TestAskedClientIsGone(t *testing.T) {
	withCommits(t, Options{}, func(t *testing.T, r *rig, c *client) {
		admin := r.client("admin")
		asked := admin.info()
		time.Sleep(time.Second)
		c.close()
		wantAnswer(t, asked, protocol.CodeSystemError, time.Second)
		asked = admin.info()
		wantAnswer(t, asked, protocol.CodeSystemError, 0)
	})
}

// The sandbox ends although a client owes it an answer.
func TestCloseWhileAsking(t *testing.T) {
	withCommits(t, Options{}, func(t *testing.T, r *rig, _ *client) {
		asked := r.client("admin").info()
		r.Close()
		if a := <-asked; a.err == nil && a.resp.ResponseCode() == protocol.CodeSuccess {
			t.Errorf("an answer from nowhere: %+v", a.resp)
		}
	})
}
