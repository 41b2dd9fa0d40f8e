package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"mqctl/internal/protocol"
)

// remarkOfClient is what the conformance test's own client answers.
const remarkOfClient = "the client's remark"

// joined is a heartbeat of G on the run's own connection, with a subscription to T.
func joined(name string) question {
	return body(name, protocol.HeartBeat, `{"clientID":"c1","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY",`+
		`"groupName":"<G>","messageModel":"CLUSTERING","subscriptionDataSet":[{"topic":"<T>","subString":"*","tagsSet":[],"codeSet":[],"subVersion":100,`+
		`"expressionType":"TAG","classFilterMode":false}],"unitMode":false}],"heartbeatFingerprint":5,"withoutSub":false}`)
}

func left(name string) question {
	return fields(name, false, protocol.UnregisterClient, "", "clientID", "c1", "consumerGroup", "<G>")
}

// answering has the client answer what the broker asks while q is put; without build it stays silent.
func answering(q question, build func(req *protocol.Command) *protocol.Command) question {
	ask := q.ask
	q.ask = func(x *target) *protocol.Command {
		x.setAnswer(build)
		defer x.setAnswer(nil)
		return ask(x)
	}
	return q
}

func (x *target) setAnswer(build func(req *protocol.Command) *protocol.Command) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.answer = build
}

// described answers with a body that repeats what the client was asked.
func described(code protocol.ResponseCode) func(req *protocol.Command) *protocol.Command {
	return func(req *protocol.Command) *protocol.Command {
		names := map[string]bool{}
		for _, f := range req.Ext {
			names[f.Key] = true
		}
		return protocol.NewResponse(req, code, remarkOfClient, nil, fmt.Appendf(nil, `{"%s":{"flag %d, with a body %v":0}}`,
			strings.Join(slices.Sorted(maps.Keys(names)), " "), req.Flag, len(req.Body) > 0))
	}
}

// withID puts a request that names the first message of T's queue 0 by its offset id.
func withID(name string, code protocol.RequestCode, pairs ...string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		resp := x.call(x.addr, protocol.NewRequest(pullRequest("probe", x.topic, 0, 0, "*"), nil))
		list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
		if err != nil || len(list) == 0 {
			x.t.Fatalf("no message to consume: %v", err)
		}
		return fields(name, false, code, "", append(pairs, "msgId", list[0].OffsetID())...).ask(x)
	}}
}

func clientQuestions() []question {
	status := func(req *protocol.Command) *protocol.Command {
		return protocol.NewResponse(req, protocol.CodeSuccess, "", nil,
			[]byte(`{"messageQueueTable":{{"brokerName":"b","queueId":1,"topic":"X"}:7},"consumerTable":{}}`))
	}
	ask307 := func(name, id string) question {
		return fields(name, false, protocol.GetConsumerRunningInfo, "", "consumerGroup", "<G>", "clientId", id, "jstackEnable", "true")
	}
	ask309 := func(name, id string) question {
		return withID(name, protocol.ConsumeMessageDirectly, "consumerGroup", "<G>", "clientId", id, "brokerName", "elsewhere", "topic", "<T>")
	}
	return []question{
		fields("running info, nobody", false, protocol.GetConsumerRunningInfo, "", "consumerGroup", "<N>", "clientId", "c1"),
		fields("running info, no client", false, protocol.GetConsumerRunningInfo, "", "consumerGroup", "<N>"),
		fields("consumer status, nobody", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<N>"),
		ask309("consume directly, nobody", "c1"),
		joined("heartbeat for questions"),
		answering(ask307("running info", "c1"), described(protocol.CodeSuccess)),
		answering(ask307("running info, refused", "c1"), described(protocol.CodeSystemError)),
		answering(ask307("running info, another client", "c2"), described(protocol.CodeSuccess)),
		answering(ask309("consume directly", "c1"), described(protocol.CodeSuccess)),
		fields("consume directly, no offset id", false, protocol.ConsumeMessageDirectly, "", "consumerGroup", "<G>", "clientId", "c1", "msgId", "nonsense"),
		fields("consume directly, no message there", false, protocol.ConsumeMessageDirectly, "", "consumerGroup", "<G>", "clientId", "c1",
			"msgId", "7F00000100002A9F0000700000000000"),
		ask307("running info, no answer", "c1"),
		answering(fields("consumer status", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<G>"), status),
		answering(fields("consumer status, one client", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<G>", "clientAddr", "c1"), status),
		answering(fields("consumer status, another client", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<G>", "clientAddr", "c2"), status),
		answering(fields("consumer status, refused", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<G>"), described(protocol.CodeSystemError)),
		fields("consumer status, no answer", false, protocol.InvokeBrokerToGetConsumerStatus, "", "topic", "<T>", "group", "<G>"),
		left("unregister after questions"),
		fields("time span", false, protocol.QueryConsumeTimeSpan, "", "topic", "<T>", "group", "<G>"),
		fields("time span, unknown group", false, protocol.QueryConsumeTimeSpan, "", "topic", "<T>", "group", "<N>9"),
		fields("time span, unknown topic", false, protocol.QueryConsumeTimeSpan, "", "topic", "<N>", "group", "<G>"),
		timeSpans("time span, values"),
	}
}

// timeSpans compares the values of QUERY_CONSUME_TIME_SPAN by what can be said about them on any day.
func timeSpans(name string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		resp := fields(name, false, protocol.QueryConsumeTimeSpan, "", "topic", "<T>", "group", "<G>").ask(x)
		spans, err := protocol.DecodeConsumeTimeSpans(resp.Body)
		if err != nil {
			x.t.Fatal(err)
		}
		kinds := map[string]bool{}
		for _, s := range spans.ConsumeTimeSpanSet {
			kinds[fmt.Sprintf("queue %d: min %s max %s consumed %s equals min %v, delayed %v", s.MessageQueue.QueueID, age(s.MinTimestamp), age(s.MaxTimestamp),
				age(s.ConsumeTimestamp), s.ConsumeTimestamp == s.MinTimestamp, s.DelayTime > 0)] = true
		}
		resp.Body = fmt.Appendf(nil, `{"%s":0}`, strings.Join(slices.Sorted(maps.Keys(kinds)), "; "))
		return resp
	}}
}

func age(ms int64) string {
	if ms <= 0 {
		return fmt.Sprint(ms)
	}
	return "some"
}

// resetTo moves G in T.
func resetTo(name string, pairs ...string) question {
	return fields(name, false, protocol.InvokeBrokerToResetOffset, "", append([]string{"topic", "<T>", "group", "<G>"}, pairs...)...)
}

// storedOffset is where G stands in one queue of T.
func storedOffset(name, queue string) question {
	return fields(name, false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", queue)
}

func commitTo(name, queue, offset string) question {
	return fields(name, false, protocol.UpdateConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", queue, "commitOffset", offset)
}

// targets shows the offsets of a reset's answer, which are no ext fields, as text.
func targets(q question) question {
	ask := q.ask
	q.ask = func(x *target) *protocol.Command {
		resp := ask(x)
		if len(resp.Body) == 0 {
			return resp
		}
		table, err := protocol.DecodeResetOffsetBody(resp.Body)
		if err != nil {
			x.t.Fatal(err)
		}
		resp.Body = fmt.Appendf(nil, `{"%s":0}`, offsetsText(table.OffsetTable))
		return resp
	}
	return q
}

func offsetsText(table map[protocol.MessageQueue]int64) string {
	var list []string
	for mq, offset := range table {
		list = append(list, fmt.Sprintf("%d at %d", mq.QueueID, offset))
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

func pullAt(name string, queue int32, offset int64, change func(h *protocol.PullMessageRequest)) question {
	return pullOf(name, func(h *protocol.PullMessageRequest) {
		h.QueueID, h.QueueOffset = queue, offset
		if change != nil {
			change(h)
		}
	})
}

func resetQuestions() []question {
	suspend := func(h *protocol.PullMessageRequest) {
		h.SysFlag |= protocol.PullSuspend
		h.SuspendTimeoutMillis = 1000
	}
	commit := func(h *protocol.PullMessageRequest) { h.SysFlag |= protocol.PullCommitOffset; h.CommitOffset = 3 }
	return []question{
		fields("reset, unknown topic", false, protocol.InvokeBrokerToResetOffset, "", "topic", "<N>", "group", "<G>", "timestamp", "0", "isForce", "true"),
		fields("reset, unknown group", false, protocol.InvokeBrokerToResetOffset, "", "topic", "<T>", "group", "<N>8", "timestamp", "0", "isForce", "true"),
		resetTo("reset, no time", "isForce", "true", "queueId", "0", "offset", "1"),
		resetTo("reset, not said whether by force", "timestamp", "-1", "queueId", "0", "offset", "0"),
		targets(resetTo("reset one queue", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "1")),
		storedOffset("offset, reset pending", "0"),
		commitTo("commit, reset pending", "0", "2"),
		storedOffset("offset, commit dropped", "0"),
		fields("progress, reset pending", false, protocol.GetConsumeStats, "", "consumerGroup", "<G>", "topic", "<T>"),
		pullAt("pull, another queue", 1, 0, nil),
		pullAt("pull, reset pending", 0, 3, suspend),
		pullAt("pull after the reset", 0, 1, nil),
		commitTo("commit after the reset", "0", "2"),
		storedOffset("offset after the reset", "0"),
		targets(resetTo("reset forward, not forced", "timestamp", "-1", "isForce", "false", "queueId", "0", "offset", "3")),
		pullAt("pull with commit, reset pending", 0, 3, commit),
		storedOffset("offset, overwritten by the pull", "0"),
		targets(resetTo("reset past the end", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "4")),
		pullAt("pull, reset past the end", 0, 3, nil),
		resetTo("reset far past the end", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "5"),
		targets(resetTo("reset below zero", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "-5")),
		targets(resetTo("reset to no offset", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "-1")),
		pullAt("pull, reset to the end", 0, 0, nil),
		targets(resetTo("reset unknown queue", "timestamp", "-1", "isForce", "true", "queueId", "77", "offset", "0")),
		targets(resetTo("reset unknown queue too far", "timestamp", "-1", "isForce", "true", "queueId", "77", "offset", "2")),
		fields("offset of the unknown queue", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "77"),
		targets(resetTo("reset all by time 0", "timestamp", "0", "isForce", "true", "queueId", "-1")),
		targets(resetTo("reset all, queue not said", "timestamp", "0", "isForce", "true")),
		targets(resetTo("reset all to the future", "timestamp", "9999999999999", "isForce", "true", "queueId", "-1")),
		targets(resetTo("reset all to an offset", "timestamp", "-1", "isForce", "true", "queueId", "-1", "offset", "1")),
		pullAt("pull, no such queue, reset pending", 3, 0, nil),
		pullAt("pull, all reset", 1, 0, nil),
		resetTo("reset all again", "timestamp", "0", "isForce", "true", "queueId", "-1"),
		body("forbid the group", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<G>","consumeEnable":false}`),
		pullAt("pull, refused and reset", 0, 3, commit),
		body("allow the group", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<G>"}`),
		pullAt("pull, allowed and reset", 0, 3, nil),
	}
}

// lastPush is the latest RESET_CONSUMER_CLIENT_OFFSET that has come.
func lastPush(name string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		time.Sleep(500 * time.Millisecond)
		x.mu.Lock()
		defer x.mu.Unlock()
		for _, req := range slices.Backward(x.pushed) {
			if req.RequestCode() == protocol.ResetConsumerClientOffset {
				shown := *req
				shown.Code = 0
				list, err := protocol.DecodeResetOffsetBody(req.Body)
				if err != nil {
					x.t.Fatal(err)
				}
				form := "map"
				if strings.Contains(string(req.Body), ":[") {
					form = "list"
				}
				shown.Body = fmt.Appendf(nil, `{"%s of %s, flag %d":0}`, form, offsetsText(list.OffsetTable), req.Flag)
				return &shown
			}
		}
		x.t.Errorf("%s: nothing was pushed", name)
		return nil
	}}
}

func pushedResetQuestions() []question {
	reset := func(name string, pairs ...string) question { return targets(resetTo(name, pairs...)) }
	asCPP := reset("reset asked by C++", "timestamp", "0", "isForce", "true")
	asCPP.ask = func(x *target) *protocol.Command {
		cmd := protocol.NewBodyRequest(protocol.InvokeBrokerToResetOffset, nil)
		cmd.Language = protocol.LanguageCPP
		for _, f := range [][2]string{{"topic", x.topic}, {"group", x.group}, {"timestamp", "0"}, {"isForce", "true"}} {
			cmd.Ext.Add(f[0], f[1])
		}
		return x.call(x.addr, cmd)
	}
	return []question{
		createTopic("create", "<T>", 2, ""),
		pause(500 * time.Millisecond),
		sendTo("send", "<T>", 0, "a"), sendTo("send", "<T>", 0, "b"), sendTo("send", "<T>", 1, "c"),
		pause(time.Second),
		fields("reset, unknown topic", false, protocol.InvokeBrokerToResetOffset, "", "topic", "<N>", "group", "<G>", "timestamp", "0", "isForce", "true"),
		reset("reset, no offset stored", "timestamp", "0", "isForce", "true"),
		commitTo("commit, unknown group", "0", "1"),
		body("group", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<G>"}`),
		commitTo("commit", "0", "1"), commitTo("commit", "1", "1"),
		reset("reset, nobody online", "timestamp", "0", "isForce", "true"),
		joined("heartbeat"),
		reset("reset by force", "timestamp", "0", "isForce", "true"),
		lastPush("what was pushed"),
		storedOffset("offset, nothing stored", "0"),
		reset("reset forward, not forced", "timestamp", "-1", "isForce", "false"),
		lastPush("what was pushed, not forced"),
		reset("reset forward by force", "timestamp", "-1", "isForce", "true"),
		lastPush("what was pushed by force"),
		reset("reset one queue", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "0"),
		lastPush("what was pushed for one queue"),
		targets(asCPP),
		lastPush("what was pushed for C++"),
		commitTo("commit after resets", "0", "2"),
		storedOffset("offset after resets", "0"),
	}
}

// atReplica puts a request with raw ext fields to the replica.
func atReplica(name string, code protocol.RequestCode, text string, pairs ...string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		addr := x.addr
		x.addr = x.replica
		defer func() { x.addr = addr }()
		return fields(name, false, code, text, pairs...).ask(x)
	}}
}

// replicaDoes puts another question to the replica.
func replicaDoes(q question) question {
	ask := q.ask
	q.ask = func(x *target) *protocol.Command {
		addr := x.addr
		x.addr = x.replica
		defer func() { x.addr = addr }()
		return ask(x)
	}
	return q
}

func replicaQuestions() []question {
	t := []string{"topic", "<T>", "queueId", "0", "consumerGroup", "<G>", "group", "<G>", "timestamp", "0"}
	first := sendBack("send back at the replica", 1, 16, true)
	return []question{
		createTopic("create", "<T>", 2, ""),
		pause(500 * time.Millisecond),
		sendTo("send", "<T>", 0, "a", "KEYS", "k1"), sendTo("send", "<T>", 0, "b"), sendTo("send", "<T>", 0, "c"),
		body("group", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<G>"}`),
		commitTo("commit", "0", "2"),
		pause(70 * time.Second), // the replica copies topics, groups and offsets once a minute
		fields("route", true, protocol.GetRouteInfoByTopic, "", "topic", "<T>"),
		fields("cluster", true, protocol.GetBrokerClusterInfo, ""),
		replicaDoes(pullAt("pull", 0, 0, nil)), replicaDoes(pullAt("pull at the end", 0, 3, nil)), replicaDoes(pullAt("pull behind the end", 0, 5, nil)),
		replicaDoes(pullAt("pull before the start", 0, -1, nil)), replicaDoes(pullAt("pull, empty queue at 5", 1, 5, nil)),
		replicaDoes(pullAt("pull, no such queue", 9, 5, nil)),
		replicaDoes(pullAt("pull with commit", 0, 0, func(h *protocol.PullMessageRequest) { h.SysFlag |= protocol.PullCommitOffset; h.CommitOffset = 1 })),
		replicaDoes(storedOffset("offset after the pull", "0")),
		replicaDoes(commitTo("commit at the replica", "0", "3")),
		replicaDoes(storedOffset("offset at the replica", "0")), storedOffset("offset at the master", "0"),
		pause(70 * time.Second),
		replicaDoes(storedOffset("offset, copied again", "0")),
		atReplica("max", protocol.GetMaxOffset, "", t...), atReplica("min", protocol.GetMinOffset, "", t...),
		atReplica("search", protocol.SearchOffsetByTimestamp, "", t...), atReplica("earliest", protocol.GetEarliestMsgStoreTime, "", t...),
		atReplica("query by key", protocol.QueryMessage, "", "topic", "<T>", "key", "k1", "maxNum", "5", "beginTimestamp", "0", "endTimestamp", "9999999999999"),
		atReplica("topic stats", protocol.GetTopicStatsInfo, "", t...), atReplica("progress", protocol.GetConsumeStats, "", t...),
		atReplica("groups of a topic", protocol.QueryTopicConsumeByWho, "", t...), atReplica("time span", protocol.QueryConsumeTimeSpan, "", t...),
		atReplica("config", protocol.GetTopicConfig, "", t...),
		replicaDoes(sendTo("send at the replica", "<T>", 0, "x")), replicaDoes(batchTo("batch at the replica", "garbage")),
		replicaDoes(first),
		atReplica("end transaction", protocol.EndTransaction, "", "producerGroup", "PG", "tranStateTableOffset", "0", "commitLogOffset", "0",
			"commitOrRollback", "8", "fromTransactionCheck", "false", "msgId", "x"),
		replicaDoes(createTopic("create at the replica", "<T>more", 1, "")),
		replicaDoes(body("group at the replica", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<N>2"}`)),
		atReplica("delete topic", protocol.DeleteTopicInBroker, "", "topic", "<N>"),
		atReplica("delete group", protocol.DeleteSubscriptionGroup, "", "groupName", "<N>3"),
		replicaDoes(resetTo("reset", "timestamp", "-1", "isForce", "true", "queueId", "0", "offset", "1")),
		replicaDoes(body("lock", protocol.LockBatchMQ, `{"consumerGroup":"<G>","clientId":"c1","mqSet":[{"topic":"<T>","brokerName":"broker-a","queueId":0}]}`)),
		body("lock at the master", protocol.LockBatchMQ, `{"consumerGroup":"<G>","clientId":"c2","mqSet":[{"topic":"<T>","brokerName":"broker-a","queueId":0}]}`),
		replicaDoes(body("unlock", protocol.UnlockBatchMQ, `{"consumerGroup":"<G>","clientId":"c1","mqSet":[{"topic":"<T>","brokerName":"broker-a","queueId":0}]}`)),
		atReplica("members, none", protocol.GetConsumerListByGroup, "", t...),
		replicaDoes(joined("heartbeat")),
		atReplica("members", protocol.GetConsumerListByGroup, "", t...), fields("members at the master", false, protocol.GetConsumerListByGroup, "", t...),
		replicaDoes(pullOf("pull by heartbeat", func(h *protocol.PullMessageRequest) { h.SysFlag = 0 })),
		atReplica("connections", protocol.GetConsumerConnectionList, "", t...),
		replicaDoes(answering(fields("running info", false, protocol.GetConsumerRunningInfo, "", "consumerGroup", "<G>", "clientId", "c1"), described(protocol.CodeSuccess))),
		replicaDoes(body("check", protocol.CheckClientConfig, `{"clientId":"c","group":"g","subscriptionData":{"topic":"T","subString":"a","expressionType":"TAG"}}`)),
		replicaDoes(left("unregister")),
		replicaDoes(sendTo("send an unknown topic", "<N>", 0, "x")), replicaDoes(sendTo("send a delayed one", "<T>", 0, "x", "DELAY", "1")),
	}
}
