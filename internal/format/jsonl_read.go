package format

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"mqctl/internal/protocol"
)

// envelope is what Reader uses of a JSON line; other fields describe the message's past and are passed over.
type envelope struct {
	Topic            string    `json:"topic"`
	Tags             *string   `json:"tags"`
	Keys             *string   `json:"keys"`
	Flag             int32     `json:"flag"`
	Properties       jsonPairs `json:"properties"`
	PropertiesBase64 jsonPairs `json:"properties_base64"`
	Body             *string   `json:"body"`
	BodyEncoding     *string   `json:"body_encoding"`
	BodyError        *string   `json:"body_error"`
}

// jsonPairs is an object of strings in its order. Numbers and booleans are taken as they are written.
type jsonPairs []pair

// UnmarshalJSON reads an object or null.
func (p *jsonPairs) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return err
	}
	if first == nil {
		return nil
	}
	if first != json.Delim('{') {
		return errors.New("properties must be an object of strings")
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		value, err := d.Token()
		if err != nil {
			return err
		}
		text := ""
		switch v := value.(type) {
		case nil:
			continue
		case string:
			text = v
		case json.Number, bool:
			text = fmt.Sprint(v)
		default:
			return fmt.Errorf("property %q is not a string", name)
		}
		*p = append(*p, pair{name.(string), text})
	}
	return nil
}

// nextJSON reads one line; blank lines are passed over.
func (rd *Reader) nextJSON() (*protocol.Message, error) {
	for {
		line, err := rd.line()
		if err != nil {
			return nil, err
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return rd.decodeJSON(line)
		}
		rd.count++
	}
}

func (rd *Reader) decodeJSON(line []byte) (*protocol.Message, error) {
	if line[0] != '{' {
		return nil, rd.fail("not a JSON object: it begins with %q", line[0])
	}
	var e envelope
	if err := json.Unmarshal(line, &e); err != nil {
		return nil, rd.fail("%s", jsonReason(err))
	}
	switch {
	case e.BodyError != nil:
		return nil, rd.fail("its body could not be unpacked when it was read (%s), so sending it would change it; remove body_error to send the stored bytes", *e.BodyError)
	case e.Body == nil:
		return nil, rd.fail(`no body; an empty one is "body":""`)
	}
	m := &protocol.Message{Topic: e.Topic, Flag: e.Flag, Body: []byte(*e.Body)}
	if e.BodyEncoding != nil && *e.BodyEncoding != "" && *e.BodyEncoding != "utf8" {
		if *e.BodyEncoding != encodingBase64 {
			return nil, rd.fail("body_encoding %q; known are utf8 and base64", *e.BodyEncoding)
		}
		body, err := base64.StdEncoding.DecodeString(*e.Body)
		if err != nil {
			return nil, rd.fail("body is not base64: %v", err)
		}
		m.Body = body
	}
	if err := e.setProperties(m); err != nil {
		return nil, rd.fail("%v", err)
	}
	return m, nil
}

// jsonReason shortens what encoding/json says.
func jsonReason(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return fmt.Sprintf("field %q: a JSON %s is not what belongs there", wrong.Field, wrong.Value)
	}
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return "not valid JSON: " + err.Error()
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

// setProperties gives m what a user may set; see Reserved.
func (e *envelope) setProperties(m *protocol.Message) error {
	for _, p := range e.Properties {
		if !Reserved(p.name) {
			m.Properties.Set(p.name, p.value)
		}
	}
	if e.Tags != nil && *e.Tags != "" {
		m.Properties.Set(protocol.PropertyTags, *e.Tags)
	}
	if e.Keys != nil && *e.Keys != "" {
		m.Properties.Set(protocol.PropertyKeys, *e.Keys)
	}
	for _, p := range e.PropertiesBase64 {
		name := p.name
		if text, ok := strings.CutPrefix(name, encodedName); ok {
			b, err := base64.StdEncoding.DecodeString(text)
			if err != nil {
				return fmt.Errorf("properties_base64: the name %q is not base64: %w", text, err)
			}
			name = string(b)
		}
		value, err := base64.StdEncoding.DecodeString(p.value)
		if err != nil {
			return fmt.Errorf("properties_base64: the value of %q is not base64: %w", name, err)
		}
		if !Reserved(name) {
			m.Properties.Set(name, string(value))
		}
	}
	return nil
}
