package sandbox

import "mqctl/internal/protocol"

// maxSettings bounds the name server's key-value store: keys of one namespace, and namespaces.
const maxSettings = 10_000

// PUT_KV_CONFIG (100): store a setting, such as the queues of an ordered topic.
func handlePutKVConfig(r *request) *protocol.Command {
	namespace, key, value := r.ext("namespace"), r.ext("key"), r.ext("value")
	if namespace == "" || key == "" {
		return r.fail(protocol.CodeSystemError, "namespace or key is null")
	}
	settings := r.sandbox.names.settings
	if settings[namespace] == nil {
		if len(settings) >= maxSettings {
			return r.fail(protocol.CodeSystemError, "too many namespaces")
		}
		settings[namespace] = map[string]string{}
	}
	if len(settings[namespace]) >= maxSettings {
		return r.fail(protocol.CodeSystemError, "too many keys in namespace "+namespace)
	}
	settings[namespace][key] = value
	return r.ok(nil, nil)
}
