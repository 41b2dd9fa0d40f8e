package client

import (
	"errors"
	"testing"

	"mqctl/internal/protocol"
	"mqctl/internal/remoting"
)

func TestFailedCallNamesItsRequestOnce(t *testing.T) {
	const addr = "127.0.0.1:9876"
	for _, c := range []struct {
		err  error
		want string
	}{
		{&remoting.Error{Addr: addr, Op: "PULL_MESSAGE", Err: remoting.ErrTimeout}, "PULL_MESSAGE to 127.0.0.1:9876: no answer within the time limit"},
		{&remoting.Error{Addr: addr, Op: "connect", Err: remoting.ErrDial}, "PULL_MESSAGE: connect to 127.0.0.1:9876: cannot connect"},
		{errors.New("x"), "PULL_MESSAGE: x"},
	} {
		got := nameRequest(protocol.PullMessage, c.err)
		if got.Error() != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
		if !errors.Is(got, c.err) {
			t.Errorf("%v does not wrap its cause", got)
		}
	}
}
