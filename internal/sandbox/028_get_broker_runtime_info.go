package sandbox

import (
	"strconv"

	"mqctl/internal/protocol"
)

// GET_BROKER_RUNTIME_INFO (28): figures by name, all as text. Rates of a sandbox are not measured and stand at zero.
func handleGetBrokerRuntimeInfo(r *request) *protocol.Command {
	b := r.broker
	now := b.sandbox.now()
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	up := now.Sub(b.booted)
	table := protocol.KVTable{Table: map[string]string{
		"brokerVersionDesc":                     protocol.MQVersion(b.sandbox.opt.Version).String(),
		"brokerVersion":                         number(int64(b.sandbox.opt.Version)),
		"bootTimestamp":                         number(b.booted.UnixMilli()),
		"runtime":                               "[ " + number(int64(up.Hours()/24)) + " days, " + up.Truncate(1e9).String() + " ]",
		"brokerRole":                            b.role(),
		"brokerActive":                          "true",
		"putTps":                                "0.0 0.0 0.0",
		"getTransferredTps":                     "0.0 0.0 0.0",
		"getTotalTps":                           "0.0 0.0 0.0",
		"getFoundTps":                           "0.0 0.0 0.0",
		"getMissTps":                            "0.0 0.0 0.0",
		"msgPutTotalTodayNow":                   number(b.stored),
		"msgPutTotalTodayMorning":               "0",
		"msgPutTotalYesterdayMorning":           "0",
		"msgGetTotalTodayNow":                   number(b.served),
		"msgGetTotalTodayMorning":               "0",
		"msgGetTotalYesterdayMorning":           "0",
		"putMessageTimesTotal":                  number(b.stored),
		"commitLogMinOffset":                    number(b.log.minOffset()),
		"commitLogMaxOffset":                    number(b.log.maxOffset()),
		"commitLogDiskRatio":                    ratio(b.memory(), b.log.limit),
		"consumeQueueDiskRatio":                 "0.0",
		"putMessageDistributeTime":              "",
		"putMessageEntireTimeMax":               "0",
		"sendThreadPoolQueueSize":               "0",
		"pullThreadPoolQueueSize":               "0",
		"queryThreadPoolQueueSize":              "0",
		"sendThreadPoolQueueCapacity":           "10000",
		"pullThreadPoolQueueCapacity":           "100000",
		"sendThreadPoolQueueHeadWaitTimeMills":  "0",
		"pullThreadPoolQueueHeadWaitTimeMills":  "0",
		"queryThreadPoolQueueHeadWaitTimeMills": "0",
		"pageCacheLockTimeMills":                "0",
		"earliestMessageTimeStamp":              number(b.earliest()),
		"startAcceptSendRequestTimeStamp":       "0",
		"dispatchBehindBytes":                   "0",
		"remainHowManyDataToFlush":              "0 B",
		"remainTransientStoreBufferNumbs":       "0",
		"timerReadBehind":                       "0",
		"timerOffsetBehind":                     "0",
		"timerCongestNum":                       "0",
		"timerEnqueueTps":                       "0.0",
		"timerDequeueTps":                       "0.0",
	}}
	return r.ok(nil, table.Encode())
}

func ratio(part, whole int64) string {
	return strconv.FormatFloat(float64(part)/float64(max(whole, 1)), 'f', 4, 64)
}

// earliest is the store time of the oldest message in ms, -1 without any.
func (b *broker) earliest() int64 {
	if m := b.message(b.log.minOffset()); m != nil {
		return m.StoreTimestamp
	}
	return -1
}
