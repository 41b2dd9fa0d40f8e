package sandbox

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"mqctl/internal/protocol"
)

// ErrFaultText is wrapped by ParseFault with what is wrong with a fault's text.
var ErrFaultText = errors.New("bad fault")

// faultAliases are short names for what one thinks of as one request.
var faultAliases = map[string][]protocol.RequestCode{
	"*":             {AllRequests},
	"send":          {protocol.SendMessage, protocol.SendMessageV2, protocol.SendBatchMessage},
	"pull":          {protocol.PullMessage, protocol.LitePullMessage},
	"commit":        {protocol.UpdateConsumerOffset},
	"query-offset":  {protocol.QueryConsumerOffset},
	"heartbeat":     {protocol.HeartBeat},
	"unregister":    {protocol.UnregisterClient},
	"members":       {protocol.GetConsumerListByGroup},
	"lock":          {protocol.LockBatchMQ},
	"unlock":        {protocol.UnlockBatchMQ},
	"send-back":     {protocol.ConsumerSendMsgBack},
	"search-offset": {protocol.SearchOffsetByTimestamp},
	"max-offset":    {protocol.GetMaxOffset},
	"min-offset":    {protocol.GetMinOffset},
	"query":         {protocol.QueryMessage},
	"view":          {protocol.ViewMessageByID},
	"route":         {protocol.GetRouteInfoByTopic},
	"cluster":       {protocol.GetBrokerClusterInfo},
	"topics":        {protocol.GetAllTopicListFromNameServer},
	"end-tx":        {protocol.EndTransaction},
}

// Fault is a fault in words: which requests, and what happens to them.
type Fault struct {
	Codes       []protocol.RequestCode // AllRequests stands for all
	Probability float64                // of acting on a request, 0 stands for 1
	Times       int                    // requests to act on before it ends, 0 for no limit
	Broker      string                 // acts at this broker only; "" for everywhere
	Topic       string                 // acts on requests about this topic only; "" for all
	Group       string                 // acts on requests of this group only; "" for all
	Delay       time.Duration          // the answer comes late
	Wait        time.Duration          // handling begins late
	Error       protocol.ResponseCode  // answer with this code, 0 for none
	Remark      string                 // of Error
	Drop        bool                   // lose the request
	Lose        bool                   // lose the answer
	Close       bool                   // cut the connection
	BadFrame    bool                   // answer with garbage
}

// ParseFault reads "REQUEST:ACTION[,…]", such as "pull:delay=300ms", "send:error=2", "pull:p=0.1,drop" or
// "query-offset:error=1,times=3". REQUEST is an alias (pull, send, commit, …), a Java constant, a number, or * for all.
// The actions: delay=D, wait=D, error=CODE, remark=TEXT, drop, lose, close, badframe; what narrows them: p=0.1, times=N,
// broker=NAME, topic=NAME, group=NAME.
func ParseFault(text string) (Fault, error) {
	name, rest, ok := strings.Cut(text, ":")
	if !ok || rest == "" {
		return Fault{}, fmt.Errorf("%w %q: want REQUEST:ACTION, such as pull:delay=300ms", ErrFaultText, text)
	}
	codes, err := faultCodes(strings.TrimSpace(name))
	if err != nil {
		return Fault{}, fmt.Errorf("%w %q: %w", ErrFaultText, text, err)
	}
	f := Fault{Codes: codes}
	for part := range strings.SplitSeq(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if err := f.set(key, value); err != nil {
			return Fault{}, fmt.Errorf("%w %q: %w", ErrFaultText, text, err)
		}
	}
	if !f.acts() {
		return Fault{}, fmt.Errorf("%w %q: no action; one of delay, wait, error, drop, lose, close, badframe", ErrFaultText, text)
	}
	return f, nil
}

func faultCodes(name string) ([]protocol.RequestCode, error) {
	if codes := faultAliases[strings.ToLower(name)]; codes != nil {
		return codes, nil
	}
	if n, err := strconv.ParseInt(name, 10, 32); err == nil && n >= 0 {
		return []protocol.RequestCode{protocol.RequestCode(n)}, nil
	}
	for _, r := range protocol.Requests {
		if strings.EqualFold(r.Java, name) {
			return []protocol.RequestCode{r.Code}, nil
		}
	}
	return nil, fmt.Errorf("no request %q; a number, a Java constant or one of %s", name,
		strings.Join(slices.Sorted(maps.Keys(faultAliases)), " "))
}

func (f *Fault) set(key, value string) (err error) {
	switch key {
	case "delay":
		f.Delay, err = positiveDuration(value)
	case "wait":
		f.Wait, err = positiveDuration(value)
	case "error":
		f.Error, err = errorCode(value)
	case "times":
		if f.Times, err = strconv.Atoi(value); err == nil && f.Times < 1 {
			err = fmt.Errorf("times=%s: want 1 or more", value)
		}
	case "p":
		if f.Probability, err = strconv.ParseFloat(value, 64); err == nil && !(f.Probability > 0 && f.Probability <= 1) {
			err = fmt.Errorf("p=%s: want more than 0 and at most 1", value)
		}
	case "remark":
		f.Remark = value
	case "broker":
		f.Broker = value
	case "topic":
		f.Topic = value
	case "group":
		f.Group = value
	default:
		return f.setFlag(key, value)
	}
	return err
}

func (f *Fault) setFlag(key, value string) error {
	flag := map[string]*bool{"drop": &f.Drop, "lose": &f.Lose, "close": &f.Close, "badframe": &f.BadFrame}[key]
	switch {
	case flag == nil:
		return fmt.Errorf("no action %q", key)
	case value != "":
		return fmt.Errorf("%s takes no value", key)
	}
	*flag = true
	return nil
}

func positiveDuration(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d <= 0 {
		err = fmt.Errorf("duration %q: want more than 0", text)
	}
	return d, err
}

// errorCode reads a response code by number or Java constant.
func errorCode(text string) (protocol.ResponseCode, error) {
	if n, err := strconv.ParseInt(text, 10, 16); err == nil {
		if n < 1 {
			return 0, fmt.Errorf("error=%s: want 1 or more", text)
		}
		return protocol.ResponseCode(n), nil
	}
	for n := protocol.ResponseCode(1); n < 4000; n++ {
		if strings.EqualFold(n.String(), text) {
			return n, nil
		}
	}
	return 0, fmt.Errorf("no response code %q", text)
}

func (f *Fault) acts() bool {
	return f.Delay > 0 || f.Wait > 0 || f.Error != 0 || f.Drop || f.Lose || f.Close || f.BadFrame
}

// Inject registers f. remove ends it.
func (s *Sandbox) Inject(f Fault) (remove func()) {
	left := f.Times
	var removes []func()
	for _, code := range f.Codes {
		removes = append(removes, s.On(code, func(c *Control) {
			// The codes of one fault share its count; all run on one goroutine.
			if f.Times > 0 && left == 0 || !f.matches(c) || f.Probability > 0 && s.random.Float64() >= f.Probability {
				return
			}
			left--
			f.act(c)
		}))
	}
	return func() {
		for _, remove := range removes {
			remove()
		}
	}
}

func (f *Fault) matches(c *Control) bool {
	return (f.Broker == "" || f.Broker == c.Broker) &&
		(f.Topic == "" || anyExt(c.Request, f.Topic, "topic", "b", "originTopic")) &&
		(f.Group == "" || anyExt(c.Request, f.Group, "consumerGroup", "group", "producerGroup", "a"))
}

func anyExt(cmd *protocol.Command, want string, names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		v, ok := cmd.Ext.Get(name)
		return ok && v == want
	})
}

func (f *Fault) act(c *Control) {
	if f.Wait > 0 {
		c.Wait(f.Wait)
	}
	if f.Delay > 0 {
		c.Delay(f.Delay)
	}
	switch {
	case f.Close:
		c.Close()
	case f.Drop:
		c.Drop()
	case f.BadFrame:
		c.BadFrame()
	case f.Error != 0:
		c.Reply(f.Error, orDefault(f.Remark, "fault injected: "+f.Error.String()))
	case f.Lose:
		c.DropAnswer()
	}
}
