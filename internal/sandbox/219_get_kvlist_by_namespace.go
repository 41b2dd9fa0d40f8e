package sandbox

import "mqctl/internal/protocol"

// GET_KVLIST_BY_NAMESPACE (219): all settings of a namespace, QUERY_NOT_FOUND for an unknown one.
func handleGetKVListByNamespace(r *request) *protocol.Command {
	namespace := r.ext("namespace")
	table, ok := r.sandbox.names.settings[namespace]
	if !ok {
		return r.failf(protocol.CodeQueryNotFound, "No config item, Namespace: %s", namespace)
	}
	body := protocol.KVTable{Table: table}
	return r.ok(nil, body.Encode())
}
