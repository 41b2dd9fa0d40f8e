package sandbox

import "mqctl/internal/protocol"

// Releases at which an answer changes, besides those in package protocol.
const (
	version513 protocol.MQVersion = 439 // heartbeat V2
	version514 protocol.MQVersion = 441 // boundaryType
	version520 protocol.MQVersion = 453 // brokers reset offsets by themselves
	version532 protocol.MQVersion = 477 // INVALID_PARAMETER
)

// requestsSince are requests that older releases do not know.
var requestsSince = map[protocol.RequestCode]protocol.MQVersion{
	protocol.LitePullMessage: protocol.Version500,
	protocol.GetTopicConfig:  protocol.Version500,
}

// since reports whether the sandbox is of a release or a later one.
func (s *Sandbox) since(v protocol.MQVersion) bool { return protocol.MQVersion(s.opt.Version) >= v }

// speaks reports whether the sandbox's release knows a request.
func (s *Sandbox) speaks(code protocol.RequestCode) bool { return s.since(requestsSince[code]) }

// invalid is the code for bad names and numbers: releases before 5.3.2 had none of their own.
func (s *Sandbox) invalid() protocol.ResponseCode {
	if s.since(version532) {
		return protocol.CodeInvalidParameter
	}
	return protocol.CodeSystemError
}
