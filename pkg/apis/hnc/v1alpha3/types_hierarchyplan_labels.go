package v1alpha3

// PlannedLabel is a tree label of a namespace and the effect of the change on it.
type PlannedLabel struct {
	// key is the key of the label.
	Key string `json:"key"`
	// before is the present value. Empty means that the namespace does not have the label.
	// +optional
	Before string `json:"before,omitempty"`
	// after is the value after the change. Empty means that the label would be removed.
	// +optional
	After string `json:"after,omitempty"`
}
