package sandbox

import "mqctl/internal/protocol"

// SEND_MESSAGE_V2 (310): one message, the header's fields under one letter each. Java's client sends everything so.
func handleSendMessageV2(r *request) *protocol.Command { return r.send() }
