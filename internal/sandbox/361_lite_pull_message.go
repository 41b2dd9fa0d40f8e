package sandbox

import "mqctl/internal/protocol"

// LITE_PULL_MESSAGE (361): PULL_MESSAGE under another number, since 5.0.0.
func handleLitePullMessage(r *request) *protocol.Command { return handlePullMessage(r) }
