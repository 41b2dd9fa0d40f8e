package remoting

import (
	"bytes"
	"regexp"
	"strings"

	"mqctl/internal/protocol"
)

// unknownRequest stands for the request of an answer that cannot be matched with one.
const unknownRequest protocol.RequestCode = -1

// redactedText stands where a secret was.
const redactedText = "****"

// secretFields are the ext fields that carry secrets, in lower case: those of signed requests, and those of user and ACL
// management, Java's SessionCredentials, UpdateUserRequest and AccessConfig headers.
var secretFields = map[string]bool{
	"accesskey": true, "signature": true, "securitytoken": true, "secretkey": true, "password": true,
}

// secretBodies are the requests whose own or whose answer's body may hold secrets: users, and configurations with the
// credentials of brokers among themselves.
var secretBodies = map[protocol.RequestCode]bool{
	protocol.AuthCreateUser: true, protocol.AuthUpdateUser: true, protocol.AuthGetUser: true, protocol.AuthListUser: true,
	protocol.GetBrokerConfig: true, protocol.UpdateBrokerConfig: true,
	protocol.GetNamesrvConfig: true, protocol.UpdateNamesrvConfig: true,
	unknownRequest: true,
}

// secretsInBody find "password":"…" and its kind; group 1 is what stays. JSON that is a value of a properties text has its
// quotes escaped once more: there, and in plain name=value lines, everything to the end of the line goes.
var secretsInBody = []*regexp.Regexp{
	regexp.MustCompile(`(?i)((?:password|secretkey|accesskey|securitytoken)"\s*:\s*")(?:[^"\\]|\\.)*`),
	regexp.MustCompile(`(?i)((?:password|secretkey|accesskey|securitytoken)(?:\\+"\s*:|\s*=))[^\r\n]*`),
}

// redactFrame is frame without the secrets of the request with that code or of its answer. A frame that holds none comes
// back as it is; one that cannot be decoded has an unknown content and loses all of it.
func redactFrame(frame []byte, code protocol.RequestCode) []byte {
	cmd, err := protocol.DecodeFrame(frame)
	if err != nil {
		return frame[:min(len(frame), protocol.FramePrefixSize)]
	}
	changed := false
	for i := range cmd.Ext {
		if f := &cmd.Ext[i]; secretFields[strings.ToLower(f.Key)] && f.Value != "" {
			f.Value, changed = redactedText, true
		}
	}
	if secretBodies[code] {
		body := cmd.Body
		for _, secret := range secretsInBody {
			body = secret.ReplaceAll(body, []byte("${1}"+redactedText))
		}
		changed = changed || !bytes.Equal(body, cmd.Body)
		cmd.Body = body
	}
	if !changed {
		return frame
	}
	redacted, err := protocol.AppendFrame(nil, cmd)
	if err != nil { // a field name that we would not write
		return frame[:protocol.FramePrefixSize]
	}
	return redacted
}
