package v1alpha3

// ExceededQuota is a resource of which a move would exceed a HierarchicalResourceQuota.
type ExceededQuota struct {
	// namespace is the namespace of the quota.
	Namespace string `json:"namespace"`
	// name is the name of the quota.
	Name string `json:"name"`
	// resource is the limited resource.
	Resource string `json:"resource"`
	// used is the use below the namespace of the quota before the move, as a quantity.
	Used string `json:"used"`
	// moved is the use that the move adds, as a quantity.
	Moved string `json:"moved"`
	// limit is the limit of the quota, as a quantity.
	Limit string `json:"limit"`
}

// PlannedQuota is a ResourceQuota that would be exceeded.
type PlannedQuota struct {
	// name is the name of the ResourceQuota.
	Name string `json:"name"`
	// resource is the counted resource, such as count/configmaps.
	Resource string `json:"resource"`
	// hard is the limit.
	Hard int64 `json:"hard"`
	// planned is the number of objects after the change.
	Planned int64 `json:"planned"`
}
