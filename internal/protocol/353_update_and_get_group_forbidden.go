package protocol

// UPDATE_AND_GET_GROUP_FORBIDDEN (353): forbid a group to read a topic, or look whether it may, Java's
// UpdateGroupForbiddenRequestHeader. Since 5.0.0; refuses only pulls that rely on the heartbeat's subscription.

// UpdateAndGetGroupForbiddenRequest is the header of UPDATE_AND_GET_GROUP_FORBIDDEN.
type UpdateAndGetGroupForbiddenRequest struct {
	Group    string `ext:"group,required"`
	Topic    string `ext:"topic,required"`
	Readable *bool  `ext:"readable"` // nil only reads
}

// RequestCode is UpdateAndGetGroupForbidden.
func (*UpdateAndGetGroupForbiddenRequest) RequestCode() RequestCode {
	return UpdateAndGetGroupForbidden
}

// GroupForbidden is the body of the answer, Java's GroupForbidden.
type GroupForbidden struct {
	Group    string `json:"group"`
	Readable bool   `json:"readable"`
	Topic    string `json:"topic"`
}

var groupForbiddenBody = newBody[GroupForbidden]("group permission")

// DecodeGroupForbidden reads the body.
func DecodeGroupForbidden(b []byte) (*GroupForbidden, error) { return groupForbiddenBody.decode(b) }

// Encode is the body as Java reads it.
func (g *GroupForbidden) Encode() []byte { return groupForbiddenBody.encode(g) }
