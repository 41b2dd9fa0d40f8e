package sandbox

import "mqctl/internal/protocol"

// GET_KV_CONFIG (101): one setting, QUERY_NOT_FOUND without it.
func handleGetKVConfig(r *request) *protocol.Command {
	namespace, key := r.ext("namespace"), r.ext("key")
	value, ok := r.sandbox.names.settings[namespace][key]
	if !ok {
		return r.failf(protocol.CodeQueryNotFound, "No config item, Namespace: %s Key: %s", namespace, key)
	}
	resp := r.ok(nil, nil)
	resp.Ext = protocol.ExtFields{{Key: "value", Value: value}}
	return resp
}
