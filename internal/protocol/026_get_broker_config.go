package protocol

import (
	"fmt"
	"strings"
)

// GET_BROKER_CONFIG (26): a broker's settings as text.

// maxBrokerSettings bounds the settings of a broker; 5.5 has about 400.
const maxBrokerSettings = 8192

// GetBrokerConfigResponse is the header of the answer; the request has none.
type GetBrokerConfigResponse struct {
	Version string `ext:"version,omitempty"` // a DataVersion as JSON
}

// DecodeBrokerConfig reads the body, one name=value a line, in the order of the broker. Lines without = are skipped.
func DecodeBrokerConfig(b []byte) (Properties, error) {
	text := string(b)
	n := strings.Count(text, "\n") + 1
	if n > maxBrokerSettings {
		return nil, fmt.Errorf("%w: broker config: %d lines", ErrBadBody, n)
	}
	settings := make(Properties, 0, n)
	for line := range strings.Lines(text) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "=")
		if ok && name != "" {
			settings = append(settings, Property{name, value})
		}
	}
	return settings, nil
}

// EncodeBrokerConfig is the body of that form.
func EncodeBrokerConfig(settings Properties) []byte {
	var b []byte
	for _, s := range settings {
		b = append(b, s.Name...)
		b = append(b, '=')
		b = append(b, s.Value...)
		b = append(b, '\n')
	}
	return b
}
