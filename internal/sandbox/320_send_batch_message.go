package sandbox

import "mqctl/internal/protocol"

// SEND_BATCH_MESSAGE (320): several messages for one queue in one body.
func handleSendBatchMessage(r *request) *protocol.Command { return r.send() }
