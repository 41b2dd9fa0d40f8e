package protocol

// DELETE_SUBSCRIPTIONGROUP (207): remove a consumer group from one broker, Java's
// DeleteSubscriptionGroupRequestHeader. An absent group is a success.

// DeleteSubscriptionGroupRequest is the header of DELETE_SUBSCRIPTIONGROUP.
type DeleteSubscriptionGroupRequest struct {
	GroupName   string `ext:"groupName,required"`
	CleanOffset bool   `ext:"cleanOffset,omitempty"` // also forget the group's offsets
}

// RequestCode is DeleteSubscriptionGroup.
func (*DeleteSubscriptionGroupRequest) RequestCode() RequestCode { return DeleteSubscriptionGroup }
