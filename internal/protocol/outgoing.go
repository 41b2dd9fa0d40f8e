package protocol

// Message is a message to send, Java's Message.
type Message struct {
	Topic      string
	Body       []byte
	Flag       int32 // the user's flag, stored as it is
	Properties Properties
}

// Property is the value of a property, "" when it is absent.
func (m *Message) Property(name string) string {
	v, _ := m.Properties.Get(name)
	return v
}
