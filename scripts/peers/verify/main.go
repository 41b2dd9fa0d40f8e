// Verify compares what a driver or mqctl received with what drivers were told was stored: the lines of the drivers' consume,
// or of `mqctl consume -o jsonl`, with those of the drivers' produce. It prints every difference and exits 1 if there is one.
//
//	verify [-anywhere] [-ordered] [-tags A,B] [-seq FROM-TO] RECEIVED SENT...
//
// Messages are the same when broker, queue, offset, sequence number, keys, tags, length and body hash are. -anywhere leaves
// out broker, queue and offset: a committed transaction or a delayed message ends up elsewhere than it was sent to. -ordered
// asks that the offsets of each queue rise. -tags and -seq expect only a part of what was sent.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// line is the part of both kinds of lines that must agree.
type line struct {
	Seq    int    `json:"seq"`
	Broker string `json:"broker"`
	Queue  int    `json:"queue"`
	Offset int64  `json:"offset"`
	Tags   string `json:"tags"`
	Keys   string `json:"keys"`
	Length int    `json:"length"`
	SHA256 string `json:"sha256"`
}

// envelope is what mqctl writes a message as.
type envelope struct {
	Broker     string            `json:"broker"`
	QueueID    int               `json:"queue_id"`
	Offset     int64             `json:"offset"`
	Tags       string            `json:"tags"`
	Keys       string            `json:"keys"`
	Properties map[string]string `json:"properties"`
	Body       *string           `json:"body"`
	Encoding   string            `json:"body_encoding"`
}

func (e envelope) line() (line, error) {
	body := []byte(*e.Body)
	if e.Encoding == "base64" {
		var err error
		if body, err = base64.StdEncoding.DecodeString(*e.Body); err != nil {
			return line{}, err
		}
	}
	seq, err := strconv.Atoi(e.Properties["seq"])
	if err != nil {
		seq = -1
	}
	sum := sha256.Sum256(body)
	return line{
		Seq: seq, Broker: e.Broker, Queue: e.QueueID, Offset: e.Offset, Tags: e.Tags, Keys: e.Keys,
		Length: len(body), SHA256: hex.EncodeToString(sum[:]),
	}, nil
}

func main() {
	anywhere := flag.Bool("anywhere", false, "")
	ordered := flag.Bool("ordered", false, "")
	tags := flag.String("tags", "", "")
	seq := flag.String("seq", "", "")
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: verify [-anywhere] [-ordered] [-tags A,B] [-seq FROM-TO] RECEIVED SENT...")
		os.Exit(2)
	}
	wanted, err := filter(*tags, *seq)
	must(err)
	received, err := read(flag.Arg(0), *anywhere)
	must(err)
	var sent []line
	for _, name := range flag.Args()[1:] {
		lines, err := read(name, *anywhere)
		must(err)
		sent = append(sent, slices.DeleteFunc(lines, func(l line) bool { return !wanted(l) })...)
	}
	problems := differences(sent, received)
	if *ordered {
		problems = append(problems, disorder(received)...)
	}
	if len(sent) == 0 {
		problems = append(problems, "nothing was expected: the comparison says nothing")
	}
	for i, p := range problems {
		if i == 10 {
			fmt.Printf("... and %d more\n", len(problems)-i)
			break
		}
		fmt.Println(p)
	}
	if len(problems) > 0 {
		os.Exit(1)
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "verify:", err)
		os.Exit(1)
	}
}

// filter makes the predicate of -tags and -seq.
func filter(tags, seq string) (func(line) bool, error) {
	from, to := 0, int(^uint(0)>>1)
	if seq != "" {
		if _, err := fmt.Sscanf(seq, "%d-%d", &from, &to); err != nil {
			return nil, fmt.Errorf("-seq %s: %w", seq, err)
		}
	}
	list := strings.Split(tags, ",")
	return func(l line) bool {
		return (tags == "" || slices.Contains(list, l.Tags)) && l.Seq >= from && l.Seq <= to
	}, nil
}

func read(name string, anywhere bool) ([]line, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []line
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 8<<20)
	for sc.Scan() {
		l, err := parse(sc.Bytes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w in %.200q", name, err, sc.Text())
		}
		if anywhere {
			l.Broker, l.Queue, l.Offset = "", 0, 0
		}
		lines = append(lines, l)
	}
	return lines, sc.Err()
}

// parse reads a line of a driver's, or one of mqctl's, which has the body itself.
func parse(b []byte) (line, error) {
	var e envelope
	if err := json.Unmarshal(b, &e); err != nil {
		return line{}, err
	}
	if e.Body != nil {
		return e.line()
	}
	var l line
	err := json.Unmarshal(b, &l)
	return l, err
}

// differences compares as bags: a message that comes twice is a difference, too.
func differences(sent, received []line) []string {
	bag := map[line]int{}
	for _, l := range sent {
		bag[l]++
	}
	for _, l := range received {
		bag[l]--
	}
	var out []string
	for l, n := range bag {
		switch {
		case n > 0:
			out = append(out, fmt.Sprintf("sent, not received: %+v", l))
		case n < 0:
			out = append(out, fmt.Sprintf("received, not sent (or twice): %+v", l))
		}
	}
	slices.Sort(out)
	return out
}

func disorder(received []line) []string {
	var out []string
	last := map[string]int64{}
	for _, l := range received {
		q := fmt.Sprintf("%s/%d", l.Broker, l.Queue)
		if before, ok := last[q]; ok && l.Offset <= before {
			out = append(out, fmt.Sprintf("%s: offset %d after %d", q, l.Offset, before))
		}
		last[q] = l.Offset
	}
	return out
}
