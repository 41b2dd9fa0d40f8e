package sandbox

import "mqctl/internal/protocol"

// SEND_MESSAGE (10): one message, the header's fields under their full names. client-go sends single messages so.
func handleSendMessage(r *request) *protocol.Command { return r.send() }
