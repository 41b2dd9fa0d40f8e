package sandbox

import "mqctl/internal/protocol"

// DELETE_KV_CONFIG (102): forget a setting; an absent one is a success.
func handleDeleteKVConfig(r *request) *protocol.Command {
	delete(r.sandbox.names.settings[r.ext("namespace")], r.ext("key"))
	return r.ok(nil, nil)
}
