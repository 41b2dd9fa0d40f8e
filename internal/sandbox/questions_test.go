package sandbox

import (
	"slices"
	"strings"
	"time"

	"mqctl/internal/protocol"
)

// question is one request of the conformance test; what it asks may depend on the answers before.
type question struct {
	name  string
	ask   func(x *target) *protocol.Command // nil: nothing to compare
	loose bool                              // the cluster's history shows in the answer
}

// questions are asked in this order. T and G stand for the run's topic and group, N for names that nobody has.
func questions() []question {
	return slices.Concat(topicQuestions(), nameServerQuestions(), emptyQueueQuestions(), sendQuestions(), pullQuestions(), offsetQuestions(),
		groupQuestions(), retryQuestions(), transactionQuestions(), storedQuestions(), clientQuestions(), resetQuestions(), deleteQuestions())
}

// to puts a header to the broker, with the topics T and N and the groups G and N of its fields replaced.
func to(name string, h func(x *target) protocol.RequestHeader) question {
	return question{name: name, ask: func(x *target) *protocol.Command { return x.call(x.addr, protocol.NewRequest(h(x), nil)) }}
}

// body puts a request without header to the broker.
func body(name string, code protocol.RequestCode, text string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		text := strings.NewReplacer("<T>", x.topic, "<G>", x.group, "<N>", x.group+"none").Replace(text)
		return x.call(x.addr, protocol.NewBodyRequest(code, []byte(text)))
	}}
}

// fields puts a request with raw ext fields (name, value, …) to the broker or, with ns, to the name server.
func fields(name string, ns bool, code protocol.RequestCode, text string, pairs ...string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		cmd := protocol.NewBodyRequest(code, []byte(text))
		for pair := range slices.Chunk(pairs, 2) {
			cmd.Ext.Add(pair[0], strings.NewReplacer("<T>", x.topic, "<G>", x.group, "<N>", x.group+"none").Replace(pair[1]))
		}
		if ns {
			return x.call(x.ns, cmd)
		}
		return x.call(x.addr, cmd)
	}}
}

// loosely leaves out the offset in an internal queue, where older messages may be.
func loosely(q question) question {
	q.loose = true
	return q
}

func pause(d time.Duration) question {
	return question{name: "pause", ask: func(*target) *protocol.Command { time.Sleep(d); return nil }}
}

func createTopic(name, topic string, queues int32, attributes string) question {
	return to(name, func(x *target) protocol.RequestHeader {
		return &protocol.UpdateAndCreateTopicRequest{
			Topic: strings.ReplaceAll(topic, "<T>", x.topic), DefaultTopic: protocol.AutoCreateTopic, ReadQueueNums: queues, WriteQueueNums: queues, Perm: 6,
			TopicFilterType: protocol.TopicFilterSingleTag, Attributes: attributes,
		}
	})
}

func topicQuestions() []question {
	return []question{
		createTopic("create", "<T>", 3, ""),
		createTopic("create, bad name", "a b", 3, ""),
		createTopic("create, no name", "", 3, ""),
		createTopic("create, blank name", " ", 3, ""),
		createTopic("create, long name", strings.Repeat("x", 128), 3, ""),
		createTopic("create, system topic", protocol.AutoCreateTopic, 3, ""),
		createTopic("create, unknown attribute", "<T>attr", 1, "+x=y"),
		createTopic("create, attribute without sign", "<T>attr", 1, "message.type=FIFO"),
		pause(500 * time.Millisecond),
		to("config", func(x *target) protocol.RequestHeader { return &protocol.GetTopicConfigRequest{Topic: x.topic} }),
		to("config, unknown", func(x *target) protocol.RequestHeader {
			return &protocol.GetTopicConfigRequest{Topic: x.topic + "none"}
		}),
	}
}

func nameServerQuestions() []question {
	return []question{
		fields("route", true, protocol.GetRouteInfoByTopic, "", "topic", "<T>"),
		fields("route, unknown", true, protocol.GetRouteInfoByTopic, "", "topic", "<N>"),
		fields("route, no topic", true, protocol.GetRouteInfoByTopic, ""),
		fields("setting, unknown", true, protocol.GetKVConfig, "", "namespace", "<N>", "key", "k"),
		fields("settings, unknown", true, protocol.GetKVListByNamespace, "", "namespace", "<N>"),
		fields("put setting", true, protocol.PutKVConfig, "", "namespace", "<N>", "key", "k", "value", "v"),
		fields("setting", true, protocol.GetKVConfig, "", "namespace", "<N>", "key", "k"),
		fields("settings", true, protocol.GetKVListByNamespace, "", "namespace", "<N>"),
		fields("delete setting", true, protocol.DeleteKVConfig, "", "namespace", "<N>", "key", "k"),
		fields("settings, all deleted", true, protocol.GetKVListByNamespace, "", "namespace", "<N>"),
		fields("topics of an unknown cluster", true, protocol.GetTopicsByCluster, "", "cluster", "<N>"),
		fields("delete unknown route", true, protocol.DeleteTopicInNamesrv, "", "topic", "<N>"),
		fields("pull at the name server", true, protocol.PullMessage, "", "topic", "<T>"),
		fields("route at the broker", false, protocol.GetRouteInfoByTopic, "", "topic", "<T>"),
	}
}

// queueQuestions asks for the bounds of a queue.
func queueQuestions(name, topic, queue string) []question {
	var list []question
	for code, more := range map[protocol.RequestCode]string{
		protocol.GetMaxOffset: "max", protocol.GetMinOffset: "min", protocol.GetEarliestMsgStoreTime: "earliest", protocol.SearchOffsetByTimestamp: "search",
	} {
		list = append(list, fields(more+" of "+name, false, code, "", "topic", topic, "queueId", queue, "timestamp", "5"))
	}
	slices.SortFunc(list, func(a, b question) int { return strings.Compare(a.name, b.name) })
	return list
}

func emptyQueueQuestions() []question {
	return slices.Concat(
		queueQuestions("an empty queue", "<T>", "0"), queueQuestions("an unknown topic", "<N>", "0"), queueQuestions("an unknown queue", "<T>", "99"),
		queueQuestions("a negative queue", "<T>", "-1"),
		[]question{
			fields("offset, empty queue", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "0"),
			fields("offset, unknown topic", false, protocol.QueryConsumerOffset, "", "topic", "<N>", "consumerGroup", "<G>", "queueId", "0"),
			pullOf("pull, empty queue", nil),
			pullOf("pull, empty queue at 5", func(h *protocol.PullMessageRequest) { h.QueueOffset = 5 }),
			pullOf("pull, empty queue at -5", func(h *protocol.PullMessageRequest) { h.QueueOffset = -5 }),
		},
	)
}

// sendTo sends one message.
func sendTo(name, topic string, queue int32, text string, properties ...string) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		topic := strings.NewReplacer("<T>", x.topic, "<G>", x.group, "<N>", x.group+"none").Replace(topic)
		h, b := message(topic, queue, text, properties...)
		return x.call(x.addr, protocol.NewRequest(h, b))
	}}
}

// batchTo sends a batch body as it is.
func batchTo(name, text string) question {
	return fields(name, false, protocol.SendBatchMessage, text, "a", "P", "b", "<T>", "c", "TBW102", "d", "4", "e", "1", "f", "0", "g", "1", "h", "0",
		"i", "UNIQ_KEY\x01B\x02WAIT\x01true\x02", "m", "true")
}

func sendQuestions() []question {
	batch, err := protocol.EncodeBatch([]protocol.Message{
		{Body: []byte("part 1"), Flag: 7, Properties: protocol.Properties{{Name: "TAGS", Value: "b"}, {Name: "DELAY", Value: "1"}}}, {Body: []byte("part 2")},
	})
	if err != nil {
		panic(err) // a mistake in this file
	}
	return []question{
		sendTo("send", "<T>", 0, "a", "TAGS", "TagA", "KEYS", "k1 k2", "x", "y"),
		sendTo("send, empty property", "<T>", 0, "b", "TAGS", "TagA", "KEYS", ""),
		sendTo("send, broker's properties", "<T>", 0, "c", "TRACE_ON", "false", "MSG_REGION", "X", "CLUSTER", "Y"),
		sendTo("send, no such queue", "<T>", 3, "x"),
		sendTo("send, no body", "<T>", 0, ""),
		sendTo("send, system topic", protocol.ScheduleTopic, 0, "x"),
		sendTo("send, bad name", "a/b", 0, "x"),
		sendTo("send, no name", "", 0, "x"),
		sendTo("send, long name", strings.Repeat("x", 128), 0, "x"),
		sendTo("send, large body", "<T>", 0, strings.Repeat("x", 4<<20+1)),
		sendTo("send, large properties", "<T>", 0, "x", "a", strings.Repeat("y", 32760)),
		loosely(sendTo("send, level 1", "<T>", 2, "delayed", "DELAY", "1", "TAGS", "t")),
		loosely(sendTo("send, level 99", "<T>", 2, "never", "DELAY", "99")),
		sendTo("send, level -1", "<T>", 1, "negative", "DELAY", "-1"),
		sendTo("send, level that is no number", "<T>", 1, "x", "DELAY", "soon"),
		batchTo("batch", string(batch)),
		batchTo("batch, garbage", "garbage"),
		batchTo("batch, empty", ""),
		fields("send, no queue", false, protocol.SendMessageV2, "x", "a", "P", "b", "<T>", "c", "TBW102", "d", "4", "f", "0", "g", "1", "h", "0"),
		fields("send, only what is needed", false, protocol.SendMessageV2, "bare", "b", "<T>", "e", "1", "f", "0", "g", "1", "h", "0"),
		pause(time.Second),
	}
}

// pullOf pulls queue 0 of T for G with a subscription of its own, changed by change.
func pullOf(name string, change func(h *protocol.PullMessageRequest)) question {
	return to(name, func(x *target) protocol.RequestHeader {
		h := pullRequest(x.group, x.topic, 0, 0, "*")
		if change != nil {
			change(h)
		}
		h.Topic = strings.ReplaceAll(h.Topic, "<N>", x.group+"none")
		return h
	})
}

func pullQuestions() []question {
	return []question{
		pullOf("pull", nil),
		pullOf("pull at most 1", func(h *protocol.PullMessageRequest) { h.MaxMsgNums = 1 }),
		pullOf("pull at most 0", func(h *protocol.PullMessageRequest) { h.MaxMsgNums = 0 }),
		pullOf("pull at most -1", func(h *protocol.PullMessageRequest) { h.MaxMsgNums = -1 }),
		pullOf("pull at most 2^30", func(h *protocol.PullMessageRequest) { h.MaxMsgNums = 1 << 30 }),
		pullOf("pull at the end", func(h *protocol.PullMessageRequest) { h.QueueOffset = 3 }),
		pullOf("pull behind the end", func(h *protocol.PullMessageRequest) { h.QueueOffset = 4 }),
		pullOf("pull before the start", func(h *protocol.PullMessageRequest) { h.QueueOffset = -1 }),
		pullOf("pull, no such queue", func(h *protocol.PullMessageRequest) { h.QueueID = 3 }),
		pullOf("pull, negative queue", func(h *protocol.PullMessageRequest) { h.QueueID = -1 }),
		pullOf("pull, unknown tag", func(h *protocol.PullMessageRequest) { h.Subscription = "Nope" }),
		pullOf("pull, tag", func(h *protocol.PullMessageRequest) { h.Subscription = " TagA || Nope " }),
		pullOf("pull, bars", func(h *protocol.PullMessageRequest) { h.Subscription = "||" }),
		pullOf("pull, bars and blank", func(h *protocol.PullMessageRequest) { h.Subscription = "|| ||" }),
		pullOf("pull, SQL", func(h *protocol.PullMessageRequest) { h.ExpressionType, h.Subscription = "SQL92", "x = 'y'" }),
		pullOf("pull, broken SQL", func(h *protocol.PullMessageRequest) { h.ExpressionType, h.Subscription = "SQL92", "x = " }),
		pullOf("pull, unknown kind of expression", func(h *protocol.PullMessageRequest) { h.ExpressionType = "NOPE" }),
		pullOf("pull, unknown topic", func(h *protocol.PullMessageRequest) { h.Topic = "<N>" }),
		pullOf("pull, bad group name", func(h *protocol.PullMessageRequest) { h.ConsumerGroup = "a b" }),
		pullOf("pull without subscription", func(h *protocol.PullMessageRequest) { h.SysFlag = 0; h.ConsumerGroup += "none" }),
		pullOf("pull with commit", func(h *protocol.PullMessageRequest) { h.SysFlag |= protocol.PullCommitOffset; h.CommitOffset = 1 }),
	}
}

func offsetQuestions() []question {
	return []question{
		fields("offset", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "0"),
		fields("offset, none stored", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<N>", "queueId", "0"),
		fields("offset, none stored, no zero", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<N>", "queueId", "0", "setZeroIfNotFound", "false"),
		fields("offset, no queue", false, protocol.QueryConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>"),
		fields("commit, unknown topic", false, protocol.UpdateConsumerOffset, "", "topic", "<N>", "consumerGroup", "<G>", "queueId", "0", "commitOffset", "1"),
		fields("commit, no offset", false, protocol.UpdateConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "0"),
		fields("commit, unknown queue", false, protocol.UpdateConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "99", "commitOffset", "1"),
		fields("commit", false, protocol.UpdateConsumerOffset, "", "topic", "<T>", "consumerGroup", "<G>", "queueId", "1", "commitOffset", "300"),
		fields("topic stats", false, protocol.GetTopicStatsInfo, "", "topic", "<T>"),
		fields("topic stats, unknown", false, protocol.GetTopicStatsInfo, "", "topic", "<N>"),
		fields("progress", false, protocol.GetConsumeStats, "", "consumerGroup", "<G>", "topic", "<T>"),
		fields("progress on all topics", false, protocol.GetConsumeStats, "", "consumerGroup", "<G>"),
		fields("progress, unknown group", false, protocol.GetConsumeStats, "", "consumerGroup", "<N>x"),
		fields("progress, unknown topic", false, protocol.GetConsumeStats, "", "consumerGroup", "<G>", "topic", "<N>"),
		fields("groups of a topic", false, protocol.QueryTopicConsumeByWho, "", "topic", "<T>"),
		fields("query by key", false, protocol.QueryMessage, "", "topic", "<T>", "key", "k1", "maxNum", "5", "beginTimestamp", "0", "endTimestamp", "9999999999999"),
		fields("query at most 0", false, protocol.QueryMessage, "", "topic", "<T>", "key", "k1", "maxNum", "0", "beginTimestamp", "0", "endTimestamp", "9999999999999"),
		fields("query at most -1", false, protocol.QueryMessage, "", "topic", "<T>", "key", "k1", "maxNum", "-1", "beginTimestamp", "0", "endTimestamp", "9999999999999"),
		fields("query, unknown key", false, protocol.QueryMessage, "", "topic", "<T>", "key", "k3", "maxNum", "5", "beginTimestamp", "0", "endTimestamp", "9999999999999"),
		fields("view, far offset", false, protocol.ViewMessageByID, "", "offset", "35184372088832"),
		fields("view, negative offset", false, protocol.ViewMessageByID, "", "offset", "-1"),
	}
}

func groupQuestions() []question {
	const beat = `{"clientID":"c1","consumerDataSet":[{"consumeFromWhere":"CONSUME_FROM_FIRST_OFFSET","consumeType":"CONSUME_PASSIVELY","groupName":"<G>",` +
		`"messageModel":"CLUSTERING","subscriptionDataSet":[<S>],"unitMode":false}],"heartbeatFingerprint":5,"withoutSub":<W>}`
	const sub = `{"topic":"<T>","subString":"TagA","tagsSet":["TagA"],"codeSet":[2598919],"subVersion":100,"expressionType":"TAG","classFilterMode":false}`
	byHeartbeat := func(h *protocol.PullMessageRequest) { h.SysFlag = 0 }
	return []question{
		fields("members, none", false, protocol.GetConsumerListByGroup, "", "consumerGroup", "<G>"),
		fields("connections, none", false, protocol.GetConsumerConnectionList, "", "consumerGroup", "<G>"),
		fields("producers, none", false, protocol.GetProducerConnectionList, "", "producerGroup", "<G>"),
		body("heartbeat, broken", protocol.HeartBeat, "{"),
		body("heartbeat, empty", protocol.HeartBeat, ""),
		body("heartbeat", protocol.HeartBeat, strings.NewReplacer("<S>", sub, "<W>", "false").Replace(beat)),
		body("heartbeat without subscriptions", protocol.HeartBeat, strings.NewReplacer("<S>", "", "<W>", "true").Replace(beat)),
		fields("members", false, protocol.GetConsumerListByGroup, "", "consumerGroup", "<G>"),
		fields("connections", false, protocol.GetConsumerConnectionList, "", "consumerGroup", "<G>"),
		pullOf("pull by heartbeat", byHeartbeat),
		pullOf("pull by heartbeat, newer version", func(h *protocol.PullMessageRequest) { byHeartbeat(h); h.SubVersion = 101 }),
		pullOf("pull by heartbeat, another topic", func(h *protocol.PullMessageRequest) { byHeartbeat(h); h.Topic = protocol.AutoCreateTopic }),
		fields("unregister, unknown", false, protocol.UnregisterClient, "", "clientID", "zz", "consumerGroup", "<N>", "producerGroup", "<N>"),
		fields("unregister", false, protocol.UnregisterClient, "", "clientID", "c1", "consumerGroup", "<G>"),
		fields("members, all gone", false, protocol.GetConsumerListByGroup, "", "consumerGroup", "<G>"),
		body("check, broken", protocol.CheckClientConfig, "{"),
		body("check, tag", protocol.CheckClientConfig, `{"clientId":"c","group":"g","subscriptionData":{"topic":"T","subString":"a","expressionType":"TAG"}}`),
		body("check, SQL", protocol.CheckClientConfig, `{"clientId":"c","group":"g","subscriptionData":{"topic":"T","subString":"a = 1","expressionType":"SQL92"}}`),
		body("check, broken SQL", protocol.CheckClientConfig, `{"clientId":"c","group":"g","subscriptionData":{"topic":"T","subString":"a = ","expressionType":"SQL92"}}`),
		body("lock, broken", protocol.LockBatchMQ, "{"),
		body("lock, nothing", protocol.LockBatchMQ, "{}"),
		body("lock", protocol.LockBatchMQ, `{"consumerGroup":"<N>","clientId":"c1","mqSet":[{"topic":"<N>","brokerName":"nowhere","queueId":-3}]}`),
		body("lock, held by another", protocol.LockBatchMQ, `{"consumerGroup":"<N>","clientId":"c2","mqSet":[{"topic":"<N>","brokerName":"nowhere","queueId":-3}]}`),
		body("unlock, nothing", protocol.UnlockBatchMQ, "{}"),
		body("unlock", protocol.UnlockBatchMQ, `{"consumerGroup":"<N>","clientId":"c1","mqSet":[{"topic":"<N>","brokerName":"nowhere","queueId":-3}]}`),
		body("group, broken", protocol.UpdateAndCreateSubscriptionGroup, "{"),
		body("group, no name", protocol.UpdateAndCreateSubscriptionGroup, "{}"),
		body("group, bad name", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"a b"}`),
		body("group, long name", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"`+strings.Repeat("g", 121)+`"}`),
		body("group", protocol.UpdateAndCreateSubscriptionGroup, `{"groupName":"<N>2"}`),
		fields("delete unknown group", false, protocol.DeleteSubscriptionGroup, "", "groupName", "<N>3"),
	}
}

// sendBack returns the first message of T, with or without the name of its topic.
func sendBack(name string, level, most int32, origin bool) question {
	return to(name, func(x *target) protocol.RequestHeader {
		resp := x.call(x.addr, protocol.NewRequest(pullRequest("probe", x.topic, 0, 0, "*"), nil))
		list, err := protocol.DecodeMessages(resp.Body, protocol.DecodeOptions{})
		if err != nil || len(list) == 0 {
			x.t.Fatalf("no message to send back: %v", err)
		}
		h := &protocol.ConsumerSendMsgBackRequest{Offset: list[0].CommitLogOffset, Group: x.group, DelayLevel: level, MaxReconsumeTimes: &most}
		if origin {
			h.OriginTopic = x.topic
		}
		return h
	})
}

// sendRetry sends to the retry topic, as a client does when its send-back failed.
func sendRetry(name string, tries, most int32) question {
	return question{name: name, ask: func(x *target) *protocol.Command {
		h, b := message(protocol.RetryTopic(x.group), 0, name, "DELAY", "1", "RETRY_TOPIC", "elsewhere", "TAGS", "t")
		h.J, h.L = tries, &most
		return x.call(x.addr, protocol.NewRequest(h, b))
	}}
}

func retryQuestions() []question {
	return []question{
		sendBack("send back, level 1", 1, 16, false),
		sendBack("send back, to the dead letters", -1, 16, true),
		sendBack("send back, to the dead letters, no origin", -1, 16, false),
		sendBack("send back, tries used up", 0, 0, true),
		fields("send back, far offset", false, protocol.ConsumerSendMsgBack, "", "offset", "35184372088832", "group", "<G>", "delayLevel", "0"),
		fields("send back, negative offset", false, protocol.ConsumerSendMsgBack, "", "offset", "-1", "group", "<G>", "delayLevel", "0"),
		loosely(sendRetry("retry", 1, 3)),
		sendRetry("retry, tries used up", 4, 3),
		pause(4 * time.Second),
	}
}

// sendHalf sends a half message; endHalf tells the outcome of the latest.
func sendHalf(name string, properties ...string) question {
	return question{name: name, loose: true, ask: func(x *target) *protocol.Command {
		h, b := message(x.topic, 1, name, append([]string{"TRAN_MSG", "true", "PGROUP", "PG"}, properties...)...)
		h.F = protocol.FlagTransPrepared
		resp := x.call(x.addr, protocol.NewRequest(h, b))
		if err := resp.DecodeHeader(&x.half); err != nil {
			x.t.Fatal(err)
		}
		return resp
	}}
}

func endHalf(name, group string, how protocol.SysFlag) question {
	return to(name, func(x *target) protocol.RequestHeader {
		_, offset, err := protocol.DecodeOffsetID(x.half.MsgID)
		if err != nil {
			x.t.Fatal(err)
		}
		return &protocol.EndTransactionRequest{
			ProducerGroup: group, TranStateTableOffset: x.half.QueueOffset, CommitLogOffset: offset, CommitOrRollback: how, MsgID: x.half.TransactionID,
		}
	})
}

func transactionQuestions() []question {
	return []question{
		sendHalf("half, committed", "TAGS", "t"),
		endHalf("commit by another group", "other", protocol.FlagTransCommit),
		endHalf("commit half", "PG", protocol.FlagTransCommit),
		sendHalf("half, rolled back"),
		endHalf("roll back", "PG", protocol.FlagTransRollback),
		fields("commit, far offset", false, protocol.EndTransaction, "", "producerGroup", "PG", "tranStateTableOffset", "0", "commitLogOffset", "35184372088832",
			"commitOrRollback", "8", "fromTransactionCheck", "false", "msgId", "x"),
		pause(4 * time.Second),
	}
}

// stored shows everything a queue has got from the questions before.
func stored(name, topic string, queue int32) question {
	return pullOf(name, func(h *protocol.PullMessageRequest) {
		if topic != "" {
			h.Topic = topic + h.ConsumerGroup
		}
		h.ConsumerGroup, h.QueueID = "probe", queue
	})
}

func storedQuestions() []question {
	return []question{
		stored("stored in queue 0", "", 0), stored("stored in queue 1", "", 1), stored("stored in queue 2", "", 2),
		stored("stored in the retry topic", protocol.RetryTopicPrefix, 0), stored("stored as dead letters", protocol.DLQTopicPrefix, 0),
		fields("route of the retry topic", true, protocol.GetRouteInfoByTopic, "", "topic", "%RETRY%<G>"),
		fields("route of the dead letters", true, protocol.GetRouteInfoByTopic, "", "topic", "%DLQ%<G>"),
	}
}

func deleteQuestions() []question {
	return []question{
		fields("delete system topic", false, protocol.DeleteTopicInBroker, "", "topic", protocol.AutoCreateTopic),
		fields("delete without a name", false, protocol.DeleteTopicInBroker, ""),
		fields("delete unknown topic", false, protocol.DeleteTopicInBroker, "", "topic", "<N>"),
		fields("delete topic", false, protocol.DeleteTopicInBroker, "", "topic", "<T>"),
		fields("stats of the deleted topic", false, protocol.GetTopicStatsInfo, "", "topic", "<T>"),
		fields("unknown request", false, 9999, ""),
	}
}
