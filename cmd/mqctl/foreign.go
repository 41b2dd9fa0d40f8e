package main

import "slices"

// foreignFlags are letters that mqadmin, kcat, kaf or rpk use for something that mqctl spells otherwise.
var foreignFlags = map[string]string{
	"-b":             "brokers are found through the name servers: -n HOST:PORT",
	"-i":             "a queue is -q BROKER/Q",
	"-p":             "a queue is -q BROKER/Q; -p sets a property in produce",
	"-C":             "reading is mqctl consume TOPIC",
	"-P":             "sending is mqctl produce TOPIC",
	"-L":             "listing is mqctl topic ls",
	"-Q":             "offsets of a time are mqctl consume TOPIC --from @TIME",
	"-G":             "a group is -g GROUP, its topics are arguments: mqctl consume TOPIC -g GROUP",
	"-J":             "JSON lines are -o jsonl",
	"-D":             "delimiters are part of the input format: --in '%v;'",
	"-K":             `keys are part of the format: --in '%k:%v\n' or -f '%k:%v\n'`,
	"-H":             "a property is -p NAME=VALUE",
	"-l":             "a file is an argument, @FILE, or standard input",
	"-s":             "a start is --from, such as --from @-1h; a tag expression is --tag",
	"-u":             "quiet is --quiet",
	"-z":             "compression is --compress zlib|lz4|zstd",
	"-Z":             "an empty body is an empty line",
	"-T":             "send results are printed on standard output; see -o",
	"-d":             "bodies are printed as they are; see -f and -o",
	"-c":             "a count is -c of consume and produce; a cluster is --cluster",
	"-r":             "queues are --queues",
	"-w":             "queues are --queues",
	"--offset":       "the position is --from",
	"--num":          "a count is -c",
	"--brokers":      "name servers are -n HOST:PORT",
	"--headers":      "a property is -p NAME=VALUE",
	"--header":       "a property is -p NAME=VALUE",
	"--partition":    "a queue is -q BROKER/Q",
	"--partitions":   "queues are --queues (topic create) or -q BROKER/Q (consume)",
	"--tail":         "the last N of each queue are --from end-N",
	"--since":        "a start is --from, such as --from @-1h",
	"--follow":       "consume follows by itself; -e ends at the end",
	"--json":         "JSON is -o json or -o jsonl",
	"--format":       "the output format is -o, a message format -f",
	"--namesrv-addr": "name servers are -n HOST:PORT",
}

// foreignFlag is what a flag of another tool is called here, "" when it is not known.
func foreignFlag(path []string, typed string) string {
	if slices.Contains(path, "produce") && typed == "-b" {
		return "the body is an argument: mqctl produce TOPIC BODY, @FILE or - for standard input"
	}
	return foreignFlags[typed]
}

// foreignCommands are names that other tools have for what mqctl calls otherwise.
var foreignCommands = map[string]string{
	"sendMessage": "mqctl produce TOPIC BODY", "consumeMessage": "mqctl consume TOPIC", "printMsg": "mqctl consume TOPIC -e",
	"topicList": "mqctl topic ls", "topicRoute": "mqctl topic route TOPIC", "topicStatus": "mqctl offset topic TOPIC",
	"updateTopic": "mqctl topic create TOPIC", "consumerProgress": "mqctl offset lag GROUP",
	"sub": "mqctl consume TOPIC", "pub": "mqctl produce TOPIC", "send": "mqctl produce TOPIC", "read": "mqctl consume TOPIC",
	"list": "mqctl topic ls", "tail": "mqctl consume TOPIC", "subscribe": "mqctl consume TOPIC", "publish": "mqctl produce TOPIC",
}

// foreignCommand is how mqctl calls a command of another tool.
func foreignCommand(path []string, word string) string {
	if hint, ok := foreignCommands[word]; ok && len(path) == 0 {
		return "here it is " + hint
	}
	return ""
}
